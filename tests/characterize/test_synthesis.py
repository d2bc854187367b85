"""Logs made of predicted counters: the workload that they came from, or one with the same counters, is found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workalike import _core
from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, layouts, open_log
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Lifetime, Workload

RANKS = 4
BLOCK = 4096


def workload(content: dict[str, object], **family: object) -> Workload:
    document = {
        "role": "scratch", "interface": "posix", "sharing": "shared", "schedule": {"start": ["1 s"]},
        "content": content, **family,
    }  # fmt: skip
    return Workload.model_validate(
        {"workalike": 2, "ranks": RANKS, "runtime": "20 s", "families": [document]}
    )


def log_of(truth: Workload, path: Path) -> Path:
    """A log with the counters of a run of the workload: one record per file, reduced if several ranks have one."""
    plan = _core.Plan(plan_text(resolve(truth, Options())))
    log = LogBuilder(nprocs=RANKS, run_time=20.0)
    for module, records in plan.predict([BLOCK], 10**6).items():
        add_records(log, module, records)
    log.write(path)
    return path


def add_records(log: LogBuilder, module: str, records: dict[str, Any]) -> None:
    names = layouts.FIXED[module].current.counters
    for i, row in enumerate(records["counters"].tolist()):
        counters = {name: value for name, value in zip(names, row, strict=True) if value}
        times = {"F_OPEN_START_TIMESTAMP": 1.0 + i, "F_CLOSE_END_TIMESTAMP": 1.9 + i}
        for kind in ("READ", "WRITE"):
            if counters.get(f"{kind}S"):
                times[f"F_{kind}_START_TIMESTAMP"] = 1.1 + i
                times[f"F_{kind}_END_TIMESTAMP"] = 1.8 + i
                times[f"F_{kind}_TIME"] = 0.5
        rank = 0 if records["ranks"][i] == 1 else -1
        add = log.posix if module == "POSIX" else log.mpiio
        add(f"/data/run/state{i}", rank, **counters, **times)


def found_again(truth: Workload, tmp_path: Path) -> Characterization:
    found = characterize([open_log(log_of(truth, tmp_path / "app.darshan"))])
    rows = model_against_log(pair_up(found, None))
    off = [
        f"{row.counter}: {row.expected} in the log, {row.found} predicted" for row in rows if not row.agrees
    ]
    assert rows and not off, json.dumps(off)
    return found


def both(direction_sizes: dict[str, str], **more: object) -> dict[str, object]:
    return {"streams": [{"direction": d, "sizes": [s]} for d, s in direction_sizes.items()], **more}


# Not as many passes as ranks: four ranks that each read all of it have the counters of four passes.
@pytest.mark.parametrize("passes", [2, 5, 7])
@pytest.mark.parametrize("directions", [("write", "read"), ("write",), ("read",)])
def test_passes_over_the_same_bytes(tmp_path: Path, passes: int, directions: tuple[str, ...]) -> None:
    truth = workload(both(dict.fromkeys(directions, "64 x 64 KiB"), passes=passes))
    content = found_again(truth, tmp_path).workload.families[0].content
    assert content is not None
    assert content.passes == passes


def test_written_in_one_pass_stays_one(tmp_path: Path) -> None:
    found = found_again(workload(both({"write": "64 x 64 KiB", "read": "64 x 64 KiB"})), tmp_path)
    assert all(c.passes == 1 for f in found.workload.families for c in f.all_contents())
    assert not any("fit better" in sentence for f in found.families for sentence in f.sentences())


def test_a_file_that_each_open_begins_anew(tmp_path: Path) -> None:
    schedule = {"count": 6, "first": "1 s", "every": "1 s"}
    truth = workload(
        both({"write": "1 x 1000 B"}, opens=1),
        sharing={"mode": "root", "ranks": 0},
        lifetime="reused",
        schedule=schedule,
    )
    (family,) = found_again(truth, tmp_path).workload.families
    assert family.lifetime is Lifetime.REUSED
    assert family.schedule.dumps == 6


@pytest.mark.parametrize("pattern", ["interleaved", "contiguous"])
def test_patterns(tmp_path: Path, pattern: str) -> None:
    stream = {"direction": "write", "sizes": ["64 x 64 KiB"], "pattern": pattern}
    content = found_again(workload({"streams": [stream]}), tmp_path).workload.families[0].content
    assert content is not None
    assert content.streams[0].pattern == pattern


@pytest.mark.parametrize("directions", [("write", "read"), ("write",)])
@pytest.mark.parametrize("opens", [RANKS, 2 * RANKS + 3])
def test_several_pieces_in_each_call(tmp_path: Path, directions: tuple[str, ...], opens: int) -> None:
    """Through a strided view, each call of MPI-IO is several calls of POSIX; opens beyond those of all are one rank's."""
    streams = [
        {"direction": d, "sizes": ["8 x 128 KiB"], "pattern": "interleaved", "pieces": 32, "base": 0}
        for d in directions
    ]
    truth = workload({"streams": streams, "opens": opens}, interface="mpiio")
    found = found_again(truth, tmp_path)
    contents = [content for family in found.workload.families for content in family.all_contents()]
    assert {s.pieces for content in contents for s in content.streams} == {32}


def test_contiguous_calls_of_mpiio_stay_whole(tmp_path: Path) -> None:
    truth = workload({"streams": [{"direction": "write", "sizes": ["8 x 128 KiB"]}]}, interface="mpiio")
    content = found_again(truth, tmp_path).workload.families[0].content
    assert content is not None
    assert content.streams[0].pieces == 1
