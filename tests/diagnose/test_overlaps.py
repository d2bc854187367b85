"""Overlapping pairs are those of a comparison of each access with each other one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from workalike.diagnose.conflicts.events import ACCESS
from workalike.diagnose.conflicts.overlaps import overlapping


def made(seed: int, count: int, ranks: int, writes: float, longest: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    out = np.zeros(count, dtype=ACCESS)
    out["file"] = random.integers(0, 3, count)
    out["rank"] = random.integers(0, ranks, count)
    out["offset"] = random.integers(0, 60, count)
    out["end"] = out["offset"] + random.integers(0, longest, count)
    out["write"] = random.random(count) < writes
    return out


def by_comparison(accesses: np.ndarray) -> set[frozenset[int]]:
    return {
        frozenset((this, other))
        for this, other in itertools.combinations(range(len(accesses)), 2)
        if accesses["file"][this] == accesses["file"][other]
        and accesses["rank"][this] != accesses["rank"][other]
        and (accesses["write"][this] or accesses["write"][other])
        and max(accesses["offset"][this], accesses["offset"][other])
        < min(accesses["end"][this], accesses["end"][other])
    }


@pytest.mark.parametrize("writes", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("longest", [2, 8, 60])
def test_pairs_are_those_of_a_comparison(writes: float, ranks: int, longest: int) -> None:
    for seed in range(5):
        accesses = made(seed, 40, ranks, writes, longest)
        found = list(overlapping(accesses))
        assert len(found) == len(set(map(frozenset, found)))
        assert set(map(frozenset, found)) == by_comparison(accesses)


def test_nothing_overlaps_nothing() -> None:
    assert list(overlapping(np.zeros(0, dtype=ACCESS))) == []
