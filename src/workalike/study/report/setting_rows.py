"""Rows of the table of settings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workalike.study.objective import Objective
from workalike.study.report.beside import Beside
from workalike.study.report.chances import SURE
from workalike.study.report.table import StudyTable
from workalike.study.statistics.best import is_better_than_all, p_best
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.multiple import simultaneous_ratios
from workalike.study.statistics.ratios import Ratio
from workalike.study.statistics.table import Trials, geometric_means


@dataclass(frozen=True)
class OtherValue:
    """A setting by an objective that does not decide."""

    mean: float
    """NaN where none worked."""
    ratio: Ratio | None
    """To the reference; None for the reference."""


@dataclass(frozen=True)
class SettingRow:
    """A setting in the table."""

    name: str
    mean: float
    """Geometric mean of its trials, in the unit of the objective that decides; NaN where none worked."""
    trials: int
    failed: int
    ratio: Ratio | None
    """To the reference, with an interval that holds for all settings at once; None for the reference."""
    beside: tuple[OtherValue, ...]
    """By each of the other objectives, in their order."""
    p_best: float
    verdict: str
    share: float = math.nan
    """Of what one process could have got, the geometric mean of the trials; NaN where that was not measured."""
    is_best: bool = False
    """It is better than every other, by its comparisons and by its probability."""


def rows_of(table: StudyTable, trials: Trials, others: Sequence[Beside]) -> list[SettingRow]:
    """A row for each setting, the one that is most likely the best first."""
    objective = table.objective
    fixed = {r.setting: r for r in simultaneous_ratios(trials, table.base(), method=table.method)}
    ratios = fixed if table.reviews is None else table.reviews.ratios()
    chances = p_best(trials, objective.better)
    shares = _shares(table)
    means, every = geometric_means(trials), Counter(trials.setting)
    good = Counter(
        name
        for name, value in zip(trials.setting, trials.log_value().tolist(), strict=True)
        if math.isfinite(value)
    )
    rows = []
    for name, number in every.items():
        ratio = ratios.get(name)
        rows.append(
            SettingRow(
                name,
                mean=means.get(name, math.nan),
                trials=number,
                failed=number - good[name],
                ratio=ratio,
                beside=tuple(OtherValue(o.means.get(name, math.nan), o.ratios.get(name)) for o in others),
                p_best=chances[name],
                verdict="reference" if ratio is None else ratio.verdict(objective.better),
                share=shares.get(name, math.nan),
            )
        )
    rows.sort(key=lambda row: (-row.p_best, _place(row, objective)))
    rows[0] = replace(rows[0], is_best=_is_best(rows, table, trials))
    return rows


def _is_best(rows: Sequence[SettingRow], table: StudyTable, trials: Trials) -> bool:
    """Whether the first is the best: no comparison says that there may be no difference."""
    first, better = rows[0], table.objective.better
    if first.p_best < SURE or not is_better_than_all(
        trials, first.name, better, level=table.looks.level(LEVEL)
    ):
        return False
    if first.ratio is not None:
        return first.ratio.is_better(better)
    return any(row.ratio is not None and row.ratio.is_worse(better) for row in rows)


def _place(row: SettingRow, objective: Objective) -> float:
    """Small for a good mean; infinite where none worked."""
    return -objective.better.sign * row.mean if math.isfinite(row.mean) else math.inf


def _shares(table: StudyTable) -> dict[str, float]:
    """Setting -> its bandwidth as a share of what one process could have got, the geometric mean of its trials."""
    if table.possible is None:
        return {}
    return geometric_means(table.trials(table.bandwidth / table.possible.rate))
