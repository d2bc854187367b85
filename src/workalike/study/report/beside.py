"""Other objectives beside the one that decides: each compared in the same way, one number for each trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.study.objective import Objective
from workalike.study.report.chances import SURE, chance_text
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.best import is_better_than_all, p_best
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.power import none_found_text
from workalike.study.statistics.ratios import Ratio, paired_ratios
from workalike.study.statistics.table import geometric_means
from workalike.text import is_telling, ratio_text

ALWAYS = (Objective.BANDWIDTH, Objective.SLOWEST_DUMP, Objective.P95_DUMP)
"""Reported whether or not the study names them: readers look for a bandwidth, and users wait for the slowest dump."""
QUESTIONS = {
    Objective.BANDWIDTH: "And the bandwidth?",
    Objective.IO_TIME: "And the I/O time?",
    Objective.WALL_TIME: "And the run time?",
    Objective.SLOWEST_DUMP: "And the slowest dump?",
    Objective.P95_DUMP: "And the 95th percentile of dumps?",
}
HEADER = ("objective", "unit", "setting", "mean", "ratio", "low", "high", "p_best")


@dataclass(frozen=True)
class Beside:
    """An objective that does not decide.

    Args:
        objective: which.
        ratios: to the reference, by setting, each with an interval of its own, of 95 % at any look of the study.
        means: by setting, geometric, in the objective's unit; settings that never worked are left out.
        p_best: the probability of each setting to be the best by it.
        best: the setting that is most likely the best by it.
        is_decided: whether it is better than every other setting.
    """

    objective: Objective
    ratios: Mapping[str, Ratio]
    means: Mapping[str, float]
    p_best: Mapping[str, float]
    best: str
    is_decided: bool = False

    def csv_rows(self) -> list[Row]:
        rows: list[Row] = []
        for name, mean in self.means.items():
            ratio = self.ratios.get(name)
            ends = (
                (ratio.ratio, ratio.low, ratio.high)
                if ratio is not None and ratio.is_known
                else (math.nan,) * 3
            )
            rows.append((self.objective.value, self.objective.unit, name, mean, *ends, self.p_best[name]))
        return rows


def beside_of(table: StudyTable) -> list[Beside]:
    """The objectives that the study names after the first, then those that are always reported.

    The 95th percentile is left out where no trial has two dumps, unless it is named.
    """
    named = table.objectives[1:]
    always = [
        o for o in ALWAYS if o not in table.objectives and (o is not Objective.P95_DUMP or _has_many(table))
    ]
    found = [_compared(table, objective) for objective in (*named, *always)]
    return [beside for beside in found if beside is not None]


def _has_many(table: StudyTable) -> bool:
    """Whether a trial has two dumps."""
    trial = table.dumps.trial
    return int(np.bincount(trial[trial >= 0]).max(initial=0)) > 1


def _compared(table: StudyTable, objective: Objective) -> Beside | None:
    """None where it was not measured."""
    trials = table.trials(table.values(objective))
    means = geometric_means(trials)
    if not means:
        return None
    level = table.looks.level(LEVEL)
    found = paired_ratios(trials, table.base(), level=level, method=table.method)
    ratios = {ratio.setting: ratio for ratio in found}
    chances = p_best(trials, objective.better)
    sign = objective.better.sign
    best = min(means, key=lambda name: (-chances[name], -sign * means[name]))
    is_decided = (
        chances[best] >= SURE
        and is_better_than_all(trials, best, objective.better, level=level)
        and (best not in ratios or ratios[best].is_better(objective.better))
    )
    return Beside(objective, ratios, means, chances, best, is_decided)


def beside_text(beside: Beside, first: str) -> str:
    """The best setting by an objective that does not decide, beside `first`, which is the best by the one that does."""
    objective, best = beside.objective, beside.best
    if len(beside.means) == 1:
        return f"{objective.shown(beside.means[best])} on average."
    chance = beside.p_best[best]
    sure = f"{objective.shown(beside.means[best])} (probability {chance_text(chance)})"
    text = (
        f"It is best with {shown(best)}: {sure}."
        if beside.is_decided
        else f"Not decided: perhaps best with {shown(best)}, {sure}."
    )
    parts = [text, *(_ratio_text(beside, name) for name in dict.fromkeys((best, first)))]
    return " ".join(part for part in parts if part)


def beside_texts(found: Sequence[Beside], first: str) -> list[tuple[str, str]]:
    """(question, answer) of each; the 95th percentile is a sentence of the slowest dump's where both say the same."""
    by_objective = {beside.objective: beside for beside in found}
    slowest, p95 = by_objective.get(Objective.SLOWEST_DUMP), by_objective.get(Objective.P95_DUMP)
    agree = slowest is not None and p95 is not None and _says_the_same(slowest, p95, first)
    texts = []
    for beside in found:
        text = beside_text(beside, first)
        if agree and beside is slowest and p95 is not None:
            mean = p95.objective.shown(p95.means[p95.best])
            text += f" The 95th percentile of dumps says the same: {mean} with {shown(p95.best)}."
        if not (agree and beside is p95):
            texts.append((QUESTIONS[beside.objective], text))
    return texts


def _says_the_same(beside: Beside, other: Beside, first: str) -> bool:
    """Whether two objectives have the same best setting, and the same verdicts on it and on `first`."""
    if beside.best != other.best:
        return False
    ratios = [(beside.ratios.get(name), other.ratios.get(name)) for name in (beside.best, first)]
    return all(
        (a is None) == (b is None)
        and (
            a is None or b is None or a.verdict(beside.objective.better) == b.verdict(other.objective.better)
        )
        for a, b in ratios
    )


def _ratio_text(beside: Beside, name: str) -> str:
    """A setting beside the reference; empty where that is not known."""
    ratio = beside.ratios.get(name)
    if ratio is None or not ratio.is_known:
        return ""
    if not ratio.differs:
        return f"Of {shown(name)} beside the reference: {none_found_text(ratio, 1 - ratio.level)}"
    less, more = ("lower", "higher") if beside.objective is Objective.BANDWIDTH else ("shorter", "longer")
    word = less if ratio.high < 1 else more
    if not is_telling(ratio.low, ratio.high):
        return f"Of {shown(name)}, it is {word}: its ratio to that of the reference is {ratio.interval}."
    times = f"{ratio_text(ratio.ratio)} times that of the reference ({ratio.interval})"
    return f"Of {shown(name)}, it is {word}: {times}."


def csv_rows_of(found: Sequence[Beside]) -> list[Row]:
    """The rows of all, for `objectives.csv`."""
    return [row for beside in found for row in beside.csv_rows()]
