"""When a study may stop: after each look, every ratio is decided, narrow enough, or still open.

The intervals hold at all looks at once, so that stopping by what they show is allowed. docs/statistics.md#stopping
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from workalike.study.statistics.extra import scipy_stats
from workalike.study.statistics.intervals import ALIKE
from workalike.study.statistics.looks import look_blocks, mixture_bound, normal_bounds, student_bound
from workalike.study.statistics.ratios import Ratio, exp, of_log_ratios, unknown
from workalike.study.statistics.table import Floats, Trials, grid_of


class Correction(Enum):
    """How looking early is paid for."""

    SPENDING = "alpha spending"
    """O'Brien–Fleming-like, over a stated largest number of blocks. The default."""
    MIXTURE = "mixture"
    """Valid after every block and without an end; wider."""


@dataclass(frozen=True)
class Rule:
    """When a study stops.

    Args:
        most_blocks: the budget, in blocks.
        alpha: the chance that any of the ratios is found different though none is; below 5 %, since bounds from normal
            looks are approximate for few blocks.
        precision: a ratio whose interval is within this share of its middle is known well enough (0.05: ±5 %).
        least_blocks: no look before so many blocks.
        looks: at most so many looks.
        correction: how looking early is paid for.
        early: a difference that is decided ends the measurement of its setting; else only precision does.
    """

    most_blocks: int
    alpha: float = 0.03
    precision: float = 0.05
    least_blocks: int = 3
    looks: int = 12
    correction: Correction = Correction.SPENDING
    early: bool = True

    def schedule(self) -> tuple[int, ...]:
        """The numbers of blocks after which to look."""
        if self.correction is Correction.MIXTURE:
            return tuple(range(min(self.least_blocks, self.most_blocks), self.most_blocks + 1))
        return look_blocks(self.most_blocks, self.least_blocks, self.looks)


class State(Enum):
    DIFFERENT = "different"
    """The interval leaves out 1."""
    NARROW = "narrow"
    """The interval is narrow enough and holds 1."""
    OPEN = "open"
    """More blocks may decide it."""


@dataclass(frozen=True)
class Standing:
    """What is known of one ratio."""

    ratio: Ratio
    """With the interval that holds at all looks; p is of a single look and not corrected."""
    state: State
    decided_after: int | None
    """Blocks at the look that ended OPEN."""


class Why(Enum):
    GOES_ON = "goes on"
    ALL_KNOWN = "every ratio is decided or narrow enough"
    BUDGET = "the budget ended"


@dataclass(frozen=True)
class Review:
    """The state of a study."""

    standings: list[Standing]
    why: Why
    blocks: int
    """Blocks at the last look; 0 before the first."""
    next_look: int | None
    """Blocks to have before the next look; None when the study stops."""
    error: float
    """Two-sided, of each interval at the last look alone; 0 where none of it is spent yet."""

    @property
    def stops(self) -> bool:
        return self.why is not Why.GOES_ON

    @property
    def open_settings(self) -> list[str]:
        """Settings that need more blocks, beside the reference."""
        return [s.ratio.setting for s in self.standings if s.state is State.OPEN]


@dataclass(frozen=True)
class Reviews:
    """Of a study's settings, and of its A/A arm, which has no part in stopping."""

    reference: str
    settings: Review
    same: Review | None = None

    def ratios(self) -> dict[str, Ratio]:
        """By the setting's name."""
        return {s.ratio.setting: s.ratio for s in self.settings.standings}


def review(trials: Trials, reference: str, rule: Rule, *, ended: bool = False) -> Review:
    """The state of a study after its blocks so far; a pure function, so that a resumed study goes on alike.

    Args:
        trials: whole blocks; a decided setting may be missing in later ones.
        reference: the setting that others are compared with.
        rule: the stopping rule, unchanged over the study.
        ended: the budget ended before `rule.most_blocks`, for no reason that lies in the results.
    """
    ours = list(grid_of(trials).log_ratios(reference).items())
    return review_differences(ours, reference, rule, ended=ended)


