"""What a perfect replica counts, law by law, with figures by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workalike.compare.expect import Scaled, expected, expected_bins, ratio, total_variation
from workalike.compare.side import Counters, SideFamily, sum_name
from workalike.workload.model import Direction, Level, Role


def planned(level: Level = Level.POSIX, files: int = 1, accessors: int = 4, **counters: int) -> SideFamily:
    made = SideFamily(Role.CHECKPOINT, 1, level, files=files, accessors=accessors)
    made.modules[made.module] = dict(counters)
    return made


def half(level: Level = Level.POSIX) -> Scaled:
    """Half the bytes by 2 of 4 ranks: half the writes, a quarter of the opens, reads are gone from the plan."""
    return Scaled(
        0.5,
        planned(level, WRITES=40, READS=0, OPENS=8, SIZE_WRITE_1K_10K=40, COLL_WRITES=40),
        planned(level, accessors=2, WRITES=20, READS=0, OPENS=2, SIZE_WRITE_1K_10K=20, COLL_WRITES=20),
    )


@pytest.mark.parametrize(
    ("counter", "original", "value"),
    [
        ("BYTES_WRITTEN", {"BYTES_WRITTEN": 1000}, 500),
        ("WRITES", {"WRITES": 44}, 22),
        ("OPENS", {"OPENS": 12}, 3),
        ("READS", {"READS": 10}, 5),  # the plan has none to scale by: the factor of the bytes
        ("SIZE_WRITE_1K_10K", {"SIZE_WRITE_1K_10K": 44}, 22),  # 20 of the plan, half of the 4 others
        ("SIZE_WRITE_1K_10K", {"SIZE_WRITE_1K_10K": 36}, 18),
        ("SIZE_WRITE_0_100", {"SIZE_WRITE_0_100": 6}, 3),
        ("MAX_BYTE_WRITTEN", {"MAX_BYTE_WRITTEN": 999}, 499),
        ("MAX_BYTE_WRITTEN", {"MAX_BYTE_WRITTEN": 0}, 0),
        ("MODE", {"MODE": 420}, 420),  # no law
        ("WRITES", {}, 0),
    ],
)
def test_laws_at_another_scale(counter: str, original: Counters, value: float) -> None:
    assert expected(half(), "POSIX", counter, original) == value


@pytest.mark.parametrize(
    ("counter", "original", "value"),
    [
        # 40 writes, 36 consecutive: 4 ranks' first ones, of which 2 ranks are left
        ("CONSEC_WRITES", {"WRITES": 40, "CONSEC_WRITES": 36}, 20 - 2),
        # 10 are not: the 4 first ones and 6 others, of which half are left
        ("CONSEC_WRITES", {"WRITES": 40, "CONSEC_WRITES": 30}, 20 - 2 - 3),
        # 3 are not: fewer than there are ranks
        ("CONSEC_WRITES", {"WRITES": 40, "CONSEC_WRITES": 37}, 20 - 1.5),
        # one file at either scale
        ("SEQ_WRITES", {"WRITES": 40, "SEQ_WRITES": 39}, 20 - 1),
        ("SEQ_WRITES", {"WRITES": 40, "SEQ_WRITES": 35}, 20 - 1 - 2),
        ("SEQ_WRITES", {"WRITES": 40, "SEQ_WRITES": 0}, 0),
        ("SEQ_WRITES", {"WRITES": 40}, 0),
        ("SEQ_WRITES", {"WRITES": 40, "SEQ_WRITES": 45}, 20),  # more than there are: all follow
    ],
)
def test_accesses_that_follow(counter: str, original: Counters, value: float) -> None:
    assert expected(half(), "POSIX", counter, original) == value


def test_accesses_that_follow_where_the_plan_has_no_ranks_or_files() -> None:
    nobody = Scaled(0.5, planned(accessors=0, files=0, WRITES=40), planned(accessors=1, files=1, WRITES=20))
    assert expected(nobody, "POSIX", "CONSEC_WRITES", {"WRITES": 40, "CONSEC_WRITES": 36}) == 20 - 2


def test_extent_is_that_of_one_file() -> None:
    """Half the bytes in a quarter of the files: each is twice as long."""
    fewer = replace(half(), files=(8, 2))
    assert expected(fewer, "POSIX", "MAX_BYTE_WRITTEN", {"MAX_BYTE_WRITTEN": 999}) == 1999


def test_below_the_level_the_family_s_own_operations_stand_in() -> None:
    scaled = half(Level.H5D)
    scaled.part.modules["H5D"] |= {"WRITES": 10, "READS": 3}
    scaled.whole.modules["H5D"] |= {"READS": 4}
    assert ratio(scaled, "POSIX", "WRITES") == 0.25
    assert ratio(scaled, "POSIX", "READS") == 0.75
    assert ratio(scaled, "POSIX", "STATS") == 0.25  # as opens
    assert expected(scaled, "POSIX", "SIZE_WRITE_0_100", {"SIZE_WRITE_0_100": 8}) == 2
    assert expected(scaled, "POSIX", "SIZE_READ_0_100", {"SIZE_READ_0_100": 8}) == 6


def test_sums_stand_for_operations_of_several_names() -> None:
    writes = sum_name("MPI-IO", "WRITES")
    scaled = Scaled(
        0.5, planned(Level.MPIIO, **{writes: 40}), planned(Level.MPIIO, accessors=2, **{writes: 10})
    )
    assert expected(scaled, "MPI-IO", "SIZE_WRITE_AGG_0_100", {"SIZE_WRITE_AGG_0_100": 8}) == 2


def test_nothing_changes_at_full_scale() -> None:
    full = Scaled(1.0, planned(WRITES=40), planned(WRITES=20))
    assert full.full
    assert expected(full, "POSIX", "WRITES", {"WRITES": 41}) == 41
    assert not Scaled(1.0, planned(accessors=4), planned(accessors=3)).full
    assert not half().full


def test_bins_are_those_of_the_level() -> None:
    family = planned(SIZE_WRITE_1K_10K=44, SIZE_READ_0_100=4)
    assert expected_bins(half(), family, Direction.WRITE) == [0, 0, 22, 0, 0, 0, 0, 0, 0, 0]
    assert expected_bins(half(), family, Direction.READ) == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert expected_bins(half(), planned(Level.STDIO), Direction.READ) is None


@pytest.mark.parametrize(
    ("these", "those", "distance"),
    [
        ([1, 0], [3, 0], 0),  # shares, not counts
        ([1, 0], [0, 1], 1),
        ([1, 1], [1, 3], 0.25),
        ([0, 0], [0, 0], 0),
        ([0, 0], [1, 0], 1),
        ([1, 0], [0, 0], 1),
    ],
)
def test_distance_of_histograms(these: list[float], those: list[float], distance: float) -> None:
    assert total_variation(these, those) == distance
