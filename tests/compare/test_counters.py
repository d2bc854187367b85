"""Rows of counters: totals, what is compared, and why some is not."""

from __future__ import annotations

from typing import Any

import pytest
from compare_builders import MIB, original, record, record_dump

from workalike.compare.counters import counter_rows, histogram_distance
from workalike.compare.fidelity_schema import CounterFidelity
from workalike.compare.pairing import Factors, Pairing, pair_up
from workalike.compare.side import SideFamily
from workalike.workload.model import Direction, Level

INDEPENDENT = "INDEP_WRITES+COLL_WRITES+SPLIT_WRITES+NB_WRITES"


def perfect(pairs: int = 1) -> Pairing:
    """A family and its replica, as often as asked for."""
    pairing = pair_up(original(dumps=1), record(record_dump(0)))
    made = [pair_up(original(dumps=1), record(record_dump(0))).pairs[0] for _ in range(pairs)]
    pairing.pairs = made
    return pairing


def at(level: Level, counters: dict[str, int], replica: dict[str, int] | None = None) -> Pairing:
    """One family that is counted at a level, with these counters on both sides."""
    pairing = perfect()
    (pair,) = pairing.pairs
    for side, values in ((pair.original, counters), (pair.replica, replica or counters)):
        side.level = level
        side.modules = {side.module: dict(values)}
    return pairing


def rows(pairing: Pairing) -> dict[str, CounterFidelity]:
    return {f"{r.module} {r.counter}": r for r in counter_rows(pairing.pairs, pairing)}


def test_counters_are_sums_over_families_and_largest_offsets_are_not() -> None:
    pairing = perfect(2)
    pairing.pairs[1].replica.modules["POSIX"] |= {"WRITES": 40, "MAX_BYTE_WRITTEN": 64 * MIB - 1}
    found = rows(pairing)
    writes, largest = found["POSIX WRITES"], found["POSIX MAX_BYTE_WRITTEN"]
    assert (writes.original, writes.expected, writes.replica, writes.error_pct) == (64, 64, 72, 12.5)
    assert (largest.original, largest.replica, largest.error_pct) == (
        32 * MIB - 1,
        64 * MIB - 1,
        pytest.approx(100),
    )
    assert largest.comparable and largest.reason == ""
    assert (writes.law, largest.law) == ("operations", "extent")


def test_a_counter_that_one_replica_lacks_is_none_there() -> None:
    pairing = perfect(2)
    del pairing.pairs[1].replica.modules["POSIX"]["WRITES"]
    assert rows(pairing)["POSIX WRITES"].replica == 32
    pairing.pairs[1].replica.modules.clear()
    assert rows(pairing)["POSIX WRITES"].replica == 32
    pairing.pairs[0].replica.modules.clear()
    assert rows(pairing) == {}


def test_a_counter_that_no_replica_has_is_not_shown() -> None:
    pairing = perfect()
    pairing.pairs[0].original.modules["POSIX"]["MODE"] = 3
    assert "POSIX MODE" not in rows(pairing)
    pairing.pairs[0].replica.modules["POSIX"]["MODE"] = 3
    row = rows(pairing)["POSIX MODE"]
    assert (row.comparable, row.expected, row.error_pct) == (False, None, None)
    assert "permission" in row.reason


def test_families_at_and_below_a_level_are_apart() -> None:
    pairing = perfect(2)
    above = pairing.pairs[1]
    above.original.level = above.replica.level = Level.MPIIO
    found = [r for r in counter_rows(pairing.pairs, pairing) if r.counter == "WRITES"]
    assert [(r.module, r.at_level, r.original) for r in found] == [("POSIX", True, 32), ("POSIX", False, 32)]


@pytest.mark.parametrize(("writes", "error"), [(32, 0.0), (33, 3.125), (31, 3.125)])
def test_a_count_is_right_or_not(writes: int, error: float) -> None:
    pairing = perfect()
    pairing.pairs[0].replica.modules["POSIX"]["WRITES"] = writes
    assert rows(pairing)["POSIX WRITES"].error_pct == error


