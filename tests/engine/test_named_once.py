"""Groups of ranks that must not share any: found by arithmetic, as a look at each rank would."""

from __future__ import annotations

import random
import time

from workalike import _core

Groups = list[list[tuple[int, int, int]]]


def random_groups(rng: random.Random, ranks: int) -> Groups:
    groups: Groups = []
    for _ in range(rng.randint(1, 6)):
        spans, first = [], rng.randrange(ranks)
        while first < ranks and len(spans) < 3:
            step = rng.randint(1, 12)
            last = min(first + step * rng.randint(0, 9), ranks - 1)
            last -= (last - first) % step
            spans.append((first, last, step))
            first = last + rng.randint(1, 9)
        groups.append(spans)
    return groups


def named_by(groups: Groups) -> dict[int, list[int]]:
    """The groups that name each rank."""
    out: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        for first, last, step in group:
            for rank in range(first, last + 1, step):
                out.setdefault(rank, []).append(number)
    return out


def test_random_groups() -> None:
    shared = 0
    for seed in range(3000):
        rng = random.Random(seed)
        groups = random_groups(rng, rng.choice([20, 60, 10_000]))
        twice = {rank: numbers for rank, numbers in named_by(groups).items() if len(numbers) > 1}
        found = _core.named_twice(groups, 10_000)
        assert (found is None) == (not twice), seed
        if found is not None:
            assert found[0] in twice[found[1]][1:], seed
            shared += 1
    assert 500 < shared < 2500


def test_many_spans_that_interleave() -> None:
    """More pairs than ranks: each rank is looked at."""
    groups = [[(i, 6_999 - (6_999 - i) % 700, 700)] for i in range(700)]
    assert _core.named_twice(groups, 7_000) is None
    assert _core.named_twice([*groups, [(6_500, 6_500, 1)]], 7_000) == (700, 6_500)


def test_the_largest_jobs_take_no_time() -> None:
    ranks = 2**24
    begun = time.process_time()
    for _ in range(1000):
        assert _core.named_twice([[(0, ranks - 1, 1)]], ranks) is None
        assert _core.named_twice([[(0, ranks - 2, 2)], [(1, ranks - 1, 2)]], ranks) is None
        assert _core.named_twice([[(0, ranks - 2, 2)], [(1, ranks - 1, 7)]], ranks) == (1, 8)
    assert time.process_time() - begun < 5
