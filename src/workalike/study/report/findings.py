"""What a study found: rows of the table of settings, and a sentence for each question."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workalike.study.report.best_of_workloads import BestOfWorkload, best_of_workloads, best_text
from workalike.study.report.slow_dumps import SlowDumps, p95_text, slow_dumps_of, slowest_text
from workalike.study.report.table import StudyTable, shown
from workalike.study.share_of_ceiling import Possible
from workalike.study.statistics.best import p_best
from workalike.study.statistics.effects import Effect, interactions, levels_of, main_effects, number_of
from workalike.study.statistics.equality import SameSetting, same_setting
from workalike.study.statistics.multiple import simultaneous_ratios
from workalike.study.statistics.power import none_found_text
from workalike.study.statistics.ratios import Ratio, paired_ratio
from workalike.study.statistics.sequential import Review, Why
from workalike.study.statistics.table import Better, Trials
from workalike.text import plural, rate_text

SURE, LIKELY = 0.95, 0.8
LEAST_LEVELS = 3
"""Levels of a number from which on it is asked where more stops paying."""


@dataclass(frozen=True)
class SettingRow:
    """A setting in the table."""

    name: str
    bandwidth: float
    """Geometric mean of its trials; NaN where none worked."""
    trials: int
    failed: int
    ratio: Ratio | None
    """To the reference, with an interval that holds for all settings at once; None for the reference."""
    slowest: Ratio | None
    """Of the time of the slowest dump."""
    p95: Ratio | None
    """Of the 95th percentile of the dumps' times."""
    p_best: float
    share: float = math.nan
    """Of what one process could have got, the geometric mean of the trials; NaN where that was not measured."""

    @property
    def verdict(self) -> str:
        return "reference" if self.ratio is None else self.ratio.verdict


@dataclass(frozen=True)
class Answer:
    question: str
    text: str


@dataclass(frozen=True)
class Knee:
    """From which level on more of a number stops paying."""

    factor: str
    level: str
    highest: bool
    """The level is the highest measured, so that more may pay."""
    text: str


@dataclass(frozen=True)
class Findings:
    rows: list[SettingRow]
    """The best first."""
    mains: list[Effect]
    pairs: list[Effect]
    same: SameSetting | None
    knees: list[Knee]
    of_workloads: list[BestOfWorkload]
    """The best setting for each workload; empty where there is no choice."""
    answers: list[Answer]


def findings_of(table: StudyTable) -> Findings:
    """All statistics of the page."""
    trials = table.trials()
    slow = slow_dumps_of(table)
    rows = _rows(table, trials, slow)
    mains, pairs = main_effects(trials), interactions(trials)
    same = _same_of(table)
    knees = [k for name in table.factors if (k := knee_of(trials, name)) is not None]
    of_workloads = best_of_workloads(table)
    answers = [Answer("Which setting is the best?", _best_text(rows, table))]
    if of_workloads:
        answers.append(Answer("Which is the best for each workload?", best_text(of_workloads)))
    answers += [
        Answer("What differs from the reference?", _difference_text(rows, table)),
    ]
    if mains:
        answers.append(Answer("What matters most?", _matters_text(mains)))
    if pairs:
        answers.append(Answer("Do the factors depend on each other?", _pairs_text(pairs)))
    answers += [Answer(f"From where on does more {shown(k.factor)} stop paying?", k.text) for k in knees]
    if table.possible is not None and (text := _share_text(rows, table.possible)):
        answers.append(Answer("How much of the possible is that?", text))
    if text := slowest_text(slow, rows[0].name):
        answers.append(Answer("And the slowest dump?", text))
    if text := p95_text(slow):
        answers.append(Answer("And the 95th percentile of dumps?", text))
    if table.search:
        answers.append(Answer("How were the settings chosen?", table.search))
    if table.reviews is not None:
        answers.append(Answer("Why did it end?", _end_text(table.reviews.settings)))
    checked = (
        same.text if same else "This study has no A/A check: one setting under two names was not measured."
    )
    answers.append(Answer("Can the comparison be trusted?", checked))
    return Findings(rows, mains, pairs, same, knees, of_workloads, answers)


