"""Few combinations in which every pair of levels occurs: those of two factors each, chosen greedily."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import combinations

import numpy as np

MOST_PAIRS = 20_000_000
"""Pairs of levels of all pairs of factors; a design of more would hardly be a small one."""
CHUNK = 2_000_000
"""Numbers that are computed at once."""


def covering(candidates: Sequence[Sequence[str]]) -> list[int]:
    """The places of candidates that together have every pair of levels that any of them has.

    Each next one is the first of those with the most pairs that are still missing. What a candidate adds only falls, so
    it is counted anew only when it is next by its last count.

    Args:
        candidates: rows of levels, one for each factor, all of one length.

    Returns:
        Nothing for fewer than two factors.

    Raises:
        ValueError: there are more pairs than `MOST_PAIRS`.
    """
    if not candidates or len(candidates[0]) < 2:
        return []
    pairs = _Pairs(candidates)
    missing = pairs.all_of_them()
    left = int(missing.sum())
    order = [(-pairs.width, place) for place in range(len(candidates))]  # a heap, as it is
    chosen = []
    while left:
        _, place = heapq.heappop(order)
        own = pairs.covered_by(place)
        added = int(missing[own].sum())
        if order and (-added, place) > order[0]:
            if added:
                heapq.heappush(order, (-added, place))
            continue
        chosen.append(place)
        missing[own] = False
        left -= added
    return chosen


class _Pairs:
    """The pairs of levels of each candidate, as numbers."""

    def __init__(self, candidates: Sequence[Sequence[str]]) -> None:
        columns = [_numbered(column) for column in zip(*candidates, strict=True)]
        self._levels = np.array([numbers for numbers, _ in columns], dtype=np.int64).T
        sizes = [size for _, size in columns]
        both = list(combinations(range(len(sizes)), 2))
        products = [sizes[first] * sizes[second] for first, second in both]
        if sum(products) > MOST_PAIRS:
            raise ValueError(f"more than {MOST_PAIRS:,} pairs of levels: choose another `design`")
        self.width = len(both)
        self._total = sum(products)
        self._first = np.array([first for first, _ in both])
        self._second = np.array([second for _, second in both])
        self._factor = np.array([sizes[second] for _, second in both])
        self._start = np.concatenate([[0], np.cumsum(products)[:-1]])

    def covered_by(self, places: int | slice) -> np.ndarray:
        """The pairs of one candidate, or of several, a row for each."""
        levels = self._levels[places]
        return np.asarray(self._start + levels[..., self._first] * self._factor + levels[..., self._second])

    def all_of_them(self) -> np.ndarray:
        """Which pairs any candidate has."""
        found = np.zeros(self._total, dtype=bool)
        step = max(1, CHUNK // self.width)
        for start in range(0, len(self._levels), step):
            found[self.covered_by(slice(start, start + step))] = True
        return found


def _numbered(column: Sequence[str]) -> tuple[list[int], int]:
    """(each word as a number, how many there are)."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(column))}
    return [numbers[word] for word in column], len(numbers)
