"""From where on more of a number stops paying."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.study.objective import DEFAULT, Objective
from workalike.study.report.table import shown
from workalike.study.statistics.any_look import ONE_LOOK, Looks
from workalike.study.statistics.effects import levels_of, number_of
from workalike.study.statistics.intervals import Method
from workalike.study.statistics.matched import Matched, cells_of
from workalike.study.statistics.power import MOST_TOLD, detectable, per_cent_text
from workalike.study.statistics.ratios import Ratio, of_log_ratios
from workalike.study.statistics.table import Better, Floats, Trials
from workalike.text import WIDEST

LEAST_LEVELS = 3
"""Levels of a number from which on it is asked where more stops paying."""


@dataclass(frozen=True)
class Knee:
    """From which level on more of a number stops paying."""

    factor: str
    level: str
    highest: bool
    """The level is the highest measured, so that more may pay."""
    text: str


def knee_of(
    trials: Trials,
    factor: str,
    objective: Objective = DEFAULT[0],
    least_levels: int = LEAST_LEVELS,
    method: Method = Method.STUDENT,
    looks: Looks = ONE_LOOK,
) -> Knee | None:
    """The lowest level of a number that no higher level beats; None where the factor is not such a number.

    Levels are compared over what both have of the combinations of the other factors in a block; None also where the
    answer takes a comparison that fewer than two blocks have.
    """
    column, better = trials.factors[factor], objective.better
    numbers = numbers_of(column)
    if len(numbers) < least_levels:
        return None
    usable = {column[row] for row in np.flatnonzero(np.isfinite(trials.log_value())).tolist()}
    levels = [level for level in numbers if level in usable]
    if len(levels) < 2:
        return None
    failed = [level for level in numbers if level not in usable]
    tail = f" Of {', '.join(map(shown, failed))} no trial succeeded." if failed else ""
    matched = Matched(trials, column, cells_of(trials.factors, len(trials), [factor]))
    for place, level in enumerate(levels[:-1]):
        higher = levels[place + 1 :]
        error = looks.error(0.05 / len(higher))
        ratios = _beside(matched.log_ratios(level), level, higher, error, method)
        known = [r for r in ratios if r.is_known]
        if not known:
            return None
        if not any(r.is_better(better) for r in known):
            return Knee(factor, level, False, _stops_text(level, ratios, error, better) + tail)
    top = "the highest level that succeeded" if failed else "the highest level"
    text = f"Not within what was measured: {top}, {shown(levels[-1])}, is still faster than the one before."
    return Knee(factor, levels[-1], True, text + tail)


def numbers_of(column: Sequence[str]) -> list[str]:
    """The levels that are numbers, by size: a word such as `default` has no place among them."""
    return levels_of([level for level in column if math.isfinite(number_of(level))])


def _beside(
    columns: Mapping[str, Floats], level: str, higher: Sequence[str], error: float, method: Method
) -> list[Ratio]:
    """The higher levels beside one, with intervals of this error each."""
    nothing = np.zeros(0)
    own = [columns.get(more, nothing) for more in higher]
    return [
        of_log_ratios(column, more, level, 1 - error, method)
        for more, column in zip(higher, own, strict=True)
    ]


def _missed_text(least: float) -> str:
    """What a comparison may have missed that found no gain."""
    if least > WIDEST:
        return "Too few blocks to tell."
    missed = f"gain of less than {per_cent_text(least)} may have been missed."
    return f"Too few blocks to tell: a {missed}" if least > MOST_TOLD else f"A {missed}"


def _stops_text(level: str, ratios: Sequence[Ratio], error: float, better: Better) -> str:
    known = [r for r in ratios if r.is_known]
    widest = max(known, key=lambda r: r.sd_log)
    least = detectable(widest.sd_log, widest.pairs, alpha=error)
    said = _missed_text(least)
    worse = ", and the highest is slower" if ratios[-1].is_worse(better) else ""
    missing = [shown(r.setting) for r in ratios if not r.is_known]
    rest = (
        f" Not compared, since it was not measured with the same other factors: {', '.join(missing)}."
        if missing
        else ""
    )
    return f"From {shown(level)} on: no higher level was found to be faster{worse}. {said}{rest}"
