"""Side files with the sizes of STDIO calls: used where they agree with the record, reported where damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from simulated_job import builder_of

from workalike.capture.side_file import SideFile, read_side_file
from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import LogBuilder, open_log
from workalike.file_kind import side_file_of
from workalike.workload.model import Stream

NAME = "/run/out.dat"
WRITES = [[8, 3], [1_000_000, 1]]


def characterized(folder: Path, side: object, ranks: dict[int, tuple[int, int]]) -> Characterization:
    """A job of two ranks, of which `ranks` made (calls, bytes); `side` is its side file."""
    builder = builder_of(2)
    for rank, (calls, moved) in ranks.items():
        builder.stdio(NAME, rank, OPENS=1, WRITES=calls, BYTES_WRITTEN=moved)
    log = folder / "app.darshan"
    builder.write(log)
    if side is not None:
        side_file_of(log).write_text(side if isinstance(side, str) else json.dumps(side))
    return characterize([open_log(log)], CharacterizeOptions(include_program_start=True))


def sizes(found: Characterization) -> list[tuple[int, int]]:
    streams: list[Stream] = found.families[0].family.content_of(0).streams
    return sorted((e.total(1), e.size) for s in streams for e in s.sizes)


def call_sizes(rank: int = 0, writes: Any = WRITES) -> dict[str, Any]:
    return {"file": NAME, "rank": rank, "reads": [], "writes": writes}


def side_of(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"version": 1, "stdio_sizes": list(calls)}


def test_sizes_that_add_up_are_used(tmp_path: Path) -> None:
    found = characterized(tmp_path, side_of(call_sizes()), {0: (4, 1_000_024)})
    assert sizes(found) == [(1, 1_000_000), (3, 8)]
    assert not found.warnings


def test_each_rank_has_its_own_sizes(tmp_path: Path) -> None:
    side = side_of(call_sizes(0), call_sizes(1, [[50, 4]]))
    found = characterized(tmp_path, side, {0: (4, 1_000_024), 1: (4, 200)})
    assert {(1, 1_000_000), (3, 8), (4, 50)} == set(sizes(found))


def test_a_reduced_record_is_all_ranks(tmp_path: Path) -> None:
    found = characterized(tmp_path, side_of(call_sizes(0), call_sizes(1)), {-1: (8, 2_000_048)})
    moved = (
        found.families[0]
        .family.content_of(0)
        .moved(2, found.families[0].family.content_of(0).streams[0].direction)
    )
    assert moved == 2_000_048
    assert {size for _, size in sizes(found)} == {8, 1_000_000}


def test_dumps_in_one_file_have_the_calls_of_the_side_file(tmp_path: Path) -> None:
    """Three dumps that grow, each with a header of two calls: what three share equally, and the others by size."""
    data = [4_000_000, 8_000_000, 16_000_000]
    writes = [[100, 3], [50, 3], *([size, 1] for size in data), [7, 1]]
    builder = builder_of(1, run_time=100)
    total = sum(size * count for size, count in writes)
    stamps = {"F_OPEN_START_TIMESTAMP": 1.0, "F_OPEN_END_TIMESTAMP": 1.0, "F_CLOSE_END_TIMESTAMP": 90.0}
    stamps |= {"F_WRITE_START_TIMESTAMP": 1.0, "F_WRITE_END_TIMESTAMP": 90.0, "F_WRITE_TIME": 1.0}
    builder.stdio(NAME, 0, OPENS=1, WRITES=10, BYTES_WRITTEN=total, FLUSHES=3, **stamps)
    log = tmp_path / "app.darshan"
    builder.write(log)
    side_file_of(log).write_text(json.dumps(side_of(call_sizes(writes=writes))))
    found = characterize([open_log(log)], CharacterizeOptions(include_program_start=True))
    family = found.families[0].family
    dumps = [
        sorted((e.size, e.count) for s in family.content_of(i).streams for e in s.sizes) for i in range(3)
    ]
    assert dumps == [
        [(50, 1), (100, 1), (4_000_000, 1)],
        [(7, 1), (50, 1), (100, 1), (8_000_000, 1)],
        [(50, 1), (100, 1), (16_000_000, 1)],
    ]


@pytest.mark.parametrize("record", [(4, 1_000_025), (5, 1_000_024)])
def test_sizes_that_do_not_add_up_are_not_used(tmp_path: Path, record: tuple[int, int]) -> None:
    found = characterized(tmp_path, side_of(call_sizes()), {0: record})
    assert sum(count * size for count, size in sizes(found)) == record[1]
    assert (1, 1_000_000) not in sizes(found)


@pytest.mark.parametrize(
    "side",
    [
        "{",
        "[]",
        side_of(call_sizes(writes=[[8, -3]])),
        side_of(call_sizes(writes=[[2**80, 1]])),
        side_of(call_sizes(writes=[["8", "x"]])),
        side_of(call_sizes(rank=-5)),
        {"stdio_sizes": 3},
        "[" * 100_000,
    ],
    ids=lambda side: str(side)[:40],
)
def test_a_damaged_side_file_is_reported_and_not_used(tmp_path: Path, side: object) -> None:
    found = characterized(tmp_path, side, {0: (4, 1_000_024)})
    assert sizes(found) == [(4, 250_006)]
    assert any("app.darshan.extra.json is not used" in warning for warning in found.warnings)


def process(start: float, end: float, cpu: float, waited: float | None = None) -> dict[str, float]:
    """Without `waited` as an older capture wrote it."""
    known = {} if waited is None else {"waited_s": waited}
    return {"rank": 0, "start": start, "end": end, "cpu_s": cpu, **known}


@pytest.mark.parametrize(
    ("processes", "share"),
    [
        ([], None),
        ([process(0, 10, 2.5)], 0.25),
        ([process(0, 10, 10), process(5, 10, 0)], 0.67),
        ([process(0, 10, 40), process(0, 10, 0)], 0.5),  # four threads, and an idle process
        ([process(0, 10, 4, 5), process(0, 10, 1, 0)], 0.5),  # the first one slept for a second
        ([process(0, 10, 8, 40)], 1.0),
        ([process(3, 3, 0)], None),
        ([process(9, 3, 1)], None),
    ],
)
def test_the_share_of_cpu_time(
    tmp_path: Path, processes: list[dict[str, float]], share: float | None
) -> None:
    found = characterized(tmp_path, {"version": 1, "processes": processes}, {0: (4, 1_000_024)})
    assert found.workload.cpu_share == share
    assert not found.warnings


@pytest.mark.parametrize(
    "wrong", [{"cpu_s": -1.0}, {"waited_s": -1.0}, {"end": 1e300}, {"cpu_s": "many"}, {"start": None}]
)
def test_damaged_cpu_times_are_reported(tmp_path: Path, wrong: dict[str, object]) -> None:
    side = {"version": 1, "processes": [{**process(0, 10, 5), **wrong}]}
    found = characterized(tmp_path, side, {0: (4, 1_000_024)})
    assert found.workload.cpu_share is None
    assert any("is not used: processes.0" in warning for warning in found.warnings)


def test_a_side_file_that_is_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "app.darshan.extra.json")
    assert sizes(characterized(tmp_path, None, {0: (4, 1_000_024)})) == [(4, 250_006)]


def test_each_file_of_a_dump_has_its_own_sizes(tmp_path: Path) -> None:
    builder = builder_of(2)
    calls = []
    for rank in range(2):
        builder.stdio(f"/run/out.{rank}", rank, OPENS=1, WRITES=4, BYTES_WRITTEN=1_000_024)
        calls.append({**call_sizes(rank), "file": f"/run/out.{rank}"})
    log = tmp_path / "app.darshan"
    builder.write(log)
    side_file_of(log).write_text(json.dumps(side_of(*calls)))
    found = characterize([open_log(log)], CharacterizeOptions(include_program_start=True))
    assert {size for _, size in sizes(found)} == {8, 1_000_000}


@pytest.mark.parametrize(
    ("truncations", "reads", "truncate"), [(4, 0, True), (3, 0, False), (4, 20, False)], ids=str
)
def test_a_file_that_each_dump_empties(tmp_path: Path, truncations: int, reads: int, truncate: bool) -> None:
    builder = LogBuilder(nprocs=1, run_time=20.0)
    both = {"READS": reads, "BYTES_READ": reads * 65536, "MAX_BYTE_READ": 4 * 65536 - 1} if reads else {}
    builder.posix(
        NAME, 0, OPENS=5, WRITES=20, BYTES_WRITTEN=20 * 65536, MAX_BYTE_WRITTEN=4 * 65536 - 1,
        SEQ_WRITES=15, CONSEC_WRITES=15, SIZE_WRITE_10K_100K=20, ACCESS1_ACCESS=65536, ACCESS1_COUNT=20,
        FILE_ALIGNMENT=4096, F_OPEN_START_TIMESTAMP=1.0, F_WRITE_START_TIMESTAMP=1.1,
        F_WRITE_END_TIMESTAMP=18.0, F_CLOSE_END_TIMESTAMP=19.0, F_WRITE_TIME=0.5, **both,
    )  # fmt: skip
    log = tmp_path / "app.darshan"
    builder.write(log)
    counted = {"file": NAME, "rank": -1, "truncations": truncations}
    side_file_of(log).write_text(json.dumps({"version": 1, "files": [counted]}))
    found = characterize([open_log(log)])
    assert [family.truncate for family in found.workload.families] == [truncate]
    assert any("emptied by each dump" in s for f in found.families for s in f.sentences()) is truncate


def test_a_side_file_of_impossible_truncations_is_not_used(tmp_path: Path) -> None:
    log = tmp_path / "app.darshan"
    side_file_of(log).write_text(json.dumps({"files": [{"file": NAME, "truncations": -1}]}))
    warnings: list[str] = []
    assert read_side_file(log, warnings) == SideFile()
    assert len(warnings) == 1


def test_a_long_name_has_no_side_file(tmp_path: Path) -> None:
    warnings: list[str] = []
    assert read_side_file(tmp_path / ("x" * 250), warnings) == SideFile()
    assert not warnings
