"""Drawing: one style for all figures, which become SVG text for a page.

Text stays text: searchable, in the reader's font. Identifiers depend on the figure's name only, and nothing in the SVG
names the machine or the time.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from workalike.report.palette import FAINT, INK, MUTED
from workalike.text import size_text

WIDTH_IN = 9.0

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "axes.edgecolor": "#9fb3c8",
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "path.simplify": True,
}


@dataclass
class Drawing:
    """A figure and its axes. `svg` is filled in when the `with` block ends."""

    figure: Figure
    axes: list[Any]
    svg: Markup = field(default_factory=Markup)


@contextmanager
def drawing(name: str, height: float, columns: int = 1, rows: int = 1, **options: Any) -> Iterator[Drawing]:
    """A figure of the page's width and `height` inches. `name` makes its identifiers unique."""
    style: Any = {**_STYLE, "svg.hashsalt": name}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
        drawn = Drawing(figure, list(axes.flat))
        yield drawn
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        drawn.svg = _inline(out.getvalue(), name)


def _inline(text: str, name: str) -> Markup:
    """The `svg` element alone, without a size of its own, with identifiers that no other figure has."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)  # it would style the whole page
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'((?:xlink:)?href="#)', rf"\1{name}-", text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    return Markup(text.replace("<svg", '<svg role="img"', 1))


def time_unit(longest: float) -> tuple[float, str]:
    """(seconds in a unit, its name) for an axis up to `longest` seconds."""
    if longest >= 3 * 3600:
        return 3600.0, "h"
    return (60.0, "min") if longest >= 300 else (1.0, "s")


def size_axis(axis: Any, rate: bool = False) -> None:
    """Label the ticks of an axis with sizes such as 512 MiB (or MiB/s)."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{size_text(value)}{'/s' if rate else ''}"))


def binary_ticks(axis: Any, largest: float) -> None:
    """Set ticks at round binary values on a linear axis of bytes."""
    unit = 1.0
    while largest / unit >= 1024:
        unit *= 1024
    locator = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10])
    ticks = locator.tick_values(0, largest / unit if largest else 1)
    axis.set_ticks([tick * unit for tick in ticks if tick >= 0])
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def whole_ticks(axis: Any) -> None:
    """Set ticks at whole numbers (of dumps)."""
    axis.set_major_locator(MaxNLocator(integer=True, nbins=12, min_n_ticks=1))
