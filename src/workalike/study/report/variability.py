"""How variable the system is: a sentence, and the level of each block over time."""

from __future__ import annotations

import math

import numpy as np

from workalike.report.canvas import drawing
from workalike.report.palette import MUTED
from workalike.study.report.chart import COLORS, Chart
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable
from workalike.study.statistics.table import Floats, Integers, grid_of
from workalike.study.statistics.variability import Deviation, Variability, variability_of
from workalike.text import day_text, seconds_text

HOUR = 3600.0
LARGE = 0.5
"""Deviations above this are shown as factors: 100 % less would be nothing."""


def variability_in(table: StudyTable) -> Variability | None:
    """Of all trials by the objective, the A/A arm among them."""
    return variability_of(grid_of(table.trials(with_copy=True)))


def variability_text(table: StudyTable, found: Variability) -> str:
    """What differs between blocks, beside the noise within them."""
    objective, span = table.objective.phrase, _span_text(table)
    noise = f"Trials of one block vary by {_shown(found.within)} around what their settings explain."
    if not found.is_seen:
        most = _percent(found.between.high)
        return (
            f"{len(found.blocks)} blocks{span} do not differ by more than their trials do. {noise} A change of the "
            f"system with a standard deviation above {most} would have been seen in 19 of 20 studies."
        )
    order = np.argsort(found.levels)
    factor = math.exp(found.levels[order[-1]] - found.levels[order[0]])
    return (
        f"Between {len(found.blocks)} blocks{span} the {objective} of all settings changes by {_shown(found.between)}. "
        f"{noise} From block {found.blocks[order[0]] + 1} to block {found.blocks[order[-1]] + 1} it is a factor of "
        f"{factor:.2f}."
    )


def _shown(deviation: Deviation) -> str:
    """A standard deviation with its interval."""
    low, high = _percent(deviation.low), _percent(deviation.high)
    return f"{_percent(deviation.value)} (standard deviation; 95 % interval {low} to {high})"


def _percent(deviation: float) -> str:
    if deviation > LARGE:
        return f"a factor of {math.exp(min(deviation, 50.0)):.3g}"
    return f"{100 * math.expm1(deviation):.2g} %"


def _span_text(table: StudyTable) -> str:
    """Over how long blocks began, where that is known."""
    starts = _starts(table, np.unique(table.block))
    known = starts[np.isfinite(starts)]
    span = float(known.max() - known.min()) if len(known) > 1 else 0.0
    return f" over {seconds_text(span)}" if span > 0 else ""


def _starts(table: StudyTable, blocks: Integers) -> Floats:
    """The start of the first trial of each block, in seconds since 1970; NaN where it is not known."""
    if not len(table.started):
        return np.full(len(blocks), np.nan)
    of_blocks = [table.started[table.block == block] for block in blocks]
    return np.array([np.nanmin(own) if np.isfinite(own).any() else np.nan for own in of_blocks])


def levels_of_blocks(table: StudyTable, found: Variability | None) -> Chart | None:
    """The level of each block, by time where it is known, with the noise of its trials."""
    if found is None:
        return None
    starts = _starts(table, found.blocks)
    timed = bool(np.isfinite(starts).all()) and float(np.ptp(starts)) > 0
    middle, low, high = (np.exp(found.levels + reach) for reach in (0.0, -found.error, found.error))
    places = (starts - starts.min()) / HOUR if timed else found.blocks + 1.0
    with drawing("blocks", 2.8) as drawn:
        axes = drawn.axes[0]
        axes.axhline(1, color=MUTED, linewidth=1)
        axes.vlines(places, low, high, color=COLORS[0], linewidth=1.6)
        axes.plot(places, middle, "o-", color=COLORS[0], linewidth=0.8, markersize=5)
        axes.set_xlabel("hours since the first block" if timed else "block")
        axes.set_ylabel(f"{table.objective.phrase} ÷ mean of the blocks")
        axes.set_ylim(bottom=0) if float(low.min()) < 0.5 else None
    columns = (found.blocks, starts, middle, low, high)
    rows: list[Row] = [
        (int(block), day_text(float(start)) if math.isfinite(start) else "", *map(float, values))
        for block, start, *values in zip(*columns, strict=True)
    ]
    return Chart(
        "blocks",
        "The system over time.",
        "A dot is a block: all of its settings beside their own means. Dots that differ by more than their lines are the "
        "system's doing, not the settings'.",
        f"{found.settings} settings with a trial in every block. Lines: 95 % intervals by the noise within blocks.",
        drawn.svg,
        ("block", "started_utc", "level", "low", "high"),
        rows,
    )
