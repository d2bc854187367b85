"""How far a study scales: efficiency by ranks or nodes, and from where on more of them stop paying."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.study.objective import Objective
from workalike.study.report.knees import Knee, knee_of
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import levels_of, number_of
from workalike.study.statistics.scaling import ENOUGH, Efficiency, efficiencies, enough_up_to
from workalike.study.statistics.table import Floats, Trials
from workalike.text import plural

WEAK, STRONG = "weak", "strong"
ALL = "all settings"
MOST_GROUPS = 6
"""Levels of another factor that each have a line of their own."""
MOST_NAMED = 4
"""Groups that the sentence names; all are in the figure."""
ALIKE = 0.2
"""Bytes that differ by less of what a kind of scaling gives say that it is that kind."""


@dataclass(frozen=True)
class Groups:
    """A line for each level of another factor; `factor` is empty where nothing else varies."""

    factor: str
    column: Sequence[str]

    def levels(self) -> list[str]:
        return levels_of(self.column)


@dataclass(frozen=True)
class Scaling:
    """The scaling of one group."""

    factor: str
    counted: str
    """What the factor counts: ranks or nodes."""
    group: str
    kind: str
    """`weak`, `strong`, or empty where it is neither."""
    smallest: str
    levels: list[Efficiency]
    knee: Knee | None

    def csv_rows(self) -> list[Row]:
        first: Row = (self.group, number_of(self.smallest), 1.0, 1.0, 1.0, "")
        rest = [
            (self.group, e.count, e.ratio.ratio, e.ratio.low, e.ratio.high, e.ratio.pairs)
            for e in self.levels
            if e.ratio.is_known
        ]
        return [first, *rest]


HEADER = ("group", "count", "efficiency", "low", "high", "blocks")


def groups_of(table: StudyTable, factor: str) -> Groups:
    """The first other factor that varies and has few levels."""
    for name, column in table.factors.items():
        if name != factor and 1 < len(set(column)) <= MOST_GROUPS:
            return Groups(name, column)
    return Groups("", [ALL] * len(table.block))


def counting_factor(table: StudyTable) -> str | None:
    """The first factor that sets ranks or nodes by numbers, and varies."""
    for name in table.counts:
        column = set(table.factors.get(name, ()))
        if len(column) > 1 and all(number_of(level) > 0 for level in column):
            return name
    return None


def scalings_of(table: StudyTable) -> list[Scaling]:
    """A result for each group; none where neither ranks nor nodes vary."""
    factor = counting_factor(table)
    if factor is None:
        return []
    groups = groups_of(table, factor)
    kinds = kinds_of(table, factor, groups)
    trials = table.trials(_work_per_second(table, factor, groups, kinds))
    column = trials.factors[factor]
    own = trials.factors[groups.factor] if groups.factor else [ALL] * len(trials)
    found = []
    for group in groups.levels():
        rows = [row for row, name in enumerate(own) if name == group]
        levels = [column[row] for row in rows]
        part = Trials(trials.block[rows], levels, trials.value[rows], {factor: levels})
        known = efficiencies(part, levels, table.method)
        if known:
            knee = knee_of(part, factor, Objective.BANDWIDTH, 2, table.method)
            first = levels_of(levels)[0]
            found.append(Scaling(factor, table.counts[factor], group, kinds[group], first, known, knee))
    return found


def kinds_of(table: StudyTable, factor: str, groups: Groups) -> dict[str, str]:
    """Group -> weak, strong, or empty: as the study asked for, else by the bytes that trials move."""
    own = np.array(groups.column, dtype=object)
    kinds = {}
    for group in groups.levels():
        rows = np.flatnonzero(own == group)
        asked = {table.scaling[row] for row in rows.tolist()} if table.scaling else {""}
        kinds[group] = asked.pop() if len(asked) == 1 and "" not in asked else _by_bytes(table, factor, rows)
    return kinds


def _by_bytes(table: StudyTable, factor: str, rows: np.ndarray) -> str:
    """Weak where the bytes of a trial grow with the ranks, strong where they stay."""
    dumps, trials = table.dumps, len(table.block)
    inside = (dumps.trial >= 0) & (dumps.trial < trials) & np.isfinite(dumps.bytes)
    total = np.bincount(dumps.trial[inside], weights=dumps.bytes[inside], minlength=trials)[rows]
    counts = np.array([number_of(table.factors[factor][row]) for row in rows.tolist()])
    few, many = (np.median(total[counts == count]) for count in (counts.min(), counts.max()))
    if few <= 0 or many <= 0:
        return ""
    grown, expected = many / few, counts.max() / counts.min()
    return WEAK if abs(grown / expected - 1) < ALIKE else STRONG if abs(grown - 1) < ALIKE else ""


def _work_per_second(table: StudyTable, factor: str, groups: Groups, kinds: dict[str, str]) -> Floats:
    """What the objective says of the speed: a bandwidth, or the reciprocal of a time, times the ranks if weak."""
    value = table.values()
    if table.objective is Objective.BANDWIDTH:
        return value
    counts = np.array([number_of(level) for level in table.factors[factor]])
    known = [kinds[group] for group in groups.column]
    work = np.where(np.array(known) == WEAK, counts, 1.0)
    work[np.array(known) == ""] = math.nan  # neither: a time does not say how much was done
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(value > 0, work / value, np.nan))


def scaling_text(found: Sequence[Scaling]) -> str:
    """Up to which number efficiency stays high, and where more stop paying, for each group; empty if not known."""
    known = [(scaling, text) for scaling in found if (text := _group_text(scaling))]
    parts = [
        text if len(found) == 1 else f"{shown(scaling.group)}: {text}" for scaling, text in known[:MOST_NAMED]
    ]
    hidden = len(known) - len(parts)
    return " ".join(parts) + (f" The figure has {hidden} more." if hidden else "")


def _group_text(scaling: Scaling) -> str:
    levels = [level for level in scaling.levels if level.ratio.is_known]
    if not levels:
        return ""
    kept, unit, limit = enough_up_to(levels), scaling.counted, f"{100 * ENOUGH:.0f} %"
    kind = f"{scaling.kind} scaling, " if scaling.kind else ""
    smallest = plural(int(number_of(scaling.smallest)), unit.removesuffix("s"))
    head = f"{kind}beside {smallest}: ".capitalize() if kind else ""
    if kept == len(levels):
        text = f"efficiency stays above {limit} up to the most that were measured, {_at(levels[-1], unit)}."
    elif kept == 0:
        verdict = f"is below {limit}" if levels[0].is_too_low else f"is not known to be above {limit}"
        text = f"efficiency {verdict} with as few as {_at(levels[0], unit)}."
    else:
        following = levels[kept]
        verdict = "it is" if following.is_too_low else "it is not decided:"
        text = (
            f"efficiency stays above {limit} up to {_at(levels[kept - 1], unit)}; "
            f"with {following.level} {verdict} {_percent(following)}."
        )
    return f"{head}{text}{_paying_text(scaling)}"


def _paying_text(scaling: Scaling) -> str:
    """Where more ranks no longer do more work per second."""
    knee, unit = scaling.knee, scaling.counted
    if knee is None:
        return ""
    if knee.highest:
        return f" More {unit} pay up to {knee.level}, the most that were measured."
    count = plural(int(number_of(knee.level)), unit.removesuffix("s"))
    return f" From {count} on, more were not found to pay."


def _at(level: Efficiency, unit: str) -> str:
    return f"{level.level} {unit}, {_percent(level)}"


def _percent(level: Efficiency) -> str:
    ratio = level.ratio
    return f"{100 * ratio.ratio:.0f} % ({100 * ratio.low:.0f} to {100 * ratio.high:.0f} %)"