def test_bytes_may_be_off_by_the_rounding_alone() -> None:
    pairing = perfect()
    pairing.pairs[0].replica.modules["POSIX"]["BYTES_WRITTEN"] += 1
    assert rows(pairing)["POSIX BYTES_WRITTEN"].error_pct > 0  # type: ignore[operator]
    pairing.factors = Factors(1.0, 0.5, 1.0)
    assert rows(pairing)["POSIX BYTES_WRITTEN"].error_pct == 0
    pairing.pairs[0].replica.modules["POSIX"]["WRITES"] += 1
    assert rows(pairing)["POSIX WRITES"].error_pct == 3.125


@pytest.mark.parametrize("side", ["original", "replica"])
def test_what_was_not_measured(side: str) -> None:
    pairing = perfect()
    getattr(pairing, side).unmeasured.add(("POSIX", "WRITES"))
    row = rows(pairing)["POSIX WRITES"]
    assert row.reason == f"not measured in the {side}"
    assert getattr(row, side) is None
    assert {row.original, row.replica} == {None, 32}


def test_a_partial_original_is_compared_at_the_level_only() -> None:
    pairing = at(Level.MPIIO, {INDEPENDENT: 8})
    for family in (pairing.pairs[0].original, pairing.pairs[0].replica):
        family.modules["POSIX"] = {"WRITES": 8}
    pairing.original.partial = {"POSIX", "MPI-IO"}
    found = rows(pairing)
    assert found["POSIX WRITES"].reason == "module POSIX of the original is partial"
    assert found[f"MPI-IO {INDEPENDENT}"].comparable
    pairing.replica.partial = {"MPI-IO"}
    assert rows(pairing)[f"MPI-IO {INDEPENDENT}"].reason == "module MPI-IO of the replica is partial"


def test_where_only_bytes_are_given_only_they_are_compared() -> None:
    pairing = perfect()
    pairing.pairs[0].scaled.whole.fitted = True
    found = rows(pairing)
    assert found["POSIX BYTES_WRITTEN"].comparable
    assert found["POSIX WRITES"].reason == "only bytes are given; the library decides its operations"
    assert histogram_distance(pairing.pairs, Direction.WRITE) is None
    pairing.pairs[0].original.level = Level.MPIIO
    assert rows(pairing)["POSIX WRITES"].comparable


@pytest.mark.parametrize("kind", ["SPLIT_WRITES", "NB_WRITES"])
def test_kinds_of_calls_are_compared_where_all_are_known(kind: str) -> None:
    counters = {"INDEP_WRITES": 3, "COLL_WRITES": 2, INDEPENDENT: 5, "COLL_READS": 1}
    assert all(row.comparable for row in rows(at(Level.MPIIO, counters)).values())
    found = rows(at(Level.MPIIO, counters | {kind: 1}))
    assert "see the sum" in found["MPI-IO INDEP_WRITES"].reason
    assert "see the sum" in found["MPI-IO COLL_WRITES"].reason
    assert found[f"MPI-IO {INDEPENDENT}"].comparable
    assert found["MPI-IO COLL_READS"].comparable


def test_modules_in_the_order_of_levels() -> None:
    pairing = at(Level.POSIX, {"WRITES": 1})
    for side in (pairing.pairs[0].original, pairing.pairs[0].replica):
        side.modules |= {m: {"WRITES": 1} for m in ("STDIO", "H5D")} | {"H5F": {"OPENS": 1}}
    shown = [r.module for r in counter_rows(pairing.pairs, pairing)]
    assert shown == ["H5D", "STDIO", "POSIX", "H5F"]


def distance(pairing: Pairing) -> Any:
    return histogram_distance(pairing.pairs, Direction.WRITE)


def test_histograms_are_added_over_families() -> None:
    """All in one bin, and half of one family's elsewhere: a quarter of all operations."""
    pairing = perfect(2)
    assert distance(pairing) == 0
    pairing.pairs[1].replica.modules["POSIX"] |= {"SIZE_WRITE_100K_1M": 16, "SIZE_WRITE_0_100": 16}
    assert distance(pairing) == 0.25
    pairing.pairs[0].original.level = pairing.pairs[0].replica.level = Level.STDIO
    assert distance(pairing) == 0.5
    pairing.pairs[1].replica = SideFamily(
        pairing.pairs[1].original.role, 1, Level.STDIO, modules={"STDIO": {"WRITES": 1}}
    )
    assert distance(pairing) is None
