"""One side of a comparison: dumps, counters and their sums."""

from __future__ import annotations

import pytest

from workalike.compare.side import (
    Counters,
    SideDump,
    SideFamily,
    add_sums,
    direction_of,
    histogram_names,
    merge,
    totals,
)
from workalike.workload.model import Direction, Level, Role


def test_a_dump_moves_both_directions() -> None:
    dump = SideDump(30, 12, 1.0, 4.0, open_s=2.0)
    assert dump.moved == 42
    assert [dump.bytes_of(d) for d in (Direction.WRITE, Direction.READ)] == [30, 12]
    assert dump.bandwidth == 21.0
    assert SideDump(30, 12, 1.0, 4.0).bandwidth is None
    assert SideDump(30, 12, 1.0, 4.0, open_s=0.0).bandwidth is None
    assert SideDump(0, 0, 1.0, 4.0, open_s=2.0).bandwidth is None


def test_a_family_s_name_and_histogram() -> None:
    family = SideFamily(Role.RESTART, 2, Level.MPIIO)
    family.modules = {"MPI-IO": {"SIZE_READ_AGG_0_100": 3}, "POSIX": {"SIZE_READ_0_100": 5}}
    assert (family.name, family.module) == ("restart 2", "MPI-IO")
    assert family.bins(Direction.READ) == [3] + [0] * 9
    assert family.bins(Direction.WRITE) == [0] * 10
    assert SideFamily(Role.LOG, 1, Level.STDIO).bins(Direction.READ) is None
    assert SideFamily(Role.LOG, 1, Level.STDIO, label="3 logs").name == "3 logs"


def test_names_of_bins() -> None:
    assert (histogram_names("POSIX", Direction.WRITE) or [])[0] == "SIZE_WRITE_0_100"
    assert (histogram_names("H5D", Direction.READ) or [])[9] == "SIZE_READ_AGG_1G_PLUS"


def test_counters_are_added_and_largest_ones_kept() -> None:
    into: Counters = {"WRITES": 2, "MAX_BYTE_READ": 9}
    merge(into, {"WRITES": 3, "OPENS": 1, "MAX_BYTE_READ": 7, "MAX_BYTE_WRITTEN": 4})
    assert into == {"WRITES": 5, "OPENS": 1, "MAX_BYTE_READ": 9, "MAX_BYTE_WRITTEN": 4}


def test_totals_are_over_families_of_a_module() -> None:
    families = [SideFamily(Role.LOG, n, Level.POSIX, modules={"POSIX": {"WRITES": n}}) for n in (1, 2)]
    families.append(SideFamily(Role.LOG, 3, Level.STDIO, modules={"STDIO": {"WRITES": 9}}))
    assert totals(families, "POSIX") == {"WRITES": 3}


def test_sums_are_of_what_was_counted() -> None:
    counters: Counters = {"COLL_WRITES": 3, "NB_WRITES": 4}
    add_sums("MPI-IO", counters)
    assert counters == {
        "COLL_WRITES": 3,
        "NB_WRITES": 4,
        "INDEP_WRITES+COLL_WRITES+SPLIT_WRITES+NB_WRITES": 7,
    }
    plain: Counters = {"WRITES": 3}
    add_sums("POSIX", plain)
    assert plain == {"WRITES": 3}


@pytest.mark.parametrize(
    ("counter", "direction"),
    [
        ("READS", Direction.READ),
        ("BYTES_READ", Direction.READ),
        ("WRITES", Direction.WRITE),
        ("MAX_BYTE_WRITTEN", Direction.WRITE),
        ("SIZE_WRITE_0_100", Direction.WRITE),
        ("OPENS", None),
        ("F_READ_WRITE_TIME", None),
    ],
)
def test_direction_of_a_counter(counter: str, direction: Direction | None) -> None:
    assert direction_of(counter) is direction
