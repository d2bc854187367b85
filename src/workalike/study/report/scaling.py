"""How far a study scales: efficiency by ranks or nodes, and from where on more of them stop paying."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.study.objective import Objective
from workalike.study.report.knees import Knee, knee_of
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable
from workalike.study.statistics.effects import levels_of, number_of
from workalike.study.statistics.matched import Matched, cells_of, means_by_place, whole_rows
from workalike.study.statistics.scaling import Efficiency, efficiencies
from workalike.study.statistics.table import Floats, Trials

WEAK, STRONG = "weak", "strong"
ALL = "all settings"
MOST_GROUPS = 6
"""Levels of another factor that each have a line of their own."""
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
    """The smallest number of which a trial succeeded."""
    levels: list[Efficiency]
    knee: Knee | None
    failed: Sequence[str] = ()
    """Numbers of which no trial succeeded."""
    blocks: int = 0
    averaged: Sequence[str] = ()
    """Factors that the efficiency is the mean over."""

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
    """What the table is grouped by, else the first other factor that varies and has few levels."""
    if table.group_by in table.factors and table.group_by != factor:
        return Groups(table.group_by, table.factors[table.group_by])
    for name in others_of(table, factor):
        if 1 < len(set(table.factors[name])) <= MOST_GROUPS:
            return Groups(name, table.factors[name])
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
    own = trials.factors[groups.factor] if groups.factor else [ALL] * len(trials)
    found = [
        _scaling_of(
            table,
            factor,
            group,
            kinds[group],
            _part(trials, [row for row, name in enumerate(own) if name == group]),
        )
        for group in groups.levels()
    ]
    return [scaling for scaling in found if scaling is not None]


def _scaling_of(table: StudyTable, factor: str, group: str, kind: str, trials: Trials) -> Scaling | None:
    """The scaling of the trials of a group; None where fewer than two numbers were measured, or no work is known."""
    column = trials.factors[factor]
    usable = np.flatnonzero(np.isfinite(trials.log_value())).tolist()
    worked = {column[row] for row in usable}
    every = levels_of(column)
    if not worked or len(every) < 2:
        return None
    part = _part(trials, usable)
    factors = {name: part.factors[name] for name in others_of(table, factor)}
    counted = list(part.factors[factor])
    known = efficiencies(Trials(part.block, counted, part.value, factors), counted, table.method, table.looks)
    whole = Trials(part.block, counted, part.value, factors | {factor: counted})
    return Scaling(
        factor,
        table.counts[factor],
        group,
        kind,
        levels_of(counted)[0],
        known,
        knee_of(whole, factor, Objective.BANDWIDTH, 2, table.method, table.looks),
        [level for level in every if level not in worked],
        len(np.unique(part.block)),
        _averaged(part, counted, factors),
    )


def _averaged(trials: Trials, counted: Sequence[str], factors: dict[str, Sequence[str]]) -> list[str]:
    """The factors that differ between combinations in which numbers are compared."""
    means = means_by_place(trials.block, cells_of(factors, len(trials)), counted, trials.log_value())
    compared = [place.cell for place, by_level in means.items() if len(by_level) > 1]
    return [name for number, name in enumerate(factors) if len({cell[number] for cell in compared}) > 1]


def _part(trials: Trials, rows: Sequence[int]) -> Trials:
    """Some of the trials."""
    chosen = list(rows)
    return Trials(
        trials.block[chosen],
        [trials.setting[row] for row in chosen],
        trials.value[chosen],
        {name: [column[row] for row in chosen] for name, column in trials.factors.items()},
    )


def others_of(table: StudyTable, factor: str) -> list[str]:
    """The factors that have to be alike where levels of this one are compared.

    Nodes that go with ranks one to one are not another factor: more of both is what is compared.
    """
    own = table.factors[factor]
    return [
        name
        for name, column in table.factors.items()
        if name != factor
        and not (name in table.counts and factor in table.counts and _go_together(own, column))
    ]


def _go_together(first: Sequence[str], other: Sequence[str]) -> bool:
    return len(set(zip(first, other, strict=True))) == len(set(first)) == len(set(other)) > 1


def alike_rows(table: StudyTable, factor: str, groups: Groups) -> np.ndarray:
    """The trials that a mean for each number is of: those with the same other factors; of a group without any, all."""
    value = table.values()
    value = np.where(np.isfinite(value) & (value > 0), value, np.nan)
    others = {name: table.factors[name] for name in others_of(table, factor) if name != groups.factor}
    cells, own = cells_of(others, len(table.block)), np.array(groups.column, dtype=object)
    chosen = np.zeros(len(value), dtype=bool)
    for group in groups.levels():
        rows = np.flatnonzero(own == group)
        levels = [table.factors[factor][row] for row in rows.tolist()]
        whole = whole_rows(table.block[rows], [cells[row] for row in rows.tolist()], levels, value[rows])
        chosen[rows] = whole if whole.any() else np.isfinite(value[rows])
    return chosen


def kinds_of(table: StudyTable, factor: str, groups: Groups) -> dict[str, str]:
    """Group -> weak, strong, or empty: as the study asked for ranks, else by the bytes that trials move.

    What a study asks for is of its ranks. Where nodes are counted, the bytes have to tell: with a fixed number of
    ranks, more nodes do the same work.
    """
    own = np.array(groups.column, dtype=object)
    has_asked = bool(table.scaling) and table.counts.get(factor) == "ranks"
    kinds = {}
    for group in groups.levels():
        rows = np.flatnonzero(own == group)
        asked = {table.scaling[row] for row in rows.tolist()} if has_asked else {""}
        kinds[group] = asked.pop() if len(asked) == 1 and "" not in asked else _by_bytes(table, factor, rows)
    return kinds


def _by_bytes(table: StudyTable, factor: str, rows: np.ndarray) -> str:
    """Weak where the bytes of a trial grow with the ranks, strong where they stay, other factors being alike."""
    dumps, count = table.dumps, len(table.block)
    inside = (dumps.trial >= 0) & (dumps.trial < count) & np.isfinite(dumps.bytes)
    weights = np.bincount(dumps.trial[inside], weights=dumps.bytes[inside], minlength=count)
    total = np.asarray(weights, dtype=np.float64)
    factors = {name: table.factors[name] for name in (factor, *others_of(table, factor))}
    trials = _part(Trials(table.block, table.setting, total, factors), rows.tolist())
    levels = levels_of(trials.factors[factor])
    matched = Matched(trials, trials.factors[factor], cells_of(trials.factors, len(trials), [factor]))
    columns = matched.log_ratios(levels[0])
    if not columns:
        return ""
    most = levels_of(list(columns))[-1]
    grown = math.exp(float(np.nanmedian(columns[most])))
    expected = number_of(most) / number_of(levels[0])
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
