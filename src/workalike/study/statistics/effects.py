"""Main effects and two-way interactions of the factors, on the log scale and within blocks.

docs/statistics.md#effects
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from workalike.study.statistics.any_look import ONE_LOOK, Looks
from workalike.study.statistics.extra import scipy_stats
from workalike.study.statistics.influence import Estimates, within_blocks
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.multiple import holm
from workalike.study.statistics.ratios import exp
from workalike.study.statistics.table import Floats, Trials
from workalike.workload import units

MOST_COLUMNS = 120
"""Columns of a model; a pair of factors with more is left out."""


@dataclass(frozen=True)
class Effect:
    """A level's (or a combination's) value divided by the mean over all levels, with its interval."""

    factors: tuple[str, ...]
    levels: tuple[str, ...]
    ratio: float
    low: float
    high: float
    p: float
    """Of no effect; corrected for the looks of the study, and by Holm over all effects returned together."""

    @property
    def differs(self) -> bool:
        return self.low > 1 or self.high < 1


def levels_of(column: Sequence[str]) -> list[str]:
    """The levels of a factor: numbers by size, words in the order of their first trial."""
    found = list(dict.fromkeys(column))
    numbers = [number_of(level) for level in found]
    if all(math.isfinite(n) for n in numbers):
        return [level for _, level in sorted(zip(numbers, found, strict=True))]
    return found


def number_of(level: str) -> float:
    """A level as a number: also a size, in bytes, or a fraction. NaN where it is a word."""
    readers: tuple[Callable[[str], float | Fraction], ...] = (float, Fraction, units.parse_size)
    for read in readers:
        try:
            return float(read(level))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
    return math.nan


def main_effects(trials: Trials, *, level: float = LEVEL, looks: Looks = ONE_LOOK) -> list[Effect]:
    """The effect of each level of each factor, other factors held alike.

    Factors with one level have none; so has a factor that the trials cannot tell from another.
    """
    known = _Usable(trials)
    names = [name for name in trials.factors if len(known.levels(name)) > 1]
    parts = {name: _coded(known.column(name), known.levels(name)) for name in names}
    found = known.fit(list(parts.values()))
    if found is None:
        return []
    out: list[Effect] = []
    start = 0
    for name, part in parts.items():
        width = part.shape[1]
        weights = np.zeros((len(found.value), width + 1))
        weights[start : start + width] = _expansion(width + 1)
        labels = [(known_level,) for known_level in known.levels(name)]
        out += _effects((name,), labels, found.contrast(weights), looks.level(level))
        start += width
    return _corrected(out, looks)


def interactions(trials: Trials, *, level: float = LEVEL, looks: Looks = ONE_LOOK) -> list[Effect]:
    """What each combination of two levels does beyond the product of both main effects.

    Pairs of factors of which a combination was never measured are left out.
    """
    known = _Usable(trials)
    names = [name for name in trials.factors if len(known.levels(name)) > 1]
    mains = {name: _coded(known.column(name), known.levels(name)) for name in names}
    total = sum(part.shape[1] for part in mains.values())
    out: list[Effect] = []
    for first, second in combinations(names, 2):
        a, b = mains[first], mains[second]
        if total + a.shape[1] * b.shape[1] > MOST_COLUMNS:
            continue
        both = (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
        found = known.fit([*mains.values(), both])
        if found is None:
            continue
        spread = np.kron(_expansion(a.shape[1] + 1), _expansion(b.shape[1] + 1))
        weights = np.zeros((len(found.value), spread.shape[1]))
        weights[total:] = spread
        labels = list(product(known.levels(first), known.levels(second)))
        out += _effects((first, second), labels, found.contrast(weights), looks.level(level))
    return _corrected(out, looks)


class _Usable:
    """The trials that did not fail."""

    def __init__(self, trials: Trials) -> None:
        log = trials.log_value()
        self._keep = np.flatnonzero(np.isfinite(log))
        self._log = log[self._keep]
        self._block = np.unique(trials.block[self._keep], return_inverse=True)[1]
        self._trials = trials
        self._columns = {
            name: [column[i] for i in self._keep.tolist()] for name, column in trials.factors.items()
        }

    def column(self, name: str) -> list[str]:
        return self._columns[name]

    def levels(self, name: str) -> list[str]:
        return levels_of(self._columns[name])

    def fit(self, parts: Sequence[Floats]) -> Estimates | None:
        if not parts or not len(self._log) or sum(p.shape[1] for p in parts) > MOST_COLUMNS:
            return None
        return within_blocks(np.hstack(list(parts)), self._log, self._block)


def _coded(column: Sequence[str], levels: Sequence[str]) -> Floats:
    """Columns of a factor whose effects sum to zero: one less than it has levels; the last level is -1 in each."""
    place = {level: i for i, level in enumerate(levels)}
    return _expansion(len(levels)).T[[place[v] for v in column]]


def _expansion(levels: int) -> Floats:
    """From coded columns to all levels, shape (levels - 1, levels)."""
    return np.hstack([np.eye(levels - 1), -np.ones((levels - 1, 1))])


def _effects(
    factors: tuple[str, ...], labels: Sequence[tuple[str, ...]], found: Estimates, level: float
) -> list[Effect]:
    low, high = found.interval(level)
    out = []
    for i, label in enumerate(labels):
        error, value = float(found.error[i]), float(found.value[i])
        p = 1.0
        if found.blocks > 1 and error > 0:
            p = float(2 * scipy_stats().t.sf(abs(value) / error, found.blocks - 1))
        ends = (float(low[i]), float(high[i]))
        out.append(
            Effect(factors, label, exp(value), exp(ends[0]) if ends[0] > -700 else 0.0, exp(ends[1]), p)
        )
    return out


def _corrected(effects: list[Effect], looks: Looks) -> list[Effect]:
    corrected = holm([looks.p(e.p) for e in effects])
    return [
        Effect(e.factors, e.levels, e.ratio, e.low, e.high, p)
        for e, p in zip(effects, corrected, strict=True)
    ]
