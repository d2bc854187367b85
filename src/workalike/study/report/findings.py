"""What a study found: rows of the table of settings, and a sentence for each question."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workalike.notebook import html_table
from workalike.study.report import sentences
from workalike.study.report.beside import Beside, beside_of, beside_texts
from workalike.study.report.best_of_workloads import BestOfWorkload, best_of_workloads, best_text
from workalike.study.report.knees import Knee, knee_of
from workalike.study.report.not_compared import not_compared_text
from workalike.study.report.scaling import Scaling, scalings_of
from workalike.study.report.scaling_text import scaling_text
from workalike.study.report.setting_rows import SettingRow, rows_of
from workalike.study.report.slopes import Growth, growths_of, slopes_text
from workalike.study.report.table import StudyTable, shown
from workalike.study.report.variability import variability_in, variability_text
from workalike.study.statistics.effects import Effect, interactions, main_effects
from workalike.study.statistics.equality import SameSetting, same_setting
from workalike.study.statistics.variability import Variability


@dataclass(frozen=True)
class Answer:
    question: str
    text: str


@dataclass(frozen=True)
class Findings:
    rows: list[SettingRow]
    """The best first."""
    beside: list[Beside]
    """Other objectives."""
    mains: list[Effect]
    pairs: list[Effect]
    same: SameSetting | None
    knees: list[Knee]
    scalings: list[Scaling]
    """By ranks or nodes, for each group; empty where neither varies."""
    growths: list[Growth]
    """How times grow with each factor of numbers."""
    of_workloads: list[BestOfWorkload]
    """The best setting for each workload; empty where there is no choice."""
    variability: Variability | None
    """Of the system; None where there are too few blocks or settings."""
    answers: list[Answer]

    def _repr_html_(self) -> str:
        """For notebooks: the questions of the study's page with their answers."""
        rows = [(each.question, each.text) for each in self.answers]
        return html_table("Findings of a study", ("question", "answer"), rows, longest=1000)


def findings_of(table: StudyTable) -> Findings:
    """All statistics of the page."""
    trials = table.trials()
    others = beside_of(table)
    rows = rows_of(table, trials, others)
    mains, pairs = main_effects(trials, looks=table.looks), interactions(trials, looks=table.looks)
    knees = [
        knee_of(trials, name, table.objective, method=table.method, looks=table.looks)
        for name in table.factors
        if name not in table.counts
    ]
    found = Findings(
        rows,
        others,
        mains,
        pairs,
        _same_of(table),
        [knee for knee in knees if knee is not None],
        scalings_of(table),
        growths_of(table),
        best_of_workloads(table),
        variability_in(table),
        [],
    )
    found.answers.extend(_answers(table, found))
    return found


def _answers(table: StudyTable, found: Findings) -> list[Answer]:
    """A sentence for each question that the study has an answer to."""
    rows, objective = found.rows, table.objective
    answers = [Answer("Which setting is the best?", sentences.best_text(rows, objective))]
    if found.of_workloads:
        answers.append(Answer("Which is the best for each workload?", best_text(found.of_workloads)))
    if text := scaling_text(found.scalings):
        answers.append(Answer("How far does it scale?", text))
    answers.append(Answer("What differs from the reference?", sentences.difference_text(rows, table)))
    if found.mains:
        answers.append(Answer("What matters most?", sentences.matters_text(found.mains, objective)))
    if found.pairs:
        answers.append(
            Answer("Do the factors depend on each other?", sentences.pairs_text(found.pairs, objective))
        )
    answers += [
        Answer(f"From where on does more {shown(k.factor)} stop paying?", k.text) for k in found.knees
    ]
    for factor in dict.fromkeys(growth.factor for growth in found.growths):
        own = [growth for growth in found.growths if growth.factor == factor]
        answers.append(Answer(f"How do times grow with {shown(factor)}?", slopes_text(own)))
    if text := not_compared_text(table, found.knees, found.growths):
        answers.append(Answer("What can these trials not tell?", text))
    if table.possible is not None and (text := sentences.share_text(rows, table.possible)):
        answers.append(Answer("How much of the possible is that?", text))
    answers += [Answer(*said) for said in beside_texts(found.beside, rows[0].name)]
    if found.variability is not None:
        answers.append(Answer("How variable is this system?", variability_text(table, found.variability)))
    if table.search:
        answers.append(Answer("How were the settings chosen?", table.search))
    if table.reviews is not None:
        answers.append(Answer("Why did it end?", sentences.end_text(table.reviews.settings)))
    checked = (
        found.same.text
        if found.same
        else "This study has no A/A check: one setting under two names was not measured."
    )
    answers.append(Answer("Can the comparison be trusted?", checked))
    return answers


def _same_of(table: StudyTable) -> SameSetting | None:
    if table.same is None:
        return None
    looked = table.reviews.same if table.reviews else None
    trials, method = table.trials(with_copy=True), table.method
    if looked is None or not looked.standings:
        return same_setting(trials, *table.same, method=method)
    return same_setting(
        trials, *table.same, ratio=looked.standings[0].ratio, error=looked.error, method=method
    )


def standard_error(values: np.ndarray) -> float:
    """Of a mean; NaN for fewer than two values."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
