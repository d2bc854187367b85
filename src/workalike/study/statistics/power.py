"""What a study would have found: power, blocks needed, and the sentence of "no difference was found".

docs/statistics.md#no-difference
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from workalike.study.statistics.extra import scipy_optimize, scipy_stats
from workalike.study.statistics.ratios import Ratio, exp
from workalike.study.statistics.table import Floats
from workalike.text import WIDEST

POWER = 0.8
MOST_BLOCKS = 100_000
MOST_TOLD = 2.0
"""Where only a larger ratio would have been found, blocks are too few to tell."""
POINTS = 2000
"""Of the integration over standard deviations."""


def power_of(log_ratio: float, sd_log: float, pairs: int, alpha: float = 0.05) -> float:
    """The chance that a paired test of so many blocks finds a true log-ratio (that of the noncentral t)."""
    if pairs < 2:
        return 0.0
    if sd_log <= 0:
        return 1.0 if log_ratio else 0.0
    stats = scipy_stats()
    away = abs(log_ratio) / sd_log * math.sqrt(pairs)
    bound = float(stats.t.isf(alpha / 2, pairs - 1)) * _spread(pairs - 1)
    return float(np.mean(stats.norm.cdf(away - bound) + stats.norm.cdf(-away - bound)))


@lru_cache(maxsize=64)
def _spread(freedom: int) -> Floats:
    """Equally likely values of an estimated standard deviation, as shares of the true one.

    The power is the mean over them. scipy's noncentral t is the same in closed form, but NaN in its far tails.
    """
    shares = (np.arange(POINTS) + 0.5) / POINTS
    return np.asarray(np.sqrt(scipy_stats().chi2.ppf(shares, freedom) / freedom))


def detectable(sd_log: float, pairs: int, power: float = POWER, alpha: float = 0.05) -> float:
    """The ratio (above 1) that so many blocks find with this power; infinite for fewer than two."""
    if pairs < 2 or not math.isfinite(sd_log) or alpha <= 0:  # no look yet has any error to spend
        return math.inf
    if sd_log <= 0:
        return 1.0
    high = sd_log
    while power_of(high, sd_log, pairs, alpha) < power:
        high *= 2
    found = scipy_optimize().brentq(lambda d: power_of(d, sd_log, pairs, alpha) - power, 0.0, high, xtol=1e-9)
    return exp(float(found))


def blocks_needed(ratio: float, sd_log: float, power: float = POWER, alpha: float = 0.05) -> int:
    """Blocks of a paired test of fixed size that finds this ratio; at most `MOST_BLOCKS`."""
    low, high = 1, 2
    while high < MOST_BLOCKS and power_of(math.log(ratio), sd_log, high, alpha) < power:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power_of(math.log(ratio), sd_log, middle, alpha) >= power else (middle, high)
        )
    return min(high, MOST_BLOCKS)


def none_found_text(ratio: Ratio, alpha: float = 0.05) -> str:
    """The result of a comparison without a difference, as the end of a sentence. It never says that both are equal."""
    least = detectable(ratio.sd_log, ratio.pairs, alpha=alpha)
    if ratio.pairs < 2:
        return "nothing can be said, since fewer than two blocks have both settings."
    if not math.isfinite(least):
        return "too few blocks to tell."
    if least > WIDEST:
        return "too few blocks to tell."
    if least > MOST_TOLD:
        return f"too few blocks to tell; a difference of {per_cent_text(least)} may have been missed."
    return f"no difference was found; one of less than {per_cent_text(least)} may have been missed."


def per_cent_text(ratio: float) -> str:
    """How far a ratio is above 1: `9.5 %`, `20 %`, `a factor of 12`."""
    if ratio >= 10:
        return f"a factor of {ratio:,.3g}"
    per_cent = 100 * (ratio - 1)
    return f"{per_cent:.2g} %" if per_cent < 10 else f"{per_cent:.0f} %"