def review_differences(
    ours: list[tuple[str, Floats]], reference: str, rule: Rule, *, ended: bool = False
) -> Review:
    """As `review`, from the log-ratios of each setting by block, NaN where there is none."""
    blocks = max((len(values) for _, values in ours), default=0)
    looks = [n for n in rule.schedule() if n <= blocks]
    cut = ended and blocks < rule.most_blocks and blocks >= min(rule.least_blocks, rule.most_blocks)
    if cut and blocks not in looks:
        looks.append(blocks)
    bounds = _bounds(rule, tuple(looks), len(ours), cut)
    standings = [_standing(name, reference, values, looks, bounds, rule) for name, values in ours]
    if not any(s.state is State.OPEN for s in standings):
        why = Why.ALL_KNOWN
    else:
        why = Why.BUDGET if ended or blocks >= rule.most_blocks else Why.GOES_ON
    following = (n for n in rule.schedule() if n > blocks)
    following_look = next(following, None) if why is Why.GOES_ON else None
    return Review(standings, why, looks[-1] if looks else 0, following_look, _error(rule, looks, bounds))


def _error(rule: Rule, looks: Sequence[int], bounds: Sequence[float]) -> float:
    """The error of an interval at the last look alone."""
    if not looks:
        return 0.0
    if rule.correction is Correction.MIXTURE:
        return float(2 * scipy_stats().t.sf(mixture_bound(looks[-1], rule.alpha), max(1, looks[-1] - 1)))
    return float(2 * scipy_stats().norm.sf(bounds[-1]))


def _bounds(rule: Rule, looks: tuple[int, ...], comparisons: int, cut: bool) -> list[float]:
    """The bound of |z| at each look; each comparison has an equal share of the error (Bonferroni)."""
    if rule.correction is Correction.MIXTURE or not looks:
        return [math.nan] * len(looks)
    times = tuple(n / rule.most_blocks for n in looks)
    return list(normal_bounds(times, rule.alpha / max(1, comparisons), cut))


def _standing(
    setting: str, reference: str, values: Floats, looks: list[int], bounds: list[float], rule: Rule
) -> Standing:
    """All looks of one ratio: its interval is what all of them have in common."""
    level = 1 - rule.alpha
    low, high = -math.inf, math.inf
    ratio = unknown(setting, reference, level)
    state, decided = State.OPEN, None
    for count, bound in zip(looks, bounds, strict=True):
        known = values[:count]
        known = known[np.isfinite(known)]
        ratio = of_log_ratios(known, setting, reference, level)
        if not ratio.is_known:
            continue
        reach = (
            _reach(len(known), bound, rule) * ratio.sd_log / math.sqrt(len(known)) if ratio.sd_log else 0.0
        )
        middle = math.log(ratio.ratio)
        if max(low, middle - reach) <= min(high, middle + reach):
            low, high = max(low, middle - reach), min(high, middle + reach)
        else:  # looks that exclude each other: something changed during the study, and the last look has most blocks
            low, high = middle - reach, middle + reach
        found = _state(low, high, rule)
        if found is not State.OPEN and decided is None:
            state, decided = found, count
        elif found is State.DIFFERENT:
            state = found
    return Standing(replace(ratio, low=exp(low) if low > -700 else 0.0, high=exp(high)), state, decided)


def _reach(pairs: int, bound: float, rule: Rule) -> float:
    if rule.correction is Correction.MIXTURE:
        return mixture_bound(pairs, rule.alpha)
    return student_bound(bound, pairs)


def _state(low: float, high: float, rule: Rule) -> State:
    narrow = (high - low) / 2 <= math.log1p(rule.precision)
    if (low > ALIKE or high < -ALIKE) and (rule.early or narrow):
        return State.DIFFERENT
    return State.NARROW if narrow else State.OPEN


def differences(standings: Iterable[Standing]) -> list[str]:
    """Settings that were found different from the reference."""
    return [s.ratio.setting for s in standings if s.state is State.DIFFERENT]
