"""Which ranks begin later than others in the dumps of a family."""

from __future__ import annotations

import numpy as np
import pytest
from test_windows import READ, WRITE, family_of, file_of, record, windows_of

from workalike.characterize.result import FamilyFacts
from workalike.characterize.times.skew import delays_of, skew_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Sharing, SharingMode
from workalike.workload.schedule import Skew

RUN = 100.0


def turns(*ranks: tuple[float, float, float]) -> FamilyFacts:
    """Three dumps of the same files, of ranks that begin the first one, close it, and end the last one at these times."""
    files = []
    for rank, (start, closed, end) in enumerate(ranks):
        stamps = {"F_CLOSE_START_TIMESTAMP": closed, "F_OPEN_END_TIMESTAMP": 50.0}
        files.append(file_of(str(rank), {rank: record((start, end, 0.5)) | stamps}))
    spans = [(10.0, 20.0), (30.0, 40.0), (50.0, 60.0)]
    return family_of([files] * 3, spans, [(WRITE,)] * 3, sharing=Sharing(mode=SharingMode.PER_RANK))


def edges(facts: FamilyFacts, nprocs: int = 2) -> list[tuple[object, float, int | None]]:
    window = windows_of(facts, nprocs=nprocs)[0].writes
    return [] if window is None else [(late.ranks, late.delay, late.dump) for late in window.skew]


def test_late_in_the_first_dump_and_in_the_last() -> None:
    """Of dumps that share the files of ranks, a log has the first start and the last end of each rank."""
    facts = turns((10.0, 12.0, 58.0), (13.0, 17.0, 60.0))
    assert edges(facts) == [([(1, 1, 1)], 3.0, 0), ([(1, 1, 1)], 2.0, 2)]
    window = windows_of(facts, nprocs=2)[0].writes
    assert window is not None
    assert window.last == [3.0, 10.0, 8.0]  # on average after 2 and 4 s; not known; when the first rank ends


def test_other_ranks_may_be_late_in_the_first_dump_than_in_the_last() -> None:
    found = edges(turns((13.0, 15.0, 58.0), (10.0, 12.0, 60.0)))
    assert found == [([(0, 0, 1)], 3.0, 0), ([(1, 1, 1)], 2.0, 2)]


@pytest.mark.parametrize(
    "facts",
    [
        turns((10.0, 12.0, 58.0), (10.4, 12.0, 58.4)),  # less than half a per cent of the run
        turns((10.0, 12.0, 58.0)),  # times of one rank of two
    ],
)
def test_nobody_is_late_at_the_edges(facts: FamilyFacts) -> None:
    assert edges(facts) == []


def skew(*dumps: list[float], run_time: float = RUN) -> list[tuple[object, float]]:
    found = skew_of(np.array(dumps), np.arange(len(dumps[0])), run_time)
    return [(group.ranks, group.delay) for group in found]


def per_rank(*starts: float) -> FamilyFacts:
    """A dump from 10 to 20 s, in which each rank writes a file of its own for 2 s."""
    files = [file_of(str(r), {r: record((start, start + 2.0, 0.5))}) for r, start in enumerate(starts)]
    return family_of([files], [(10.0, 20.0)], [(WRITE,)], sharing=Sharing(mode=SharingMode.PER_RANK))


def test_groups_of_late_ranks() -> None:
    assert skew([10.0, 10.0, 13.0, 13.0, 15.0, 10.0]) == [([(2, 3, 1)], 3.0), ([(4, 4, 1)], 5.0)]


@pytest.mark.parametrize(("delay", "late"), [(0.49, False), (0.51, True)])
def test_half_a_per_cent_of_the_run_counts(delay: float, late: bool) -> None:
    assert bool(skew([10.0, 10.0 + delay])) is late


@pytest.mark.parametrize(("delay", "late"), [(0.004, False), (0.006, True)])
def test_less_than_five_milliseconds_do_not(delay: float, late: bool) -> None:
    assert bool(skew([0.1, 0.1 + delay], run_time=0.2)) is late


