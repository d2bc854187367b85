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
from workalike.text import interval_text, plural, portion_text, rate_text, ratio_text


def best_text(rows: Sequence[SettingRow], objective: Objective) -> str:
    """Which setting is the best, and how sure that is."""
    first = rows[0]
    if not math.isfinite(first.mean):
        return "No trial succeeded."
    if len(rows) == 1:
        return f"Only {shown(first.name)} was measured: {objective.amount(first.mean)} on average."
    chance = chance_text(first.p_best)
    head = f"{shown(first.name)}, with {objective.amount(first.mean)} on average"
    if first.is_best:
        return f"{head}. The probability that it is the best of {len(rows)} settings is {chance}."
    others: list[str] = []
    total = first.p_best
    for row in rows[1:]:
        if (others and total >= SURE) or len(others) == 3 or not math.isfinite(row.mean):
            break
        others.append(f"{shown(row.name)} ({100 * row.p_best:.0f} %)")
        total += row.p_best
    also = f" It may also be {', '.join(others)}; more blocks would tell." if others else ""
    return f"Not decided: perhaps {head} (probability {chance}).{also}"


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
    times = f"{ratio_text(high.ratio / low.ratio)} times"
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
        f"Yes: with {both}, {objective.phrase} is {ratio_text(most.ratio)} times what both effects alone would give "
        f"({interval_text(most.low, most.high)}), which is {word}."
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
        f"{shown(first.name)} reaches {share_of_ceiling_text(first.share)} what one process gets by large sequential "
        f"operations ({ceilings}){exceeding_text(first.share)}. Several processes may get more."
    )


def share_of_ceiling_text(share: float) -> str:
    """`50 % of`, `668 % of`, `12.3 times`: what stands before the ceiling."""
    text = portion_text(share)
    return f"{text} of" if text.endswith("%") else text


def exceeding_text(share: float) -> str:
    """The end of a sentence on a share that is above what was measured."""
    return ", which exceeds the measured ceiling" if share > 1 else ""


def end_text(review: Review) -> str:
    """Why a study that ends by its results has ended."""
    unknown = len(review.open_settings)
    if not unknown:
        return f"After {plural(review.blocks, 'block')}: {review.why.value}. Intervals hold at all looks at once."
    return (
        f"After {plural(review.blocks, 'block')}: {Why.BUDGET.value} with {plural(unknown, 'ratio')} still open. "
        "Intervals hold at all looks at once."
    )
