"""Objectives of a trial's slow side, from its dumps: what users wait for is not the mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workalike.study.statistics.table import Floats, Integers


def per_trial(trial: Integers, seconds: Floats, trials: int, statistic: Callable[[Floats], float]) -> Floats:
    """`statistic` over the dumps of each trial 0 to trials - 1; NaN for a trial without finite dumps.

    Args:
        trial: the trial of each dump.
        seconds: how long the dump took.
    """
    out = np.full(trials, np.nan)
    keep = np.isfinite(seconds) & (trial >= 0) & (trial < trials)
    order = np.argsort(trial[keep], kind="stable")
    owner, values = trial[keep][order], seconds[keep][order]
    starts = np.searchsorted(owner, np.arange(trials + 1))
    for i in range(trials):
        if starts[i] < starts[i + 1]:
            out[i] = statistic(values[starts[i] : starts[i + 1]])
    return out


def slowest(trial: Integers, seconds: Floats, trials: int) -> Floats:
    """The slowest dump of each trial."""
    return per_trial(trial, seconds, trials, lambda values: float(np.max(values)))


def percentile95(values: Floats) -> float:
    """The 95th percentile of a trial's dumps, interpolated between neighbours."""
    return float(np.percentile(values, 95))


def percentiles95(trial: Integers, seconds: Floats, trials: int) -> Floats:
    """`percentile95` of each trial."""
    return per_trial(trial, seconds, trials, percentile95)