def test_ranks_that_are_late_in_another_order_in_each_dump_are_not() -> None:
    rng = np.random.default_rng(3)
    usual = rng.uniform(0, 5, (20, 8))
    assert skew(*usual.tolist()) == []
    usual[:, 5] += 40
    assert [ranks for ranks, _ in skew(*usual.tolist())][-1] == [(5, 5, 1)]


@pytest.mark.parametrize(("factor", "late"), [(2.5, False), (3.5, True)])
def test_the_noise_decides(factor: float, late: bool) -> None:
    """Delays that vary by a second from dump to dump."""
    dumps = [
        [10.0, 10.0 + factor + (1.0 if k % 2 else -1.0), 10.0 + (2.0 if k % 2 else 0.0)] for k in range(4)
    ]
    assert bool(skew(*dumps)) is late


@pytest.mark.parametrize(
    "dumps",
    [
        [[10.0, 10.0, 11.0, 10.0], [20.0, 20.0, 20.0, 21.0]],  # each in one dump
        [[10.0, 11.0, 10.0], [20.0, 21.0, 20.0], [30.0, 30.0, 30.0]],  # in two of three
        [[10.0, 11.0], [20.0, 20.0], [30.0, 31.0], [40.0, 40.0]],
    ],
)
def test_ranks_that_are_late_in_some_dumps_are_not_late_in_every_dump(dumps: list[list[float]]) -> None:
    assert skew(*dumps) == []


def test_a_dump_without_times_of_each_rank_tells_nothing() -> None:
    files = [file_of(str(r), {r: record((11.0 + 3 * r, 14.0 + 3 * r, 0.5))}) for r in range(2)]
    facts = family_of([files], [(10.0, 20.0)], [(WRITE,)], sharing=Sharing(mode=SharingMode.PER_RANK))
    for members, late in ((2, True), (3, False)):
        schedule, _ = windows_of(facts, nprocs=members)
        assert schedule.writes is not None
        assert bool(schedule.writes.skew) is late
    assert skew_of(np.empty((0, 2)), np.arange(2), RUN) == []


def test_many_ranks_that_are_late_at_random_are_not_listed() -> None:
    late = np.random.default_rng(5).uniform(0, 50, 1000).tolist()
    assert skew(late) == []


def test_a_ramp_is_at_most_so_many_groups() -> None:
    groups = skew(np.linspace(10, 60, 1000).tolist())
    assert 8 < len(groups) <= THRESHOLDS.skew_groups
    delays = delays_of([Skew(ranks=ranks, delay=delay) for ranks, delay in groups])  # type: ignore[arg-type]
    errors = [abs(delays.get(rank, 0.0) - 50 * rank / 999) for rank in range(1000)]
    assert max(errors) <= 50 / THRESHOLDS.skew_groups


def test_the_window_is_that_of_ranks_in_time() -> None:
    schedule, _ = windows_of(per_rank(11.0, 11.0, 14.0, 11.0))
    assert schedule.writes is not None
    assert (schedule.writes.first, schedule.writes.last) == (1.0, 3.0)
    assert schedule.writes.skew == [Skew(ranks=[(2, 2, 1)], delay=3.0)]


def test_ranks_of_a_reduced_record_are_not_known() -> None:
    facts = family_of([[file_of("a", {-1: record((11.0, 16.0, 2.0))})]], [(10.0, 20.0)], [(WRITE,)])
    schedule, _ = windows_of(facts)
    assert schedule.writes is not None
    assert schedule.writes.skew == []


def test_each_direction_has_its_own() -> None:
    """Ranks that begin to write one after the other, and to read together."""
    files = [file_of(str(r), {r: record((10.0 + r, 10.2 + r, 0.1), (17.0, 18.0, 0.5))}) for r in range(4)]
    facts = family_of([files], [(10.0, 20.0)], [(WRITE, READ)], sharing=Sharing(mode=SharingMode.PER_RANK))
    schedule, _ = windows_of(facts)
    assert schedule.writes is not None
    assert schedule.reads is not None
    assert [late.delay for late in schedule.writes.skew] == [1.0, 2.0, 3.0]
    assert schedule.reads.skew == []
