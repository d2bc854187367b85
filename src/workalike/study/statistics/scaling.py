"""How efficient more ranks (or nodes) are, beside the smallest number measured. docs/statistics.md#scaling"""

from __future__ import annotations

import math
from dataclasses import dataclass

from workalike.study.statistics.any_look import ONE_LOOK, Looks
from workalike.study.statistics.effects import levels_of, number_of
from workalike.study.statistics.intervals import LEVEL, Method
from workalike.study.statistics.matched import Matched, cells_of
from workalike.study.statistics.multiple import simultaneous_of
from workalike.study.statistics.ratios import Ratio, unknown
from workalike.study.statistics.table import Floats, Trials

ENOUGH = 0.8
"""Efficiency below which more ranks are said to be poorly used."""


@dataclass(frozen=True)
class Efficiency:
    """What each of `count` ranks does beside what each of the smallest number does: 1 is perfect scaling."""

    level: str
    count: float
    ratio: Ratio
    """With an interval that holds for all levels at once."""

    @property
    def is_enough(self) -> bool:
        return self.ratio.low > ENOUGH

    @property
    def is_too_low(self) -> bool:
        return self.ratio.high < ENOUGH


def efficiencies(
    trials: Trials, levels: list[str], method: Method = Method.STUDENT, looks: Looks = ONE_LOOK
) -> list[Efficiency]:
    """The efficiency of each level above the smallest one, in their order; empty for fewer than two.

    Levels are compared over what both have of the combinations of the other factors in a block; where two blocks
    have none, the ratio is not known.

    Args:
        trials: with the work per second as value, such as a bandwidth; their factors are the other ones.
        levels: the number of ranks of each trial, as text.
        method: of the intervals.
        looks: after which blocks the study may have ended.
    """
    known = levels_of(levels)
    counts = {level: number_of(level) for level in known}
    if len(known) < 2 or not all(0 < count < math.inf for count in counts.values()):
        return []
    each: Floats = trials.value / [counts[level] for level in levels]
    matched = Matched(
        Trials(trials.block, levels, each), levels, cells_of(trials.factors, len(trials))
    ).log_ratios(known[0])
    ratios = simultaneous_of(matched, known[0], method=method, looks=looks)
    by_level = {ratio.setting: ratio for ratio in ratios}
    return [
        Efficiency(level, counts[level], by_level.get(level, unknown(level, known[0], LEVEL)))
        for level in known[1:]
    ]


def enough_up_to(found: list[Efficiency]) -> int:
    """How many levels above the smallest keep enough efficiency, counted until one of them may not."""
    for number, level in enumerate(found):
        if not level.is_enough:
            return number
    return len(found)
