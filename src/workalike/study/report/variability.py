"""How variable the system is, in a sentence."""

from __future__ import annotations

import math

import numpy as np

from workalike.study.report.table import StudyTable
from workalike.study.statistics.table import Floats, Integers, grid_of
from workalike.study.statistics.variability import Deviation, Variability, variability_of
from workalike.text import WIDEST, is_telling, ratio_text, seconds_text

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
        f"{ratio_text(factor)}."
    )


def _shown(deviation: Deviation) -> str:
    """A standard deviation with its interval."""
    low, high = _percent(deviation.low), _percent(deviation.high)
    ends = _size(deviation.low), _size(deviation.high)
    interval = f"95 % interval {low} to {high}" if is_telling(*ends) else _side(*ends, high)
    return f"{_percent(deviation.value)} (standard deviation; {interval})"


def _side(low: float, high: float, text: str) -> str:
    """In place of an interval whose ends are too far apart."""
    if low < high / WIDEST and high <= LARGE:
        return f"at most {text} in 19 of 20 studies"
    return "too few blocks to tell how much"


def _size(deviation: float) -> float:
    """The number that is shown for a deviation: a share, or a factor."""
    return math.exp(min(deviation, 50.0)) if deviation > LARGE else math.expm1(deviation)


def _percent(deviation: float) -> str:
    if deviation > LARGE:
        return f"a factor of {math.exp(min(deviation, 50.0)):.3g}"
    return f"{100 * math.expm1(deviation):.2g} %"


def _span_text(table: StudyTable) -> str:
    """Over how long blocks began, where that is known."""
    starts = starts_of_blocks(table, np.unique(table.block))
    known = starts[np.isfinite(starts)]
    span = float(known.max() - known.min()) if len(known) > 1 else 0.0
    return f" over {seconds_text(span)}" if span > 0 else ""


def starts_of_blocks(table: StudyTable, blocks: Integers) -> Floats:
    """The start of the first trial of each block, in seconds since 1970; NaN where it is not known."""
    if not len(table.started):
        return np.full(len(blocks), np.nan)
    of_blocks = [table.started[table.block == block] for block in blocks]
    return np.array([np.nanmin(own) if np.isfinite(own).any() else np.nan for own in of_blocks])
