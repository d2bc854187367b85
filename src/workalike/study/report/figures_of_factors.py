"""The figures of factors: what each does, and whether factors depend on each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from workalike.report.canvas import drawing
from workalike.report.palette import INK, MUTED
from workalike.study.report.chart import COLORS, MOST_CURVES, Chart, label, value_format
from workalike.study.report.findings import Findings
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import Effect, levels_of

MOST_PAIRS = 4
MOST_LEVELS = 40


def main_effects(table: StudyTable, found: Findings) -> Chart | None:
    if not found.mains:
        return None
    part = found.mains[:MOST_LEVELS]
    factors = list(dict.fromkeys(e.factors[0] for e in part))
    places, labels, place = [], [], 0.0
    previous = part[0].factors[0]
    for effect in part:
        place += 0.6 if effect.factors[0] != previous else 0
        previous = effect.factors[0]
        places.append(place)
        labels.append(f"{shown(previous)} = {shown(effect.levels[0])}")
        place += 1
    with drawing("effects", 0.8 + 0.28 * place) as drawn:
        axes = drawn.axes[0]
        axes.axvline(1, color=MUTED, linewidth=1)
        for at, effect in zip(places, part, strict=True):
            color = COLORS[factors.index(effect.factors[0]) % len(COLORS)]
            if math.isfinite(effect.high):
                axes.plot([effect.low, effect.high], [at, at], color=color, linewidth=2.4)
            axes.plot(effect.ratio, at, "o", color=color, markersize=6)
        axes.set_yticks(places, labels)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{table.objective.phrase} ÷ mean over the factor's levels")
    return Chart(
        "effects",
        "What each factor does.",
        "How far each level is above or below the mean of its factor, everything else being alike.",
        "Least squares on logarithms within blocks; 95 % intervals by leaving out one block at a time.",
        drawn.svg,
        ("factor", "level", "ratio", "low", "high", "p_holm"),
        [(e.factors[0], e.levels[0], e.ratio, e.low, e.high, e.p) for e in found.mains],
    )


def interaction_lines(table: StudyTable, found: Findings) -> Chart | None:
    """For the strongest pairs: the objective by the levels of one factor, a line for each level of the other."""
    if not found.pairs:
        return None
    strength: dict[tuple[str, ...], float] = {}
    for e in found.pairs:
        strength[e.factors] = max(strength.get(e.factors, 0.0), abs(math.log(e.ratio)))
    chosen = sorted(strength, key=lambda pair: -strength[pair])[:MOST_PAIRS]
    trials = table.trials()
    log = trials.log_value()
    across = min(2, len(chosen))
    down = -(-len(chosen) // across)
    with drawing("interactions", 2.9 * down, columns=across, rows=down) as drawn:
        for axes in drawn.axes[len(chosen) :]:
            axes.set_axis_off()
        for axes, (first_factor, second_factor) in zip(drawn.axes, chosen, strict=False):
            _lines(
                axes,
                trials.factors[first_factor],
                trials.factors[second_factor],
                log,
                first_factor,
                second_factor,
            )
            value_format(axes.yaxis, table.objective)
    return Chart(
        "interactions",
        "Do factors depend on each other?",
        "Lines that run alike say no. Lines that cross or part say that the best level of one depends on the other.",
        "Geometric means of all trials, on a logarithmic axis. The CSV file has each combination beyond both main effects, with its interval.",
        drawn.svg,
        ("factor_1", "level_1", "factor_2", "level_2", "ratio", "low", "high", "p_holm"),
        [_pair_row(e) for e in found.pairs],
    )


def _pair_row(e: Effect) -> Row:
    return (e.factors[0], e.levels[0], e.factors[1], e.levels[1], e.ratio, e.low, e.high, e.p)


def _lines(
    axes: Any, x: Sequence[str], curves: Sequence[str], log: np.ndarray, first_factor: str, second_factor: str
) -> None:
    first, second = levels_of(x), levels_of(curves)[:MOST_CURVES]
    xs, ofs, good = np.array(x, dtype=object), np.array(curves, dtype=object), np.isfinite(log)
    for place, level in enumerate(second):
        points = []
        for at in first:
            chosen = (xs == at) & (ofs == level) & good
            points.append(math.exp(float(log[chosen].mean())) if chosen.any() else math.nan)
        color = COLORS[place % len(COLORS)]
        axes.plot(range(len(first)), points, "o-", color=color, label=label(level), markersize=5)
    axes.set_xticks(range(len(first)), [shown(v) for v in first])
    axes.set_xlabel(shown(first_factor))
    axes.set_yscale("log", base=2)  # so that lines without an interaction are parallel
    axes.yaxis.set_major_locator(LogLocator(base=2, subs=(1.0, 1.5), numticks=8))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.legend(title=shown(second_factor), fontsize=8, title_fontsize=8)
