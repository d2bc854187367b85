"""The best setting for each workload of a study that has several, with how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.study.objective import Objective
from workalike.study.report.chances import SURE, chance_text
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable, shown
from workalike.study.settings import WORKLOAD
from workalike.study.statistics.best import is_better_than_all, p_best
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.table import Better, Trials, geometric_means

MOST_NAMED = 6
"""Workloads that the sentence names; all are in the table."""


def header_of(objective: Objective) -> tuple[str, ...]:
    """Of the rows as CSV."""
    return ("workload", "setting", f"mean_{objective.header}", "p_best", "settings", "second")


@dataclass(frozen=True)
class BestOfWorkload:
    """The setting that is most likely the best for one workload, and the next one."""

    workload: str
    setting: str
    mean: float
    """Geometric mean of its trials, in the unit of the study's objective."""
    p_best: float
    settings: int
    """How many were measured with this workload."""
    second: str
    is_decided: bool
    """It is better than every other setting of its workload."""

    def row(self) -> Row:
        return (self.workload, self.setting, self.mean, self.p_best, self.settings, self.second)


def best_of_workloads(table: StudyTable) -> list[BestOfWorkload]:
    """A row for each workload; none where there is no choice: one workload, or one setting of each."""
    trials = table.trials()
    column = trials.factors.get(WORKLOAD, [])
    better, level = table.objective.better, table.looks.level(LEVEL)
    found = [_best(trials, name, better, level) for name in dict.fromkeys(column)]
    known = [best for best in found if best is not None]
    return known if len(known) > 1 and any(best.settings > 1 for best in known) else []


def _best(trials: Trials, workload: str, better: Better, level: float) -> BestOfWorkload | None:
    """The best setting of a workload; None if none of its trials worked."""
    rows = [row for row, name in enumerate(trials.factors[WORKLOAD]) if name == workload]
    own = Trials(trials.block[rows], [trials.setting[row] for row in rows], trials.value[rows])
    means = geometric_means(own)
    if not means:
        return None
    chances = p_best(own, better) if len(means) > 1 else dict.fromkeys(means, 1.0)
    first, *rest = sorted(means, key=lambda name: (-chances[name], -better.sign * means[name]))
    second = _without(rest[0], workload) if rest else ""
    is_decided = chances[first] >= SURE and is_better_than_all(own, first, better, level=level)
    return BestOfWorkload(
        workload, _without(first, workload), means[first], chances[first], len(means), second, is_decided
    )


def _without(setting: str, workload: str) -> str:
    """A setting's name without the workload's, which is the same in all of them."""
    return setting.removeprefix(f"{WORKLOAD}={workload} ")


def best_text(found: list[BestOfWorkload]) -> str:
    """A sentence for the top of the page."""
    parts = [f"{shown(best.workload)}: {_how_sure(best)}" for best in found[:MOST_NAMED]]
    hidden = len(found) - len(parts)
    return "; ".join(parts) + (f"; and {hidden} more in the table." if hidden else ".")


def _how_sure(best: BestOfWorkload) -> str:
    name = shown(best.setting)
    if best.settings == 1:
        return f"only {name} was measured"
    if best.is_decided:
        return f"{name} (probability {chance_text(best.p_best)})"
    return f"not decided, perhaps {name} (probability {chance_text(best.p_best)}), else {shown(best.second)}"
