"""How well one measurement ranks settings as another does. docs/statistics.md#search"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workalike.study.statistics.extra import scipy_stats

LEAST = 5


@dataclass(frozen=True)
class RankCorrelation:
    """Kendall's tau-b with an interval (Fieller, Hartley and Pearson 1957)."""

    tau: float
    """NaN where it is unknown: fewer than five settings, or all alike."""
    low: float
    high: float
    settings: int


def rank_correlation(
    first: Mapping[str, float], other: Mapping[str, float], level: float = 0.95
) -> RankCorrelation:
    """Rank correlation over the settings that both have a finite score of."""
    both = [s for s in first if s in other and math.isfinite(first[s]) and math.isfinite(other[s])]
    if len(both) < LEAST:
        return RankCorrelation(math.nan, -1.0, 1.0, len(both))
    stats = scipy_stats()
    tau = float(stats.kendalltau([first[s] for s in both], [other[s] for s in both]).statistic)
    if not math.isfinite(tau):
        return RankCorrelation(math.nan, -1.0, 1.0, len(both))
    middle = float(np.arctanh(min(max(tau, -0.999999), 0.999999)))
    reach = float(stats.norm.isf((1 - level) / 2)) * math.sqrt(0.437 / (len(both) - 4))
    return RankCorrelation(tau, math.tanh(middle - reach), math.tanh(middle + reach), len(both))
