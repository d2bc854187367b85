"""Facts as columns: they are what the log says, and the same after Parquet."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workalike.darshan import LogBuilder, open_log
from workalike.facts.columns import Facts
from workalike.facts.file_table import FileTable, file_table, words_of
from workalike.facts.gather import facts_of
from workalike.facts.rules import NoiseRule
from workalike.facts.signature import FamilySignature, alike, signature_of, step_of
from workalike.file_kind import side_file_of
from workalike.workload.words import Interface, Level, Role, SharingMode

MIB = 1 << 20


def write_log(
    folder: Path,
    name: str = "app.darshan",
    *,
    checkpoints: int = 3,
    size: int = MIB,
    ranks: int = 4,
    stem: str = "chk",
    start: int = 1,
) -> Path:
    """A log with checkpoints of all ranks through MPI-IO, an STDIO file of each rank, and a library."""
    builder = LogBuilder(nprocs=ranks, run_time=100.0, start_time=start)
    for i in range(checkpoints):
        times = {"F_OPEN_START_TIMESTAMP": 10.0 * i + 1, "F_CLOSE_END_TIMESTAMP": 10.0 * i + 3}
        moved = {"BYTES_WRITTEN": ranks * size}
        builder.mpiio(f"/s/{stem}_{i:03}.dat", rank=-1, COLL_OPENS=ranks, COLL_WRITES=ranks, **moved, **times)
        builder.posix(f"/s/{stem}_{i:03}.dat", rank=-1, OPENS=ranks, WRITES=ranks, **moved, **times)
    for rank in range(ranks):
        builder.stdio(f"/s/out.{rank}", rank=rank, OPENS=1, WRITES=10, BYTES_WRITTEN=size)
    builder.posix("/usr/lib/libm.so", rank=-1, OPENS=ranks, READS=ranks, BYTES_READ=4096)
    path = folder / name
    builder.write(path)
    return path


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    return facts_of([open_log(write_log(tmp_path))])


def test_one_row_for_every_file_and_record(facts: Facts) -> None:
    assert (facts.nprocs, facts.run_time, facts.logs, len(facts)) == (4, 100.0, 1, 8)
    posix = facts.modules["POSIX"]
    assert posix.column("BYTES_WRITTEN").sum() == 3 * 4 * MIB
    assert (np.diff(posix.file) >= 0).all()
    by_name = {file.name: file for file in facts.files()}
    assert set(by_name["/s/chk_001.dat"].modules) == {"POSIX", "MPI-IO"}
    assert by_name["/s/out.2"].modules["STDIO"].ranks.tolist() == [2]
    assert by_name["/usr/lib/libm.so"].modules["POSIX"].total("BYTES_READ") == 4096


def test_facts_contain_no_log(facts: Facts) -> None:
    """Facts outlive their log: at no depth do they contain an object of the reader, except arrays."""

    def walk(value: Any) -> None:
        assert not type(value).__module__.startswith("workalike.darshan"), type(value)
        if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, dict):
            for part in (*value.keys(), *value.values()):
                walk(part)
        else:
            assert isinstance(value, np.ndarray | int | float | str | tuple | None), type(value)

    walk(facts)


def test_processes_of_several_logs_are_ranks_of_one_job(tmp_path: Path) -> None:
    paths = [write_log(tmp_path, f"{i}.darshan", start=1 + i, ranks=2) for i in range(2)]
    facts = facts_of([open_log(path) for path in paths])
    stdio = facts.modules["STDIO"]
    assert (facts.nprocs, facts.logs) == (4, 2)
    assert stdio.ranks.tolist() == [0, 2, 1, 3]
    assert stdio.members.tolist() == [2] * 4
    file = next(f for f in facts.files() if f.name == "/s/chk_000.dat")
    scope = file.modules["MPI-IO"].scope
    assert scope is not None
    assert scope.tolist() == [[0, 2], [2, 2]]
    assert file.modules["MPI-IO"].first("F_OPEN_START_TIMESTAMP") == 1.0
    assert file.modules["MPI-IO"].last("F_OPEN_START_TIMESTAMP") == 2.0


def test_sizes_of_a_side_file_are_there(tmp_path: Path) -> None:
    path = write_log(tmp_path)
    side_file_of(path).write_text(
        '{"stdio_sizes": [{"file": "/s/out.1", "rank": 1, "writes": [[100000, 8], [124288, 2]]}]}'
    )
    facts = facts_of([open_log(path)])
    (stdio,) = [f.modules["STDIO"] for f in facts.files() if f.name == "/s/out.1"]
    assert stdio.sizes == {1: {"read": [], "write": [(8, 100000), (2, 124288)]}}


def table_of(path: Path) -> FileTable:
    return file_table(facts_of([open_log(path)]))


def test_the_table_says_what_each_file_was(tmp_path: Path) -> None:
    table = table_of(write_log(tmp_path))
    assert words_of(NoiseRule, table.noise.tolist()).count("library") == 1
    shared = table.ranks == 4
    data = table.data & shared
    assert words_of(Role, table.role_by_name[data].tolist()) == ["checkpoint"] * 3
    assert words_of(Level, table.written_level[data].tolist()) == ["mpiio"] * 3
    assert words_of(Interface, table.interface[data].tolist()) == ["mpiio"] * 3
    assert len(set(table.pattern_number[data].tolist())) == 1
    assert table.bytes_written[data].tolist() == [4 * MIB] * 3
    assert table.writes[data].tolist() == [4] * 3
    assert sorted(table.first_open[data].tolist()) == [1.0, 11.0, 21.0]
    assert sorted(table.last_close[data].tolist()) == [3.0, 13.0, 23.0]
    assert sorted(table.rank[table.data & ~shared].tolist()) == [0, 1, 2, 3]


def test_an_empty_job_has_an_empty_table(tmp_path: Path) -> None:
    LogBuilder(nprocs=1, run_time=1.0).write(tmp_path / "empty.darshan")
    table = table_of(tmp_path / "empty.darshan")
    assert len(table) == 0
    assert signature_of(table, 1) == ()


def test_a_signature_is_read_from_its_text() -> None:
    known = FamilySignature(Interface.MPIIO, Level.POSIX, SharingMode.PER_RANK, 4, 1, 9, 0, 12, 0)
    assert FamilySignature.of_text(known.text()) == known
    for text in ("", "a/b/c/1/2/3/4/5/6", known.text() + "/1", known.text().replace("12", "x")):
        with pytest.raises(ValueError):
            FamilySignature.of_text(text)


def test_two_runs_of_a_workload_have_the_same_signature(tmp_path: Path) -> None:
    """Names, day and three per cent of the bytes may differ; ranks, sizes and families may not."""

    def signature(**changes: Any) -> Any:
        log = write_log(tmp_path, **changes)
        return signature_of(table_of(log), changes.get("ranks", 4))

    first = signature()
    assert {(f.sharing, f.ranks) for f in first} == {("shared", 4), ("per-rank", 4)}
    assert signature(stem="restart", start=1000) == first
    assert alike(signature(size=MIB * 103 // 100), first)
    assert not alike(signature(size=2 * MIB), first)
    assert not alike(signature(ranks=8), first)
    assert not alike(signature(checkpoints=0), first)
    assert "/s/" not in "".join(family.text() for family in first)


@pytest.mark.parametrize("quantity", [1, 1000, 2**40])
def test_a_step_is_about_a_fifth(quantity: int) -> None:
    assert step_of(0) == 0
    assert step_of(quantity) >= 1
    assert abs(step_of(quantity * 11 // 10) - step_of(quantity)) <= 1
    assert step_of(quantity * 2) - step_of(quantity) == 4
