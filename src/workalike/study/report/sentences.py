"""A sentence for each question of a study's page, for readers who know no statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workalike.study.objective import Objective
from workalike.study.report.chances import SURE, chance_text
from workalike.study.report.setting_rows import SettingRow
from workalike.study.report.table import StudyTable, shown
from workalike.study.share_of_ceiling import Possible
from workalike.study.statistics.effects import Effect
from workalike.study.statistics.power import none_found_text
from workalike.study.statistics.sequential import Review, Why
from workalike.study.statistics.table import Better
from workalike.text import plural, rate_text

LIKELY = 0.8


def best_text(rows: Sequence[SettingRow], objective: Objective) -> str:
    """Which setting is the best, and how sure that is."""
    first = rows[0]
    if not math.isfinite(first.mean):
        return "No trial succeeded."
    if len(rows) == 1:
        return f"Only {shown(first.name)} was measured: {objective.amount(first.mean)} on average."
    chance = chance_text(first.p_best)
    head = f"{shown(first.name)}, with {objective.amount(first.mean)} on average"
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


def difference_text(rows: Sequence[SettingRow], table: StudyTable) -> str:
    """Which settings differ from the reference."""
    base, objective = shown(table.base()), table.objective
    known = [(r, r.ratio) for r in rows if r.ratio is not None and r.ratio.is_known]
    if not known:
        return f"Nothing can be said: no setting has two blocks in common with the reference, {base}."
    faster = [pair for pair in known if pair[1].is_better(objective.better)]
    slower = [pair for pair in known if pair[1].is_worse(objective.better)]
    if not faster and not slower:
        widest = max((ratio for _, ratio in known), key=lambda r: r.sd_log)
        error = 0.05 / len(known) if table.reviews is None else table.reviews.settings.error
        return f"Compared with {base}: {none_found_text(widest, error)}"
    parts = []
    for word, found in (("faster", faster), ("slower", slower)):
        if found:
            row, ratio = max(found, key=lambda pair: abs(math.log(pair[1].ratio)))
            parts.append(
                f"{plural(len(found), 'setting')} {'is' if len(found) == 1 else 'are'} {word}, most of all "
                f"{shown(row.name)}: {objective.times(ratio)}"
            )
    rest = len(known) - len(faster) - len(slower)
    tail = f" For {plural(rest, 'setting')} no difference was found." if rest else ""
    return f"Compared with {base}, {'; '.join(parts)}.{tail}"


def matters_text(mains: Sequence[Effect], objective: Objective) -> str:
    """Which factor has the largest effect."""
    spans: dict[str, tuple[Effect, Effect]] = {}
    for factor in dict.fromkeys(e.factors[0] for e in mains):
        own = sorted((e for e in mains if e.factors[0] == factor), key=lambda e: e.ratio)
        spans[factor] = (own[0], own[-1])
    ranked = sorted(spans, key=lambda f: -spans[f][1].ratio / max(spans[f][0].ratio, 1e-300))
    clear = [f for f in ranked if any(e.p < 0.05 for e in mains if e.factors[0] == f)]
    if not clear:
        return "No factor has an effect that stands out from the noise."
    low, high = spans[clear[0]]
    times = f"{high.ratio / low.ratio:.2f} times"
    few, many = shown(low.levels[0]), shown(high.levels[0])
    text = (
        f"{shown(clear[0])}: {many} is {times} as fast as {few}, averaged over everything else."
        if objective.better is Better.HIGHER
        else f"{shown(clear[0])}: with {many}, {objective.phrase} is {times} that with {few}, averaged over everything else."
    )
    rest = [shown(f) for f in ranked if f not in clear]
    return text + (f" No effect was found of {', '.join(rest)}." if rest else "")


def pairs_text(pairs: Sequence[Effect], objective: Objective) -> str:
    """Whether factors depend on each other."""
    clear = [e for e in pairs if e.p < 0.05]
    if not clear:
        return "No dependence of one factor's effect on the others was found."
    most = max(clear, key=lambda e: abs(math.log(e.ratio)))
    both = " and ".join(f"{shown(f)} {shown(v)}" for f, v in zip(most.factors, most.levels, strict=True))
    word = "better" if (most.ratio > 1) == (objective.better is Better.HIGHER) else "worse"
    return (
        f"Yes: with {both}, {objective.phrase} is {most.ratio:.2f} times what both effects alone would give "
        f"({most.low:.2f} to {most.high:.2f}), which is {word}."
    )


def share_text(rows: Sequence[SettingRow], possible: Possible) -> str:
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


def end_text(review: Review) -> str:
    """Why a study that ends by its results has ended."""
    unknown = len(review.open_settings)
    if not unknown:
        return f"After {plural(review.blocks, 'block')}: {review.why.value}. Intervals hold at all looks at once."
    return (
        f"After {plural(review.blocks, 'block')}: {Why.BUDGET.value} with {plural(unknown, 'ratio')} still open. "
        "Intervals hold at all looks at once."
    )
