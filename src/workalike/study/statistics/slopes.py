"""How a value grows with a number: a line through each block, and the mean of their slopes. docs/statistics.md#slopes"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workalike.study.statistics.intervals import LEVEL, Method, interval_of_mean
from workalike.study.statistics.table import Floats, Integers

LEAST_LEVELS = 3
"""Fewer points make a line of anything."""


@dataclass(frozen=True)
class Slope:
    """What a value gains for each unit of a number: the mean over blocks, with its interval."""

    value: float
    """NaN where no block has every level."""
    low: float
    high: float
    blocks: int

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def block_slopes(block: Integers, number: Floats, value: Floats) -> Mapping[int, float]:
    """Block -> the slope of the least squares line through the means of its levels.

    A block that lacks a level is left out: its line would be one through other points.
    """
    levels = np.unique(number[np.isfinite(value)])
    if len(levels) < LEAST_LEVELS:
        return {}
    slopes = {}
    for own in np.unique(block).tolist():
        inside = (block == own) & np.isfinite(value)
        means = [
            float(value[inside & (number == level)].mean())
            for level in levels
            if (inside & (number == level)).any()
        ]
        if len(means) == len(levels):
            slopes[own] = float(np.polyfit(levels, means, 1)[0])
    return slopes


def slope_of(slopes: Mapping[int, float], level: float = LEVEL, method: Method = Method.STUDENT) -> Slope:
    """The mean slope over blocks."""
    return _mean(np.array(list(slopes.values())), level, method)


def slope_difference(
    first: Mapping[int, float],
    other: Mapping[int, float],
    level: float = LEVEL,
    method: Method = Method.STUDENT,
) -> Slope:
    """How much steeper the first is, taken within blocks that have both."""
    both = [block for block in first if block in other]
    return _mean(np.array([first[block] - other[block] for block in both]), level, method)


def _mean(values: Floats, level: float, method: Method) -> Slope:
    if not len(values):
        return Slope(math.nan, -math.inf, math.inf, 0)
    return Slope(float(values.mean()), *interval_of_mean(values, level, method), len(values))