def _same_of(table: StudyTable) -> SameSetting | None:
    if table.same is None:
        return None
    looked = table.reviews.same if table.reviews else None
    ratio = looked.standings[0].ratio if looked and looked.standings else None
    return same_setting(table.trials(with_copy=True), *table.same, ratio=ratio)


def _rows(table: StudyTable, trials: Trials, slow: SlowDumps) -> list[SettingRow]:
    base = table.base()
    fixed = {r.setting: r for r in simultaneous_ratios(trials, base)}
    ratios = fixed if table.reviews is None else table.reviews.ratios()
    chances = p_best(trials, Better.HIGHER)
    shares = _shares(table)
    log = trials.log_value()
    by_setting: dict[str, list[float]] = {name: [] for name in trials.setting}
    for name, value in zip(trials.setting, log.tolist(), strict=True):
        by_setting[name].append(value)
    rows = []
    for name, values in by_setting.items():
        good = [v for v in values if math.isfinite(v)]
        mean = math.exp(sum(good) / len(good)) if good else math.nan
        failed = len(values) - len(good)
        rows.append(
            SettingRow(
                name,
                mean,
                len(values),
                failed,
                ratios.get(name),
                slow.slowest.get(name),
                slow.p95.get(name),
                chances[name],
                shares.get(name, math.nan),
            )
        )
    return sorted(rows, key=lambda r: (-r.p_best, -r.bandwidth if math.isfinite(r.bandwidth) else math.inf))


def _shares(table: StudyTable) -> dict[str, float]:
    """Setting -> its bandwidth as a share of what one process could have got, the geometric mean of its trials."""
    if table.possible is None:
        return {}
    shares = table.trials(table.bandwidth / table.possible.rate)
    log, names = shares.log_value(), np.array(shares.setting, dtype=object)
    known = {name: log[(names == name) & np.isfinite(log)] for name in dict.fromkeys(shares.setting)}
    return {name: math.exp(float(values.mean())) for name, values in known.items() if len(values)}


def _share_text(rows: list[SettingRow], possible: Possible) -> str:
    """What the best setting reaches beside one process, and what that was; empty where no ceiling matches."""
    first = rows[0]
    if not math.isfinite(first.share):
        return ""
    ceilings = "; ".join(
        f"{words}: {rate_text(ceiling.median)}, from {rate_text(min(ceiling.values))} to "
        f"{rate_text(max(ceiling.values))}"
        for words, ceiling in possible.ceilings.items()
    )
    return (
        f"{shown(first.name)} reaches {100 * first.share:.0f} % of what one process gets by large sequential "
        f"operations ({ceilings}). Several processes may get more."
    )


def _best_text(rows: list[SettingRow], table: StudyTable) -> str:
    first = rows[0]
    if not math.isfinite(first.bandwidth):
        return "No trial succeeded."
    if len(rows) == 1:
        return f"Only {shown(first.name)} was measured: {rate_text(first.bandwidth)} on average."
    chance = f"{100 * first.p_best:.0f} %" if first.p_best < 0.995 else "more than 99 %"
    head = f"{shown(first.name)}, with {rate_text(first.bandwidth)} on average"
    if first.p_best >= SURE:
        return f"{head}. The probability that it is the best of {len(rows)} settings is {chance}."
    others: list[str] = []
    total = first.p_best
    for row in rows[1:]:
        if total >= SURE or len(others) == 3:
            break
        others.append(f"{shown(row.name)} ({100 * row.p_best:.0f} %)")
        total += row.p_best
    sure = "Probably" if first.p_best >= LIKELY else "Not decided: perhaps"
    return (
        f"{sure} {head} (probability {chance}). It may also be {', '.join(others)}; more blocks would tell."
    )


def _difference_text(rows: list[SettingRow], table: StudyTable) -> str:
    base = shown(table.base())
    known = [(r, r.ratio) for r in rows if r.ratio is not None and r.ratio.is_known]
    if not known:
        return f"Nothing can be said: no setting has two blocks in common with the reference, {base}."
    faster = [pair for pair in known if pair[1].low > 1]
    slower = [pair for pair in known if pair[1].high < 1]
    if not faster and not slower:
        widest = max((ratio for _, ratio in known), key=lambda r: r.sd_log)
        return f"Compared with {base}: {none_found_text(widest, alpha=0.05 / len(known))}"
    parts = []
    for word, found in (("faster", faster), ("slower", slower)):
        if found:
            row, ratio = max(found, key=lambda pair: abs(math.log(pair[1].ratio)))
            parts.append(
                f"{plural(len(found), 'setting')} {'is' if len(found) == 1 else 'are'} {word}, most of all "
                f"{shown(row.name)}: {times_text(ratio)}"
            )
    rest = len(known) - len(faster) - len(slower)
    tail = f" For {plural(rest, 'setting')} no difference was found." if rest else ""
    return f"Compared with {base}, {'; '.join(parts)}.{tail}"


