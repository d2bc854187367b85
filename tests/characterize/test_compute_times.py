"""Compute time inside a dump: its span less the I/O of the busiest rank."""

from __future__ import annotations

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.grouping.events import Event
from workalike.characterize.grouping.families import DataFile
from workalike.characterize.times.compute_time import compute_times, timers_of
from workalike.facts.rank_sets import RankSet
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.workload.model import Direction, Interface, Level

WRITE, READ = Direction.WRITE, Direction.READ


def event(
    *files: dict[int, dict[str, float]],
    span: tuple[float, float] = (10.0, 20.0),
    directions: tuple[Direction, ...] = (WRITE,),
    parts: int = 1,
    level: Level = Level.POSIX,
) -> Event:
    """An event of files at POSIX; each maps a rank (-1: reduced) to its timers."""
    data = [
        DataFile(
            file_facts(str(i), module_facts("POSIX", timers)),
            Interface.POSIX,
            level,
            RankSet(None),
            Interval(*span),
            5,
            5,
        )
        for i, timers in enumerate(files)
    ]
    return Event(data, directions, Interval(*span), 0, parts)


def timers(
    read: float = 0.0, write: float = 0.0, meta: float = 0.0, slowest: float = 0.0
) -> dict[str, float]:
    return {"F_READ_TIME": read, "F_WRITE_TIME": write, "F_META_TIME": meta, "F_SLOWEST_RANK_TIME": slowest}


@pytest.mark.parametrize(
    ("files", "seconds"),
    [
        ([{0: timers(1.0, 2.0, 0.5)}], 6.5),
        ([{0: timers(1.0), 1: timers(4.0)}], 6.0),  # the busiest
        ([{0: timers(1.0)}, {0: timers(4.0)}], 6.0),  # of the files, the busiest
        ([{-1: timers(8.0, 4.0, 0.0)}], 7.0),  # four ranks' sum: their mean
        ([{-1: timers(8.0, 4.0, 0.0, slowest=4.0)}], 6.0),
        ([{0: timers(float("nan"), 2.0, float("inf"))}], 8.0),
        ([{0: timers()}], 0.0),  # no time was counted
        ([{0: timers(10.0)}], 0.0),
        ([{0: timers(12.0)}], 0.0),
    ],
)
def test_span_less_the_time_of_the_busiest_rank(
    files: list[dict[int, dict[str, float]]], seconds: float
) -> None:
    assert compute_times([event(*files)], 4) == pytest.approx(seconds)


def test_times_of_a_rank_s_records_are_added() -> None:
    both = event({0: timers(1.0)})
    facts = both.files[0].file.modules["POSIX"]
    twice = module_facts("POSIX", {0: timers(1.0), 1: timers(2.0)})
    twice.ranks[:] = 0
    both.files[0].file.modules["POSIX"] = twice
    assert compute_times([both], 4) == pytest.approx(7.0)
    assert len(facts.ranks) == 1


def test_little_compute_time_is_none() -> None:
    least = THRESHOLDS.compute_least * 10.0
    assert compute_times([event({0: timers(10.0 - least)})], 4) == 0.0
    assert compute_times([event({0: timers(10.0 - 1.01 * least)})], 4) == pytest.approx(
        1.01 * least, abs=1e-6
    )


def test_an_event_without_a_span_or_a_record_has_none() -> None:
    assert compute_times([event({0: timers(1.0)}, span=(10.0, 10.0))], 4) == 0.0
    assert compute_times([event({0: timers(1.0)}, level=Level.MPIIO)], 4) == 0.0
    assert compute_times([event({0: timers(1.0)}, span=(10.0, 10.5))], 4) == 0.0


def test_dumps_that_differ_have_a_list() -> None:
    slow, quick = event({0: timers(4.0)}), event({0: timers(1.0)})
    assert compute_times([slow, quick], 4) == [6.0, 9.0]
    assert compute_times([slow, slow], 4) == 6.0


def test_parts_of_a_file_have_their_own_timers() -> None:
    whole = {0: timers(1.0, 2.0, 0.5)}
    assert timers_of(event(whole, parts=2)) == ("F_WRITE_TIME", "F_META_TIME")
    assert compute_times([event(whole, parts=2)], 4) == 7.5
    assert compute_times([event(whole, parts=2, directions=(READ,))], 4) == 8.5
    reduced = {-1: timers(2.0, 6.0, 0.0, slowest=4.0)}
    assert compute_times([event(reduced, parts=2)], 4) == 7.0  # three quarters of the slowest rank's 4 s


def test_nonsense_is_limited() -> None:
    most = THRESHOLDS.compute_most
    long = event({0: timers(-5.0, 10 * most)}, span=(0.0, 3 * most))
    assert compute_times([long], 4) == pytest.approx(2 * most)


def test_shares_of_less_than_a_second() -> None:
    reduced = {-1: timers(0.25, 0.5, 0.0, slowest=0.5)}
    assert compute_times([event(reduced)], 4) == 9.5
    assert compute_times([event(reduced, parts=2)], 4) == pytest.approx(10 - 0.5 * 2 / 3, abs=1e-6)
