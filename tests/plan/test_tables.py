"""Operation tables under other ranks and another scale."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workalike import _core
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.plan.tables import Members, at_bytes, at_ranks
from workalike.workload.model import Direction, SharingMode, TableReference, Workload
from workalike.workload.operation_table import OperationTable

TRANSFERS = (_core.kinds.index("read"), _core.kinds.index("write"))


def table(rows: list[tuple[int, bool, int, int]]) -> OperationTable:
    """Rows of rank, whether it writes, offset, length."""
    ranks, writes, offsets, lengths = zip(*rows, strict=True)
    return OperationTable(
        np.array(ranks, dtype=np.int64),
        np.array(writes),
        np.array(offsets, dtype=np.int64),
        np.array(lengths, dtype=np.int64),
        np.zeros(len(rows), dtype=bool),
    )


def rows_of(found: OperationTable) -> list[tuple[int, bool, int, int]]:
    columns = (found.ranks, found.writes, found.offsets, found.lengths)
    return list(zip(*(column.tolist() for column in columns), strict=True))


FOUR = table(
    [(3, True, 300, 100), (0, True, 0, 100), (1, True, 100, 100), (2, True, 200, 100), (0, False, 300, 50)]
)


def members(ranks: int, mode: SharingMode = SharingMode.SHARED, files: int = 1) -> Members:
    return Members.in_job(None, ranks, mode, files)


def test_fewer_ranks_perform_the_rows_of_blocks_of_ranks() -> None:
    found = at_ranks(FOUR, members(4), members(2), weak=False)
    assert rows_of(found) == [
        (1, True, 300, 100),
        (0, True, 0, 100),
        (0, True, 100, 100),
        (1, True, 200, 100),
        (0, False, 300, 50),
    ]


def test_weak_scaling_keeps_the_rows_of_the_first_ranks() -> None:
    found = at_ranks(FOUR, members(4), members(2), weak=True)
    assert rows_of(found) == [(0, True, 0, 100), (1, True, 100, 100), (0, False, 300, 50)]


def test_files_that_become_one_follow_each_other() -> None:
    own = table([(r, True, k * 10, 10) for k in range(2) for r in range(4)])
    mode = SharingMode.PER_RANK
    found = at_ranks(own, members(4, mode), members(2, mode), weak=False)
    of_rank_1 = [row for row in rows_of(found) if row[0] == 1]
    assert of_rank_1 == [(1, True, 0, 10), (1, True, 20, 10), (1, True, 10, 10), (1, True, 30, 10)]


def test_groups_that_become_one_follow_each_other() -> None:
    """Six ranks in three files of two; two ranks in two files: the second file holds a half of the second group."""
    rows = table([(r, True, (r % 2) * 10, 10) for r in range(6)])
    mode = SharingMode.GROUPS
    found = at_ranks(rows, members(6, mode, 3), members(2, mode, 2), weak=False)
    assert rows_of(found) == [
        (0, True, 0, 10),
        (0, True, 10, 10),
        (0, True, 20, 10),
        (1, True, 10, 10),
        (1, True, 20, 10),
        (1, True, 30, 10),
    ]


def test_more_ranks_are_idle() -> None:
    found = at_ranks(FOUR, members(4), members(6), weak=False)
    assert [row[0] for row in rows_of(found)] == [4, 0, 1, 3, 0]
    assert [row[1:] for row in rows_of(found)] == [row[1:] for row in rows_of(FOUR)]


def test_weak_scaling_to_more_ranks_is_refused() -> None:
    with pytest.raises(WorkalikeError, match="4 ranks has no operations for 5") as caught:
        at_ranks(FOUR, members(4), members(5), weak=True)
    assert caught.value.kind is ErrorKind.USAGE


@given(
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**30)), min_size=1, max_size=20),
    st.fractions(Fraction(1, 10**12), 4),
)
def test_scaled_rows_stay_consecutive(places: list[tuple[int, int]], factor: Fraction) -> None:
    rows = table([(0, True, offset, length) for offset, length in places])
    found = at_bytes(rows, factor)
    for (_, _, offset, length), (before, size) in zip(rows_of(found), places, strict=True):
        assert offset == before * factor // 1
        assert offset + length == (before + size) * factor // 1


def workload(rows: OperationTable, **family: object) -> Workload:
    """One family whose only dump is the table."""
    stated = {
        "writes": int(rows.writes.sum()),
        "reads": int((~rows.writes).sum()),
        "bytes_written": rows.moved(write=True),
        "bytes_read": rows.moved(write=False),
    }
    made = Workload.model_validate(
        {
            "ranks": 4,
            "operations": {"sha256": rows.sha256, "rows": len(rows), "extent": rows.end()},
            "families": [
                {
                    "role": "scratch",
                    "interface": "posix",
                    "schedule": {"count": 1},
                    "content": {"table": stated},
                }
                | family
            ],
        }
    )
    made.operations = TableReference.to_table(rows)
    return made


def operations(plan: Plan) -> list[tuple[int, bool, int, int]]:
    """The transfers of all ranks as the core expands them, rank by rank."""
    core = core_plan(plan)
    out = []
    for rank in range(plan.ranks):
        calls = core.operations(rank, 1000)
        for kind, offset, length in zip(calls["kind"], calls["offset"], calls["length"], strict=True):
            if kind in TRANSFERS:
                out.append((rank, bool(kind == TRANSFERS[1]), int(offset), int(length)))
    return out


def test_the_core_performs_the_rows_in_their_order() -> None:
    plan = resolve(workload(FOUR), Options())
    assert operations(plan) == [
        (0, True, 0, 100),
        (0, False, 300, 50),
        (1, True, 100, 100),
        (2, True, 200, 100),
        (3, True, 300, 100),
    ]
    assert plan.dumps[0].prepare  # rank 0 reads what rank 3 writes, and nothing makes it wait
    assert list(plan.tables) == [plan.contents[0].streams[0].table]


def test_what_is_read_and_not_written_is_prepared() -> None:
    rows = table([(0, True, 0, 100), (1, False, 100, 100)])
    assert resolve(workload(rows), Options()).dumps[0].prepare
    read_first = table([(1, False, 0, 100), (0, True, 0, 100)])
    assert resolve(workload(read_first), Options()).dumps[0].prepare


def test_offsets_of_an_appended_file_are_those_in_the_file() -> None:
    rows = table([(0, True, 0, 100), (0, True, 100, 100)])
    made = workload(rows)
    family = made.families[0].model_dump()
    family |= {
        "lifetime": "appended",
        "schedule": {"count": 2, "every": 1.0},
        "content": None,
        "contents": [{"table": {"first": first, "writes": 1, "bytes_written": 100}} for first in range(2)],
    }
    made.families = [type(made.families[0]).model_validate(family)]
    plan = resolve(made, Options())
    assert [dump.base for dump in plan.dumps] == [0, 0]
    assert operations(plan) == [(0, True, 0, 100), (0, True, 100, 100)]


def test_without_the_table_nothing_is_planned() -> None:
    text_only = Workload.model_validate(workload(FOUR).model_dump())
    with pytest.raises(WorkalikeError, match="operation table is not there") as caught:
        resolve(text_only, Options())
    assert caught.value.kind is ErrorKind.MISSING


def test_bytes_are_those_of_the_rows() -> None:
    made = workload(FOUR).families[0].content_of(0)
    assert (made.moved(4, Direction.WRITE), made.moved(4, Direction.READ)) == (400, 50)
    with pytest.raises(ValueError, match="leave out `sizes`"):
        workload(FOUR, sizes=1000)


@pytest.mark.parametrize("sharing", ["per-rank", "shared", {"mode": "groups", "files": 2}])
def test_files_of_ranks_that_write_unequally_are_long_enough(sharing: object, tmp_path: Path) -> None:
    """The engine looks whether a file holds all that was written to it: each has rows of its own."""
    rows = table([(rank, True, 0, 1000 + 7 * rank) for rank in range(4)])
    plan = resolve(workload(rows, sharing=sharing), Options())
    record = run_plan(plan, RunOptions(tmp_path / "data", tmp_path, quiet=True))
    assert not record.errors
