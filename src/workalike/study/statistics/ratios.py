"""Ratios of settings to a reference, with intervals: paired within blocks, and unpaired for comparison.

docs/statistics.md#ratios has the formulas and why the interval is Student's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workalike.study.statistics.extra import scipy_stats
from workalike.study.statistics.intervals import ALIKE, LEVEL, Method, interval_of_mean
from workalike.study.statistics.table import Better, Floats, Trials, grid_of
from workalike.text import CANNOT_TELL, estimate_text, interval_text, is_telling

LEAST_PAIRS = 2


@dataclass(frozen=True)
class Ratio:
    """A setting's value divided by the reference's: a geometric mean with its interval."""

    setting: str
    reference: str
    ratio: float
    """NaN where fewer than two pairs are left."""
    low: float
    high: float
    level: float
    """Of the interval, such as 0.95."""
    pairs: int
    """Blocks with both; trials of the smaller side where unpaired."""
    sd_log: float
    """Standard deviation of the log-ratios within blocks (unpaired: of a difference of two trials)."""
    p: float
    """Of no difference, by Student's test on the log-ratios, whatever the interval is."""

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.ratio)

    @property
    def differs(self) -> bool:
        """The interval leaves out 1."""
        return self.low > 1 or self.high < 1

    def is_better(self, better: Better) -> bool:
        """The interval leaves out 1 on the good side."""
        return self.low > 1 if better is Better.HIGHER else self.high < 1

    def is_worse(self, better: Better) -> bool:
        """The interval leaves out 1 on the bad side."""
        return self.high < 1 if better is Better.HIGHER else self.low > 1

    def verdict(self, better: Better) -> str:
        """In words, of a bandwidth or a time."""
        if not self.is_known:
            return "not known"
        if self.differs:
            return "faster" if self.is_better(better) else "slower"
        return "no difference found" if is_telling(self.low, self.high) else CANNOT_TELL

    @property
    def interval(self) -> str:
        """For people; see `interval_text`."""
        return interval_text(self.low, self.high)

    @property
    def estimate(self) -> str:
        """The ratio with its interval, for people."""
        return estimate_text(self.ratio, self.low, self.high)

    @property
    def half_width(self) -> float:
        """Half the interval on the log scale: 0.05 is about ±5 %."""
        return math.log(self.high / self.low) / 2 if self.is_known and self.low > 0 else math.inf


def unknown(setting: str, reference: str, level: float, pairs: int = 0) -> Ratio:
    """A ratio of which nothing is known."""
    return Ratio(setting, reference, math.nan, 0.0, math.inf, level, pairs, math.nan, 1.0)


def paired_ratio(
    trials: Trials,
    setting: str,
    reference: str,
    *,
    level: float = LEVEL,
    method: Method = Method.STUDENT,
    seed: int = 0,
) -> Ratio:
    """The ratio of a setting to the reference, taken within blocks, so that drift between blocks cancels.

    Blocks in which one of both failed are left out.
    """
    grid = grid_of(trials)
    grid.place(setting)
    values = grid.log_ratios(reference).get(setting, np.zeros(len(grid.blocks)))
    return of_log_ratios(values, setting, reference, level, method, seed)


def paired_ratios(
    trials: Trials, reference: str, *, level: float = LEVEL, method: Method = Method.STUDENT, seed: int = 0
) -> list[Ratio]:
    """`paired_ratio` of every setting but the reference, in the order of the settings."""
    return [
        of_log_ratios(values, setting, reference, level, method, seed)
        for setting, values in grid_of(trials).log_ratios(reference).items()
    ]


def of_log_ratios(
    values: Floats,
    setting: str,
    reference: str,
    level: float = LEVEL,
    method: Method = Method.STUDENT,
    seed: int = 0,
) -> Ratio:
    """The ratio whose log-ratios of blocks are these, NaN where there is none, with its interval, and Student's test."""
    values = np.asarray(values[np.isfinite(values)])
    count = len(values)
    if count < LEAST_PAIRS:
        return unknown(setting, reference, level, count)
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    error = sd / math.sqrt(count)
    if sd < ALIKE:
        p = 1.0 if abs(mean) < ALIKE else 0.0
        return Ratio(setting, reference, math.exp(mean), math.exp(mean), math.exp(mean), level, count, 0.0, p)
    low, high = interval_of_mean(values, level, method, seed)
    p = float(2 * scipy_stats().t.sf(abs(mean) / error, count - 1))
    return Ratio(setting, reference, exp(mean), exp(low), exp(high), level, count, sd, min(1.0, p))


def unpaired_ratio(trials: Trials, setting: str, reference: str, *, level: float = LEVEL) -> Ratio:
    """The ratio as if trials had no blocks, by Welch's interval: what drift costs is seen beside `paired_ratio`."""
    grid = grid_of(trials)
    sides = [grid.log[:, grid.place(name)] for name in (setting, reference)]
    ours, theirs = (side[np.isfinite(side)] for side in sides)
    count = min(len(ours), len(theirs))
    if count < LEAST_PAIRS:
        return unknown(setting, reference, level, count)
    stats = scipy_stats()
    mean = float(np.mean(ours) - np.mean(theirs))
    a, b = float(np.var(ours, ddof=1)) / len(ours), float(np.var(theirs, ddof=1)) / len(theirs)
    error = math.sqrt(a + b)
    if error < ALIKE:
        p = 1.0 if abs(mean) < ALIKE else 0.0
        return Ratio(setting, reference, exp(mean), exp(mean), exp(mean), level, count, 0.0, p)
    freedom = (a + b) ** 2 / (a**2 / (len(ours) - 1) + b**2 / (len(theirs) - 1))
    reach = float(stats.t.isf((1 - level) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, freedom))
    sd = math.sqrt(a * len(ours) + b * len(theirs))
    return Ratio(setting, reference, exp(mean), exp(mean - reach), exp(mean + reach), level, count, sd, p)


def exp(value: float) -> float:
    """e^value; infinite beyond the range of a float."""
    return math.exp(value) if value < 700 else math.inf
