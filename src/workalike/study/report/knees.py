"""From where on more of a number stops paying."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workalike.study.objective import DEFAULT, Objective
from workalike.study.report.table import shown
from workalike.study.statistics.effects import levels_of, number_of
from workalike.study.statistics.intervals import Method
from workalike.study.statistics.power import none_found_text
from workalike.study.statistics.ratios import paired_ratio
from workalike.study.statistics.table import Trials

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
) -> Knee | None:
    """The lowest level of a number that no higher level beats; None where the factor is not such a number."""
    # A word such as `default` has no place among the numbers.
    words = [level for level in set(trials.factors[factor]) if not math.isfinite(number_of(level))]
    levels = levels_of([level for level in trials.factors[factor] if level not in words])
    if len(levels) < least_levels:
        return None
    by_level = Trials(trials.block, trials.factors[factor], trials.value)
    better = objective.better
    for place, level in enumerate(levels[:-1]):
        higher = levels[place + 1 :]
        ratios = [
            paired_ratio(by_level, more, level, level=1 - 0.05 / len(higher), method=method)
            for more in higher
        ]
        if not any(r.is_known for r in ratios):
            return None
        if not any(r.is_better(better) for r in ratios):
            widest = max((r for r in ratios if r.is_known), key=lambda r: r.sd_log)
            said = none_found_text(widest, alpha=0.05 / len(higher)).replace("No difference found; a", "A")
            worse = ", and the highest is slower" if ratios[-1].is_worse(better) else ""
            text = f"From {shown(level)} on: no higher level was found to be faster{worse}. {said}"
            return Knee(factor, level, False, text)
    text = f"Not within what was measured: the highest level, {shown(levels[-1])}, is still faster than the one before."
    return Knee(factor, levels[-1], True, text)
