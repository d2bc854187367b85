"""Bounds for looking more than once: how large Student's t must be at each look (docs/statistics.md#stopping)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from workalike.study.statistics.extra import scipy_optimize, scipy_stats

GRID = 401
"""Points of the numerical integration between both bounds."""
NOTHING = 1e-12
"""An error that is too small to be spent: there is no bound at such a look."""
FAR = 8.0
"""Standard deviations beyond which nothing is integrated."""


def look_blocks(most_blocks: int, least_blocks: int, looks: int) -> tuple[int, ...]:
    """After which blocks to look: at most so many looks, evenly spaced, the last one at the end."""
    spaced = {math.ceil(most_blocks * k / looks) for k in range(1, looks + 1)}
    return tuple(sorted({n for n in spaced if least_blocks <= n < most_blocks} | {most_blocks}))


def spent(alpha: float, time: float) -> float:
    """Error spent up to a share of the blocks: Lan's and DeMets' function of O'Brien's and Fleming's shape, two-sided.

    A Brownian motion that is watched all the time spends as much under a constant bound.
    """
    if time >= 1:
        return alpha
    norm = scipy_stats().norm
    return float(4 * norm.sf(norm.isf(alpha / 4) / math.sqrt(time)))


@lru_cache(maxsize=256)
def normal_bounds(times: tuple[float, ...], alpha: float, spend_all: bool = False) -> tuple[float, ...]:
    """Bounds of |z| at each look, so that the chance of ever crossing one is `alpha`.

    Args:
        times: the share of the blocks at each look, rising, at most 1.
        alpha: the chance of a false difference.
        spend_all: the last look is the end, though blocks are left (the budget was used up, whatever the results).

    Returns:
        A bound for each look, infinite where nothing is spent yet. By recursive integration (Armitage, McPherson and
        Rowe 1969).
    """
    norm = scipy_stats().norm
    bounds: list[float] = []
    points, weights = (
        np.zeros(1),
        np.ones(1),
    )  # the density of paths that have crossed no bound, times their widths
    before, used = 0.0, 0.0
    for k, time in enumerate(times):
        last = spend_all and k == len(times) - 1
        step = math.sqrt(time - before)
        target = (alpha if last else spent(alpha, time)) - used
        reach = FAR * math.sqrt(time)

        def outside(
            bound: float, points: np.ndarray = points, weights: np.ndarray = weights, step: float = step
        ) -> float:
            tails = norm.sf((bound - points) / step) + norm.sf((bound + points) / step)
            return float(weights @ tails)

        if target > NOTHING and outside(reach) < target:
            low = 0.0
            bound = scipy_optimize().brentq(lambda b, f=outside, t=target: f(b) - t, low, reach, xtol=1e-7)
            used += target
            bounds.append(float(bound) / math.sqrt(time))
        else:
            bound = reach
            bounds.append(math.inf)
        grid = np.linspace(-bound, bound, GRID)
        density = (norm.pdf((grid[:, None] - points[None, :]) / step) / step) @ weights
        widths = np.full(GRID, 2 * bound / (GRID - 1))
        widths[[0, -1]] /= 2
        points, weights, before = grid, density * widths, time
    return tuple(bounds)


def student_bound(normal_bound: float, pairs: int) -> float:
    """The bound of |t| with the same tail as a bound of |z|: the significance is kept, not the size."""
    if not math.isfinite(normal_bound) or pairs < 2:
        return math.inf
    stats = scipy_stats()
    return float(stats.t.isf(stats.norm.sf(normal_bound), pairs - 1))


def mixture_bound(pairs: int, alpha: float, effect: float = 1.0) -> float:
    """The bound of |t| that may be looked at after every block, without an end.

    A Bayes factor of Student's t, with a normal prior of the mean ÷ standard deviation and the scale's invariant prior,
    is a test martingale under no difference: it exceeds 1/alpha with a chance of at most alpha, ever (Ville).

    Args:
        pairs: blocks so far.
        alpha: the chance of ever finding a false difference.
        effect: standard deviation of the prior, in standard deviations of a log-ratio.
    """
    if pairs < 2:
        return math.inf
    spread = 1 + pairs * effect**2
    ratio = (math.sqrt(spread) / alpha) ** (2 / pairs)
    if ratio >= spread:
        return math.inf
    return math.sqrt((pairs - 1) * (ratio - 1) / (1 - ratio / spread))
