"""What cannot be true is not used: counters, timestamps and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from facts_by_hand import file_facts, module_facts

from workalike.facts.plausible import impossible_times, latest_stamp, plausible, plausible_stamps
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval, access_interval, open_interval, whole_interval
from workalike.workload.words import Direction, Level

LIMITS = {
    "BYTES_READ": THRESHOLDS.plausible_bytes,
    "ACCESS1_ACCESS": THRESHOLDS.plausible_bytes,
    "MAX_BYTE_READ": THRESHOLDS.plausible_extent,
    "READS": THRESHOLDS.plausible_operations,
    "ACCESS1_COUNT": THRESHOLDS.plausible_operations,
    "SIZE_READ_0_100": THRESHOLDS.plausible_operations,
    "MODE": THRESHOLDS.plausible_else,
}


@pytest.mark.parametrize("name", LIMITS)
def test_counters_up_to_their_limits_are_kept(name: str) -> None:
    values = np.array([[LIMITS[name]], [LIMITS[name] + 1], [-1], [-2], [0]], dtype=np.int64)
    kept, doubted = plausible(values, (name,))
    assert kept[:, 0].tolist() == [LIMITS[name], -1, -1, -1, 0]
    assert doubted.tolist() == [False, name == "BYTES_READ", False, name == "BYTES_READ", False]


def test_an_id_may_be_anything_and_bytes_of_either_direction_are_doubted() -> None:
    names = ("RENAMED_FROM", "BYTES_WRITTEN", "BYTES_READ")
    kept, doubted = plausible(np.array([[-(2**63), 5, 5], [7, -9, 5], [7, 5, -9]], dtype=np.int64), names)
    assert kept.tolist() == [[-(2**63), 5, 5], [7, -1, 5], [7, 5, -1]]
    assert doubted.tolist() == [False, True, True]


def test_stamps_that_can_be_true() -> None:
    stamps = np.array([np.nan, np.inf, -1.0, 0.0, 1.0, 5.0, 5.1])
    assert plausible_stamps(stamps, 5.0).tolist() == [1.0, 5.0]
    late = THRESHOLDS.plausible_late * 10.0 + THRESHOLDS.plausible_late_s
    assert latest_stamp(10.0) == late
    assert latest_stamp(1e18) == THRESHOLDS.plausible_run


@pytest.mark.parametrize(
    ("name", "value", "impossible"),
    [
        ("F_WRITE_TIME", 3.0, False),
        ("F_WRITE_TIME", 1e6, False),  # of many ranks together
        ("F_WRITE_TIME", -1.0, False),  # not in this version
        ("F_WRITE_TIME", -0.9e-3, False),
        ("F_WRITE_TIME", -1.1e-3, True),
        ("F_WRITE_TIME", float("nan"), False),
        ("F_WRITE_TIME", float("inf"), False),
        ("F_OPEN_START_TIMESTAMP", 100.0, False),
        ("F_OPEN_START_TIMESTAMP", 100.1, True),
        ("F_OPEN_START_TIMESTAMP", float("nan"), False),
        ("F_VARIANCE_RANK_TIME", -3.0, False),
    ],
)
def test_impossible_times(name: str, value: float, impossible: bool) -> None:
    columns = np.array([[1.0, 1.0], [1.0, value], [1.0, 0.0]])
    assert impossible_times(columns, ("F_READ_TIME", name), 100.0) is impossible


def test_intervals_overlap_where_both_have_time() -> None:
    interval = Interval(1.0, 2.0)
    assert (
        interval.overlaps(Interval(1.5, 3.0))
        and interval.overlaps(Interval(0.0, 1.1))
        and interval.overlaps(interval)
    )
    assert not interval.overlaps(Interval(2.0, 3.0)) and not interval.overlaps(Interval(0.0, 1.0))


def stamps(module: str, *records: tuple[float, float], kind: str = "READ") -> object:
    start, end = (
        ("F_OPEN_START_TIMESTAMP", "F_CLOSE_END_TIMESTAMP")
        if kind == "OPEN"
        else (f"F_{kind}_START_TIMESTAMP", f"F_{kind}_END_TIMESTAMP")
    )
    return module_facts(module, {rank: {start: a, end: b} for rank, (a, b) in enumerate(records)})


@pytest.mark.parametrize(
    ("records", "interval"),
    [
        ([(1.0, 2.0)], Interval(1.0, 2.0)),
        ([(1.0, 2.0), (0.5, 1.5), (0.0, 9.0)], Interval(0.5, 9.0)),
        ([(3.0, 2.0)], Interval(3.0, 3.0)),  # never ends before it begins
        ([(0.0, 2.0)], None),
        ([(1.0, 1e9)], None),
        ([(0.0, 2.0), (-1.0, 3.0)], None),
        ([(float("nan"), 2.0), (1.0, float("nan"))], Interval(1.0, 2.0)),
    ],
)
def test_accesses_of_a_direction(records: list[tuple[float, float]], interval: Interval | None) -> None:
    file = file_facts("a", stamps("POSIX", *records))  # type: ignore[arg-type]
    assert access_interval(file, Level.POSIX, Direction.READ, 10.0) == interval
    assert access_interval(file, Level.POSIX, Direction.WRITE, 10.0) is None


def test_times_are_those_of_the_level_and_else_of_the_one_below() -> None:
    mpiio, posix = stamps("MPI-IO", (1.0, 2.0)), stamps("POSIX", (1.5, 1.8))
    both = file_facts("a", mpiio, posix)  # type: ignore[arg-type]
    assert access_interval(both, Level.MPIIO, Direction.READ, 10.0) == Interval(1.0, 2.0)
    assert access_interval(both, Level.POSIX, Direction.READ, 10.0) == Interval(1.5, 1.8)
    assert access_interval(file_facts("a", posix), Level.MPIIO, Direction.READ, 10.0) == Interval(1.5, 1.8)  # type: ignore[arg-type]
    bare = file_facts("a", stamps("MPI-IO", (0.0, 0.0)), posix)  # type: ignore[arg-type]
    assert access_interval(bare, Level.MPIIO, Direction.READ, 10.0) == Interval(1.5, 1.8)


def test_opens_and_the_whole_life() -> None:
    opened = file_facts("a", stamps("POSIX", (2.0, 5.0), kind="OPEN"))  # type: ignore[arg-type]
    assert open_interval(opened, Level.POSIX, 10.0) == Interval(2.0, 5.0)
    instant = file_facts("a", stamps("POSIX", (2.0, 2.0), kind="OPEN"))  # type: ignore[arg-type]
    assert open_interval(instant, Level.POSIX, 10.0) == Interval(2.0, 2.0)
    turned = file_facts("a", stamps("POSIX", (5.0, 2.0), kind="OPEN"))  # type: ignore[arg-type]
    assert open_interval(turned, Level.POSIX, 10.0) is None
    assert whole_interval(turned, Level.POSIX, 10.0) == Interval(0.0, 10.0)
    facts = module_facts(
        "POSIX",
        {
            0: {
                "F_OPEN_START_TIMESTAMP": 2.0,
                "F_CLOSE_END_TIMESTAMP": 5.0,
                "F_READ_START_TIMESTAMP": 1.0,
                "F_READ_END_TIMESTAMP": 3.0,
                "F_WRITE_START_TIMESTAMP": 4.0,
                "F_WRITE_END_TIMESTAMP": 7.0,
            }
        },
    )
    assert whole_interval(file_facts("a", facts), Level.POSIX, 10.0) == Interval(1.0, 7.0)
