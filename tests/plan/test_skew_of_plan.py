"""Late ranks of a workload in a plan of other ranks."""

from __future__ import annotations

import random
import time

from workalike.plan.skew import skew_at
from workalike.workload.model import Window
from workalike.workload.schedule import Schedule, Skew

RANKS = 24


def delays_of(groups: list[Skew]) -> list[float]:
    out = [0.0] * RANKS
    for group in groups:
        for first, last, step in group.ranks or [(0, RANKS - 1, 1)]:
            for rank in range(first, last + 1, step):
                out[rank] = group.delay
    return out


def random_groups(rng: random.Random) -> list[Skew]:
    if rng.random() < 0.1:
        return [Skew(ranks=None, delay=2.0)]
    first = rng.randrange(4)
    return [
        Skew(ranks=[(first, first + 9, 3), (first + 12, first + 12, 1)], delay=rng.choice([0.0, 1.5])),
        Skew(ranks=[(first + 1, first + 7, 3), (20, 22, 2)], delay=rng.choice([0.5, 1.5])),
    ]


def test_a_rank_that_stands_for_several_begins_as_the_first_of_them() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        groups, new = random_groups(rng), rng.choice([1, 2, 5, 23, 24, 25, 48, 100])
        found = skew_at(Schedule(count=1, duration=9.0, writes=Window(skew=groups)), RANKS, new)
        delays = [0.0] * new
        for group in (found and found.writes) or []:
            for first, last, step in group.ranks:
                for rank in range(first, last + 1, step):
                    assert not delays[rank]
                    delays[rank] = group.delay_s
        old = delays_of(groups)
        assert delays == [old[rank * RANKS // new] for rank in range(new)], seed


def test_the_largest_jobs_take_no_time() -> None:
    """Else a small file of many families would take hours, and a gigabyte."""
    ranks = 2**24
    half = [Skew(ranks=[(0, ranks - 2, 2)], delay=1.0), Skew(ranks=[(1, ranks - 1, 2)], delay=2.0)]
    schedule = Schedule(count=1, duration=9.0, writes=Window(skew=half))
    begun = time.process_time()
    for _ in range(200):
        for new in (1, 16, ranks):
            found = skew_at(schedule, ranks, new)
            assert found is not None and found.writes is not None
    assert time.process_time() - begun < 5