def _end_text(review: Review) -> str:
    """Why a study that ends by its results has ended."""
    unknown = len(review.open_settings)
    if not unknown:
        return f"After {plural(review.blocks, 'block')}: {review.why.value}. Intervals hold at all looks at once."
    return (
        f"After {plural(review.blocks, 'block')}: {Why.BUDGET.value} with {plural(unknown, 'ratio')} still open. "
        "Intervals hold at all looks at once."
    )


def times_text(ratio: Ratio) -> str:
    """A ratio with its interval, for a sentence."""
    return f"{ratio.ratio:.2f} times its bandwidth ({ratio.low:.2f} to {ratio.high:.2f})"


def _matters_text(mains: list[Effect]) -> str:
    spans: dict[str, tuple[Effect, Effect]] = {}
    for factor in dict.fromkeys(e.factors[0] for e in mains):
        own = sorted((e for e in mains if e.factors[0] == factor), key=lambda e: e.ratio)
        spans[factor] = (own[0], own[-1])
    ranked = sorted(spans, key=lambda f: -spans[f][1].ratio / max(spans[f][0].ratio, 1e-300))
    clear = [f for f in ranked if any(e.p < 0.05 for e in mains if e.factors[0] == f)]
    if not clear:
        return "No factor has an effect that stands out from the noise."
    low, high = spans[clear[0]]
    text = (
        f"{shown(clear[0])}: {shown(high.levels[0])} is {high.ratio / low.ratio:.2f} times as fast as "
        f"{shown(low.levels[0])}, averaged over everything else."
    )
    rest = [shown(f) for f in ranked if f not in clear]
    return text + (f" No effect was found of {', '.join(rest)}." if rest else "")


def _pairs_text(pairs: list[Effect]) -> str:
    clear = [e for e in pairs if e.p < 0.05]
    if not clear:
        return "No: the effect of each factor is about the same whatever the others are."
    most = max(clear, key=lambda e: abs(math.log(e.ratio)))
    both = " with ".join(f"{shown(f)} {shown(v)}" for f, v in zip(most.factors, most.levels, strict=True))
    return (
        f"Yes: {both} is {most.ratio:.2f} times what both effects alone would give "
        f"({most.low:.2f} to {most.high:.2f})."
    )


def knee_of(trials: Trials, factor: str) -> Knee | None:
    """The lowest level of a number that no higher level beats; None where the factor is not such a number."""
    # A word such as `default` has no place among the numbers.
    words = [level for level in set(trials.factors[factor]) if not math.isfinite(number_of(level))]
    levels = levels_of([level for level in trials.factors[factor] if level not in words])
    if factor == "ranks" or len(levels) < LEAST_LEVELS:
        return None
    by_level = Trials(trials.block, trials.factors[factor], trials.value)
    for place, level in enumerate(levels[:-1]):
        higher = levels[place + 1 :]
        ratios = [paired_ratio(by_level, more, level, level=1 - 0.05 / len(higher)) for more in higher]
        if not any(r.is_known for r in ratios):
            return None
        if not any(r.low > 1 for r in ratios):
            widest = max((r for r in ratios if r.is_known), key=lambda r: r.sd_log)
            said = none_found_text(widest, alpha=0.05 / len(higher)).replace("No difference found; a", "A")
            worse = ", and the highest is slower" if ratios[-1].high < 1 else ""
            text = f"From {shown(level)} on: no higher level was found to be faster{worse}. {said}"
            return Knee(factor, level, False, text)
    text = f"Not within what was measured: the highest level, {shown(levels[-1])}, is still faster than the one before."
    return Knee(factor, levels[-1], True, text)


def standard_error(values: np.ndarray) -> float:
    """Of a mean; NaN for fewer than two values."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
