"""Records of one file: sums, largest values and times, whatever the counters hold."""

from __future__ import annotations

import numpy as np
import pytest
from facts_by_hand import file_facts, module_facts

from workalike.facts.records import exact_sum
from workalike.workload.words import Direction, Level


def test_totals_leave_out_what_was_not_measured() -> None:
    several = module_facts(
        "POSIX", {0: {"WRITES": 3, "READS": -1}, 1: {"WRITES": -1, "READS": -1}, 2: {"WRITES": 4}}
    )
    assert several.totals(["WRITES", "READS", "OPENS", "COLL_WRITES"]) == [7, 0, 0, 0]
    alone = module_facts("POSIX", {0: {"WRITES": 3, "READS": -1, "OPENS": 1}})
    assert alone.totals(["WRITES", "READS", "OPENS", "COLL_WRITES"]) == [3, 0, 1, 0]
    assert module_facts("POSIX", {}).total("WRITES") == 0


def test_largest_is_never_negative() -> None:
    facts = module_facts(
        "POSIX", {0: {"MAX_BYTE_READ": 1, "READS": -1}, 1: {"MAX_BYTE_READ": 9, "READS": -1}}
    )
    assert [facts.largest(name) for name in ("MAX_BYTE_READ", "READS", "WRITES", "NONE")] == [9, 0, 0, 0]
    assert module_facts("POSIX", {}).largest("READS") == 0


def test_some_records_are_records() -> None:
    facts = module_facts("POSIX", {0: {"WRITES": 3}, 1: {"WRITES": 4}, 2: {"WRITES": 5, "F_WRITE_TIME": 2.0}})
    rows = facts.rows(np.array([2, 0]))
    assert (rows.ranks.tolist(), rows.column("WRITES").tolist()) == ([2, 0], [5, 3])
    assert (rows.fcolumn("F_WRITE_TIME").tolist(), rows.scope) == ([2.0, 0.0], None)
    facts.scope = np.array([[0, 1], [1, 1], [2, 1]])
    scope = facts.rows(np.array([1])).scope
    assert scope is not None and scope.tolist() == [[1, 1]]
    assert facts.has("WRITES") and facts.has("F_WRITE_TIME") and not facts.has("COLL_WRITES")


def test_first_and_last_stamps_are_of_those_that_were_set() -> None:
    name = "F_OPEN_START_TIMESTAMP"
    stamps = (0.0, 3.0, float("nan"), 2.0, -1.0, float("inf"))
    facts = module_facts("POSIX", {rank: {name: stamp} for rank, stamp in enumerate(stamps)})
    assert (facts.first(name), facts.last(name)) == (2.0, 3.0)
    none = module_facts("POSIX", {0: {name: 0.0}})
    assert (none.first(name), none.last(name)) == (None, None)


@pytest.mark.parametrize(
    ("values", "total"),
    [([], 0), ([-1, -5], 0), ([1, -1, 2], 3), ([2**62, 2**62, 2**62], 3 * 2**62), ([2**61, 2**61], 2**62)],
)
def test_sums_do_not_overflow(values: list[int], total: int) -> None:
    assert exact_sum(np.array(values, dtype=np.int64)) == total


def test_sizes_of_a_side_file_are_those_of_the_records_ranks() -> None:
    sizes = {
        rank: {Direction.WRITE: [(rank + 1, 8)], Direction.READ: [(1, 5)]} for rank in range(3)
    }  # of all ranks
    facts = module_facts("STDIO", {1: {"WRITES": 2}, 7: {"WRITES": 1}})
    facts.sizes = sizes  # type: ignore[assignment]
    assert facts.reported_sizes(Direction.WRITE) == [(2, 8)]
    everyone = module_facts("STDIO", {-1: {"WRITES": 2}})
    everyone.sizes = sizes  # type: ignore[assignment]
    assert everyone.reported_sizes(Direction.WRITE) == [(1, 8), (2, 8), (3, 8)]
    assert everyone.reported_sizes(Direction.READ) == [(1, 5)] * 3


def test_a_file_is_told_apart_by_its_id_and_by_stdio_alone() -> None:
    posix, stdio = (module_facts(m, {0: {"BYTES_READ": 5, "BYTES_WRITTEN": 7}}) for m in ("POSIX", "STDIO"))
    both, alone = file_facts("a", posix, stdio), file_facts("a", stdio)
    assert both.key == (both.record_id, False)
    assert alone.key == (alone.record_id, True)
    assert file_facts("a", posix).key == (both.record_id, False)
    assert [both.bytes_at(Level.POSIX, d) for d in (Direction.READ, Direction.WRITE)] == [5, 7]
    assert both.bytes_at(Level.MPIIO, Direction.READ) == 0
