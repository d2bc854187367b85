"""Estimates with the influence of each block on them: the ground under P(best), effects and simultaneous intervals.

A block is the unit of everything: its trials share the state of the system. docs/statistics.md#blocks
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workalike.study.statistics.extra import scipy_stats
from workalike.study.statistics.table import Floats

CHUNK = 2_000_000
"""Numbers of one batch of matrices."""


@dataclass(frozen=True)
class Estimates:
    """Estimates and how much each block moves them."""

    value: Floats
    """Shape (estimates,)."""
    influence: Floats
    """Shape (blocks, estimates). The sum of the squares of a column is the squared standard error of its estimate."""

    @property
    def blocks(self) -> int:
        return len(self.influence)

    @property
    def error(self) -> Floats:
        """Standard errors; NaN where there is a single block."""
        if self.blocks < 2:
            return np.full(len(self.value), np.nan)
        return np.asarray(np.sqrt(np.sum(self.influence**2, axis=0)))

    def contrast(self, weights: Floats) -> Estimates:
        """Sums of the estimates with weights of shape (estimates, contrasts)."""
        return Estimates(self.value @ weights, self.influence @ weights)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Student's intervals with blocks - 1 degrees of freedom; infinite for a single block."""
        if self.blocks < 2:
            endless = np.full(len(self.value), np.inf)
            return -endless, endless
        reach = float(scipy_stats().t.isf((1 - level) / 2, self.blocks - 1)) * self.error
        return self.value - reach, self.value + reach


def draws(estimates: Estimates, count: int, seed: int) -> Floats:
    """Plausible values of the estimates, shape (count, estimates): blocks with random normal weights, Student's tails.

    For one estimate they follow Student's t around it; several keep what they have in common within blocks.
    """
    rng = np.random.default_rng(seed)
    blocks = estimates.blocks
    weights = rng.standard_normal((count, blocks))
    if blocks > 1:
        weights *= np.sqrt((blocks - 1) / rng.chisquare(blocks - 1, (count, 1)))
    return np.asarray(estimates.value + weights @ estimates.influence)


def within_blocks(rows: Floats, log: Floats, block: np.ndarray) -> Estimates | None:
    """Least squares of logarithms on columns, each block with a level of its own; blocks are the jackknife's units.

    Args:
        rows: shape (trials, columns), without a constant.
        log: logarithms of the values, all finite.
        block: the block of each trial, numbered from zero.

    Returns:
        None where the trials cannot tell the columns apart. In a balanced design the result is that of a t interval
        over the contrasts of each block.
    """
    width, blocks = rows.shape[1], int(block.max(initial=-1)) + 1
    count = np.bincount(block, minlength=blocks).astype(float)
    means = np.zeros((blocks, width))
    np.add.at(means, block, rows)
    means /= np.maximum(count, 1)[:, None]
    level = np.bincount(block, weights=log, minlength=blocks) / np.maximum(count, 1)
    x, y = rows - means[block], log - level[block]
    matrix, right = x.T @ x, x.T @ y
    if width == 0 or np.linalg.matrix_rank(matrix, hermitian=True) < width:
        return None
    value = np.linalg.solve(matrix, right)
    left_out = np.empty((blocks, width))
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], np.arange(blocks + 1))
    for b in range(blocks):
        own = order[starts[b] : starts[b + 1]]
        rest = matrix - x[own].T @ x[own]
        try:
            left_out[b] = np.linalg.solve(rest, right - x[own].T @ y[own])
        except np.linalg.LinAlgError:
            left_out[b] = np.nan
    if blocks < 2 or not np.isfinite(left_out).all() or np.abs(left_out).max() > 1e6:
        return Estimates(value, np.zeros((min(blocks, 1), width)))  # a block alone tells the columns apart
    centred = left_out - left_out.mean(axis=0)
    return Estimates(value, -centred * math.sqrt((blocks - 1) / blocks))
