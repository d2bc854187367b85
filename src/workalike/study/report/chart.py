"""A figure with its numbers, and what all figures of a study's page share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib.ticker import FuncFormatter, MaxNLocator

from workalike.report.canvas import binary_ticks, size_axis
from workalike.study.objective import Objective
from workalike.study.report.numbers import Row, csv_text
from workalike.study.report.table import shown

COLORS = ("#1f6f8b", "#d9902b", "#7a5195", "#4f8a4b", "#b8557a", "#8c6d31", "#6b7280", "#c2410c")
MOST_ROWS = 30
"""Settings with a row of their own in a figure."""
MOST_CURVES = 6


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    text: str
    how: str
    svg: Markup
    header: tuple[str, ...]
    rows: list[Row]

    def csv_text(self) -> str:
        """The numbers of the figure."""
        return csv_text(self.header, self.rows)


def label(text: str) -> str:
    """A legend's text; a leading underscore would hide it."""
    return f" {shown(text)}" if text.startswith("_") else shown(text)


def beside(axes: Any, **options: Any) -> None:
    """A legend to the right of the axes."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **options)


def from_zero(axes: Any, largest: float, *, rate: bool) -> None:
    """A vertical axis of bytes, or bytes per second, from 0 to a little above the largest."""
    binary_ticks(axes.yaxis, largest)
    size_axis(axes.yaxis, rate=rate)
    axes.set_ylim(0, largest * 1.08 or 1)


def value_format(axis: Any, objective: Objective) -> None:
    """Label the ticks of an axis with bytes per second, or times."""
    if objective is Objective.BANDWIDTH:
        size_axis(axis, rate=True)
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: objective.shown(value)))


def value_ticks(axis: Any, objective: Objective, largest: float) -> None:
    """Set ticks at round values from 0 to the largest on a linear axis."""
    if objective is Objective.BANDWIDTH:
        binary_ticks(axis, largest)
    else:
        axis.set_major_locator(MaxNLocator(nbins=5))
    value_format(axis, objective)
