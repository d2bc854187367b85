"""Intervals that are seen once, at the look that ended a study: effects, efficiencies, slopes, other objectives.

They have no part in when a study ends, and cannot know at which of its looks that is, so that one bound serves at all
looks (Pocock 1977). docs/statistics.md#other-answers-of-a-study-that-stops
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workalike.study.statistics.extra import scipy_stats
from workalike.study.statistics.table import Floats

POINTS, MOST_POINTS = 201, 2001
"""Of the numerical integration between both bounds; more where a look follows soon after another."""
BOUNDS = np.linspace(0.0, 7.0, 36)
"""Of |z|, for which the chance to be crossed at any look is computed; between them it is interpolated."""


@dataclass(frozen=True)
class Looks:
    """After which blocks a study may end by its results; none where their number is fixed, and nothing is corrected."""

    blocks: tuple[int, ...] = ()

    def error(self, any_look: float) -> float:
        """The two-sided error of an interval at one look, so that at any look it is no more than `any_look`."""
        if len(self.blocks) < 2:
            return any_look
        single, ever = _curve(self.blocks)
        if any_look <= ever[-1]:  # so far out, looks no longer have anything in common
            return float(any_look * single[-1] / ever[-1])
        return float(np.exp(np.interp(math.log(any_look), np.log(ever[::-1]), np.log(single[::-1]))))

    def level(self, any_look: float) -> float:
        """The level of an interval at one look, so that it holds with the chance `any_look` at whichever look it is."""
        return 1 - self.error(1 - any_look)

    def p(self, single: float) -> float:
        """The p-value of a test at one look, corrected for the others that might have been the last."""
        if len(self.blocks) < 2 or single <= 0:
            return single
        of_one, ever = _curve(self.blocks)
        if single <= of_one[-1]:
            return float(single * ever[-1] / of_one[-1])
        return float(min(1.0, np.exp(np.interp(math.log(single), np.log(of_one[::-1]), np.log(ever[::-1])))))


ONE_LOOK = Looks()
"""Of a study with a fixed number of blocks."""


@lru_cache(maxsize=32)
def _curve(blocks: tuple[int, ...]) -> tuple[Floats, Floats]:
    """(error of each of `BOUNDS` at one look, the chance that |z| crosses it at any look)."""
    single = np.asarray(2 * scipy_stats().norm.sf(BOUNDS))
    return single, np.array([crossed_at_any(blocks, bound) for bound in BOUNDS.tolist()])


def crossed_at_any(blocks: tuple[int, ...], bound: float) -> float:
    """The chance that |z| of no difference is above a constant bound after any of these numbers of blocks.

    By recursive integration (Armitage, McPherson and Rowe 1969), summed as it is crossed, so that small chances stay
    exact.
    """
    norm = scipy_stats().norm
    points, weights = (
        np.zeros(1),
        np.ones(1),
    )  # the density of paths that have not crossed, times their widths
    before, ever = 0, 0.0
    for count in blocks:
        step, reach = math.sqrt(count - before), bound * math.sqrt(count)
        ever += float(weights @ (norm.sf((reach - points) / step) + norm.sf((reach + points) / step)))
        grid = np.linspace(-reach, reach, min(MOST_POINTS, max(POINTS, math.ceil(2 * reach / step))))
        away = (grid[:, None] - points[None, :]) / step
        density = np.exp(-(away**2) / 2) @ weights / (step * math.sqrt(2 * math.pi))
        widths = np.full(len(grid), 2 * reach / (len(grid) - 1))
        widths[[0, -1]] /= 2
        points, weights, before = grid, density * widths, count
    return min(1.0, ever)
