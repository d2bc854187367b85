"""A bandwidth beside what one process gets: which ceiling matches, and what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workalike.errors import WorkalikeError
from workalike.study.journal import Finished
from workalike.study.machine_file import Machine, read_machines
from workalike.study.results_page import write_results_page
from workalike.study.share_of_ceiling import possible_of

RATES = {"write": 100.0, "write_cached": 400.0, "read": 200.0, "read_cached": 800.0}


def machine(system: str = "s1", **rates: float) -> dict[str, Any]:
    ceilings = {
        name: {"unit": "B/s", "median": rate, "values": [0.9 * rate, rate, 1.1 * rate]}
        for name, rate in (RATES | rates).items()
    }
    return {"format": "workalike-machine", "version": 1, "system_id": system, "ceilings": ceilings}


def trial(block: int, setting: str, bandwidth: float, *dumps: tuple[int, int, int], **more: Any) -> Finished:
    """A trial with dumps of (bytes written, bytes read, fsyncs)."""
    row = {"block": block, "setting": setting, "arm": "", "counted": True, "bandwidth": bandwidth}
    return Finished(
        row | {"system": "s1"} | more,
        [
            {"bytes_written": w, "bytes_read": r, "fsyncs": s, "start_s": i, "end_s": i + 1, "io_time_s": 1.0}
            for i, (w, r, s) in enumerate(dumps)
        ],
    )


def rates(*trials: Finished, drops_caches: bool = False) -> list[float]:
    machines = [Machine.model_validate(machine())]
    return [float(rate) for rate in possible_of(trials, machines, drops_caches=drops_caches).rate]


def test_the_ceiling_that_matches() -> None:
    """Writes with and without a sync, and reads from memory or, where caches are dropped, from the storage."""
    synced, cached = trial(0, "a", 1, (1000, 0, 4)), trial(0, "b", 1, (1000, 0, 0))
    assert rates(synced, cached) == [100.0, 400.0]
    assert rates(trial(0, "c", 1, (0, 1000, 0))) == [800.0]
    assert rates(trial(0, "c", 1, (0, 1000, 0)), drops_caches=True) == [200.0]


def test_what_a_trial_does_in_part() -> None:
    """1000 bytes with a sync take 10 s, 1000 without 2.5 s, and 1600 read 2 s: 3600 bytes in 14.5 s."""
    assert rates(trial(0, "a", 1, (1000, 0, 1), (1000, 1600, 0))) == [pytest.approx(3600 / 14.5)]


def test_trials_of_another_file_system_have_no_ceiling() -> None:
    assert np.isnan(rates(trial(0, "a", 1, (1000, 0, 1), system="s2"), trial(0, "a", 1))).all()


def test_the_page_says_what_share_is_reached(tmp_path: Path) -> None:
    (tmp_path / "MACHINE.json").write_text(json.dumps(machine()))
    (tmp_path / "manifest.json").write_text(
        json.dumps({"format": "workalike-study", "version": 1, "id": "x", "identity": "y", "created": "z"})
    )
    trials = [trial(block, name, rate, (1000, 0, 1)) for block in range(3) for name, rate in PAIR]
    page = write_results_page(tmp_path, "t", [], trials)
    assert page is not None
    text = page.read_text()
    assert "fast reaches 50 % of what one process gets" in text
    assert "writes with a sync: 100 B/s, from 90 B/s to 110 B/s" in text
    assert "share of<br>the possible" in text and "25 %" in text


PAIR = (("slow", 25.0), ("fast", 50.0))


def test_a_damaged_machine_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "MACHINE.json").write_text(json.dumps(machine() | {"ceilings": {"write": {"unit": "B/s"}}}))
    with pytest.raises(WorkalikeError, match="is not a machine file"):
        read_machines(tmp_path)
    (tmp_path / "MACHINE.json").write_text(json.dumps(machine(write=-1.0)))
    with pytest.raises(WorkalikeError, match="is not a machine file"):
        read_machines(tmp_path)


def test_machine_files_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They do not say which file system they are of, so no trial is compared with them."""
    old = machine()
    del old["system_id"]
    (tmp_path / "MACHINE.json").write_text(json.dumps(old))
    machines = read_machines(tmp_path)
    assert np.isnan(possible_of([trial(0, "a", 1, (1, 0, 1))], machines, drops_caches=False).rate).all()
