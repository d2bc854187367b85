"""The figure of the system over time: the level of each block."""

from __future__ import annotations

import math

import numpy as np

from workalike.report.canvas import drawing
from workalike.report.palette import MUTED
from workalike.study.report.chart import COLORS, Chart
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable
from workalike.study.report.variability import starts_of_blocks
from workalike.study.statistics.variability import Variability
from workalike.text import day_text

HOUR = 3600.0


def levels_of_blocks(table: StudyTable, found: Variability | None) -> Chart | None:
    """The level of each block, by time where it is known, with the noise of its trials."""
    if found is None:
        return None
    starts = starts_of_blocks(table, found.blocks)
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
