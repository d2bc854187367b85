"""Readings that the counters do not tell apart: what was taken, and what fits as well, stand under `assumed`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from counted_logs import RANKS, log_of

from workalike.characterize import characterize
from workalike.characterize.readings import alternatives
from workalike.characterize.readings.alternatives import same_operations
from workalike.characterize.result import FamilyFacts
from workalike.darshan import LogBuilder, open_log
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.ambiguity import ambiguity_words
from workalike.workload.model import Assumption, Family, Workload


def truth_of(streams: list[dict[str, Any]], **family: Any) -> Workload:
    document = {
        "role": "input", "interface": "posix", "sharing": "shared", "schedule": {"start": ["1 s"]},
        "content": {"streams": streams, "passes": family.pop("passes", 1)}, **family,
    }  # fmt: skip
    return Workload.model_validate(
        {"workalike": 2, "ranks": RANKS, "runtime": "20 s", "families": [document]}
    )


def stream(direction: str, pattern: str = "contiguous", **more: Any) -> dict[str, Any]:
    return {"direction": direction, "sizes": ["8/rank x 64 KiB"], "pattern": pattern, **more}


def found_of(truth: Workload, folder: Path) -> FamilyFacts:
    (facts,) = characterize([open_log(log_of(truth, folder / "app.darshan"))]).families
    return facts


def named(family: Family) -> list[str]:
    return [text for text in family.assumed if not isinstance(text, Assumption)]


@pytest.mark.parametrize("pattern", ["contiguous", "interleaved", "replicated"])
def test_collective_reads_land_anywhere(tmp_path: Path, pattern: str) -> None:
    truth = truth_of([stream("read", pattern, collective=True)], interface="mpiio")
    facts = found_of(truth, tmp_path)
    assert named(facts.family) == ["contiguous-reads or interleaved-reads or replicated-reads"]
    readings = [facts.family, *facts.alternatives]
    assert sum(same_operations(truth.families[0], reading, RANKS) for reading in readings) == 1


def test_what_is_written_is_read_back_the_same_way(tmp_path: Path) -> None:
    """Not each direction by itself: one line names both."""
    both = [stream(direction, collective=True) for direction in ("write", "read")]
    (text,) = named(found_of(truth_of(both, interface="mpiio", role="scratch"), tmp_path).family)
    assert text == "contiguous-writes and contiguous-reads or interleaved-writes and interleaved-reads"


@pytest.mark.parametrize("pattern", ["contiguous", "interleaved"])
def test_counters_that_tell_readings_apart_leave_nothing_open(tmp_path: Path, pattern: str) -> None:
    facts = found_of(truth_of([stream("write", pattern)], role="checkpoint"), tmp_path)
    assert (named(facts.family), facts.alternatives, facts.misfit) == ([], [], [])


@pytest.mark.parametrize("sharing", ["per-rank", "root"])
def test_a_reading_of_the_same_operations_is_not_named(tmp_path: Path, sharing: str) -> None:
    """Alone in its file, a rank's interleaved calls are contiguous ones, though no counter of STDIO says so."""
    truth = truth_of([stream("write")], interface="stdio", sharing=sharing, role="checkpoint")
    assert named(found_of(truth, tmp_path).family) == []


def test_small_gaps_that_are_within_the_noise(tmp_path: Path) -> None:
    truth = truth_of([stream("write", "strided", stride=65632, base=0)], interface="stdio", sharing="root")
    facts = found_of(truth, tmp_path)
    assert named(facts.family) == ["contiguous-writes or strided-writes"]
    assert same_operations(truth.families[0], facts.alternatives[0], RANKS)


def test_as_many_passes_as_ranks_are_no_pass_by_each_rank(tmp_path: Path) -> None:
    """Each rank reads the whole file, or each reads its part as often as there are ranks: both are found or named."""
    truth = truth_of([stream("read", base=0)], passes=RANKS)
    facts = found_of(truth, tmp_path)
    readings = [facts.family, *facts.alternatives]
    assert any(same_operations(truth.families[0], reading, RANKS) for reading in readings)


@pytest.mark.parametrize(
    "text", ["interleaved-writes", "interleaved-writes or", "fast-writes or one-pass", "a or b"]
)
def test_words_of_no_list_are_refused(text: str) -> None:
    document = truth_of([stream("read")]).model_dump(mode="json")
    document["families"][0]["assumed"] = [text]
    with pytest.raises(ValueError, match="two or more readings"):
        Workload.model_validate(document)


def test_people_read_words() -> None:
    assert (
        ambiguity_words("one-pass and replicated-reads or several-passes and contiguous-reads")
        == "one pass and replicated reads (the counters fit several passes and contiguous reads as well)"
    )


def contradictory(path: Path) -> Path:
    """A file that is only written, and whose record counts switches between reads and writes."""
    log = LogBuilder(nprocs=RANKS, run_time=20.0)
    log.posix(
        "/data/run/state", 0, OPENS=1, WRITES=20, BYTES_WRITTEN=20 * 65536, MAX_BYTE_WRITTEN=20 * 65536 - 1, RW_SWITCHES=7,
        SEQ_WRITES=19, CONSEC_WRITES=19, SIZE_WRITE_10K_100K=20, ACCESS1_ACCESS=65536, ACCESS1_COUNT=20,
        FILE_ALIGNMENT=4096, F_OPEN_START_TIMESTAMP=1.0, F_WRITE_START_TIMESTAMP=1.1,
        F_WRITE_END_TIMESTAMP=18.0, F_CLOSE_END_TIMESTAMP=19.0, F_WRITE_TIME=0.5,
    )  # fmt: skip
    log.write(path)
    return path


def test_the_misfit_is_kept_and_shown(tmp_path: Path) -> None:
    path = contradictory(tmp_path / "app.darshan")
    (facts,) = characterize([open_log(path)]).families
    assert facts.misfit
    assert [row.counter for row in facts.misfit] == ["RW_SWITCHES"]
    program = [sys.executable, "-m", "workalike", "characterize", str(path), "-o", str(tmp_path / "app.yaml")]
    with_rules = subprocess.run([*program, "--rules"], capture_output=True, text=True)
    line = "POSIX RW_SWITCHES: 7 in the log, 0 by the workload"
    assert f"off by more than 5 %: {line}" in with_rules.stderr
    plain = subprocess.run(program, capture_output=True, text=True)
    assert "1 file family misses counters of the log by more than 5 % (--rules lists them)" in plain.stderr
    (family,) = json.loads(subprocess.run([*program, "--json"], capture_output=True, text=True).stdout)[
        "families"
    ]
    assert family["misfit"] == [{"module": "POSIX", "counter": "RW_SWITCHES", "log": 7, "workload": 0}]


def test_ranks_of_a_large_job_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def note(plans: object, rank: int) -> bool:
        looked.append(rank)
        return True

    monkeypatch.setattr(alternatives, "_same_rows", note)
    family = truth_of([stream("write")], interface="posix").families[0]
    assert same_operations(family, family, 2**22)
    assert {0, 2**22 - 1} <= set(looked) and len(looked) <= THRESHOLDS.alternatives_ranks + 1
    looked.clear()
    assert same_operations(family, family, 7)
    assert sorted(looked) == list(range(7))
