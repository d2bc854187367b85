"""How a value grows with a number: a line through each block, and the mean of their slopes. docs/statistics.md#slopes"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.study.statistics.intervals import LEVEL, Method, interval_of_mean
from workalike.study.statistics.matched import Cell, Place, means_by_place
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


BlockSlopes = Mapping[int, Mapping[Cell, float]]
"""Block -> combination of the other factors -> the slope of its line."""


def whole_places(
    block: Integers, number: Floats, value: Floats, cells: Sequence[Cell]
) -> dict[Place, dict[float, float]]:
    """The means by level of each combination of the other factors in each block, where it has every level.

    One that lacks a level is left out: its line would be one through other points.
    """
    levels = set(number[np.isfinite(value)].tolist())
    means = means_by_place(block, cells, number.tolist(), value)
    return {place: by_level for place, by_level in means.items() if len(by_level) == len(levels)}


def block_slopes(
    block: Integers, number: Floats, value: Floats, cells: Sequence[Cell] | None = None
) -> BlockSlopes:
    """The slopes of the least squares lines, each through the means of all levels; empty for fewer than three levels.

    Args:
        block: of each trial.
        number: of each trial; all numbers with a value are levels.
        value: of each trial, NaN where it failed.
        cells: the combination of the other factors of each trial; by default none varies.
    """
    slopes: dict[int, dict[Cell, float]] = {}
    for place, means in whole_places(block, number, value, cells or [()] * len(block)).items():
        if len(means) >= LEAST_LEVELS:
            line = np.polyfit(list(means), list(means.values()), 1)
            slopes.setdefault(place.block, {})[place.cell] = float(line[0])
    return slopes


def slope_of(slopes: BlockSlopes, level: float = LEVEL, method: Method = Method.STUDENT) -> Slope:
    """The mean slope over blocks."""
    return _mean(np.array([np.mean(list(own.values())) for own in slopes.values()]), level, method)


def slope_difference(
    first: BlockSlopes, other: BlockSlopes, level: float = LEVEL, method: Method = Method.STUDENT
) -> Slope:
    """How much steeper the first is, over the combinations of the other factors that both have in a block."""
    both = {block: set(first[block]) & set(other[block]) for block in first if block in other}
    values = [
        np.mean([first[block][cell] - other[block][cell] for cell in cells])
        for block, cells in both.items()
        if cells
    ]
    return _mean(np.array(values), level, method)


def slope_ratio(first: BlockSlopes, other: BlockSlopes, level: float = LEVEL) -> Slope:
    """The first slope ÷ the other: the geometric mean over blocks; unknown where a block has none above zero in both."""
    pairs = [
        (np.mean(list(first[block].values())), np.mean(list(other[block].values())))
        for block in first
        if block in other
    ]
    if not pairs or min(map(min, pairs)) <= 0:
        return Slope(math.nan, -math.inf, math.inf, len(pairs))
    found = _mean(np.array([math.log(a / b) for a, b in pairs]), level, Method.STUDENT)
    return Slope(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.blocks)


def _mean(values: Floats, level: float, method: Method) -> Slope:
    if not len(values):
        return Slope(math.nan, -math.inf, math.inf, 0)
    return Slope(float(values.mean()), *interval_of_mean(values, level, method), len(values))
