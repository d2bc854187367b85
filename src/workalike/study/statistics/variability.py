"""How much a system varies: between blocks, which are hours apart where they are spread, and within them.

docs/statistics.md#variability
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workalike.study.statistics.extra import scipy_stats
from workalike.study.statistics.table import Floats, Grid, Integers

LEAST_BLOCKS, LEAST_SETTINGS = 3, 2


@dataclass(frozen=True)
class Deviation:
    """A standard deviation of logarithms, with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Variability:
    """Deviations between and within blocks, and the level of each block: log(block ÷ mean of the blocks)."""

    between: Deviation
    within: Deviation
    p: float
    """Of blocks as different as these where the system does not change between them."""
    blocks: Integers
    levels: Floats
    """Shape (blocks,)."""
    error: float
    """Half the width of a level's interval by the noise within blocks."""
    settings: int

    @property
    def is_seen(self) -> bool:
        """Whether blocks differ by more than their trials explain."""
        return self.between.low > 0


def variability_of(grid: Grid, level: float = 0.95) -> Variability | None:
    """The analysis of variance of trials by block and setting; None for fewer than three blocks or two settings.

    A level of a block is common to all of its trials. What is left, also that a setting does better in one block than
    in another, is within. Settings that lack a trial in a block are left out; where all but one do, such blocks are.
    The interval between blocks is that of Tukey and Williams (J. S. Williams 1962).
    """
    blocks, log = _complete(grid)
    count, settings = log.shape
    if count < LEAST_BLOCKS or settings < LEAST_SETTINGS:
        return None
    stats, tail = scipy_stats(), (1 - level) / 2
    levels = log.mean(axis=1) - log.mean()
    rest = log - log.mean(axis=1, keepdims=True) - log.mean(axis=0, keepdims=True) + log.mean()
    of_blocks, of_rest = count - 1, (count - 1) * (settings - 1)
    sum_between, sum_within = settings * float(np.sum(levels**2)), float(np.sum(rest**2))
    noise = sum_within / of_rest
    within = Deviation(
        math.sqrt(noise),
        *(math.sqrt(sum_within / float(stats.chi2.isf(q, of_rest))) for q in (tail, 1 - tail)),
    )
    reach = float(stats.t.isf(tail, of_rest)) * math.sqrt(noise / settings)
    if sum_between == 0:
        return Variability(Deviation(0.0, 0.0, 0.0), within, 1.0, blocks, levels, reach, settings)
    statistic = sum_between / of_blocks / noise if noise > 0 else math.inf

    def end(q: float) -> float:
        share = 1 - float(stats.f.isf(q, of_blocks, of_rest)) / statistic
        return math.sqrt(max(0.0, sum_between * share / (settings * float(stats.chi2.isf(q, of_blocks)))))

    variance = (sum_between / of_blocks - noise) / settings
    between = Deviation(math.sqrt(max(0.0, variance)), end(tail), end(1 - tail))
    p = float(stats.f.sf(statistic, of_blocks, of_rest))
    return Variability(between, within, p, blocks, levels, reach, settings)


def _complete(grid: Grid) -> tuple[Integers, Floats]:
    """(blocks, logarithms without a missing one)."""
    known = np.isfinite(grid.log)
    columns = known.all(axis=0)
    if columns.sum() >= LEAST_SETTINGS:
        return grid.blocks, grid.log[:, columns]
    rows = known.all(axis=1)
    return grid.blocks[rows], grid.log[rows]
