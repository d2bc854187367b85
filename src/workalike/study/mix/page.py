"""mix.html: one self-contained page of text and inline SVG, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workalike.files import write_text
from workalike.study.mix.rounds import CopyOverRounds, Round, copies_of

MOST_BARS = 40


def write_page(path: Path, rounds: Sequence[Round], summary: dict[str, Any]) -> None:
    """Write the page of the rounds, of which `summary` is the document.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    from workalike.report.page import environment

    copies = copies_of(rounds)
    page = (
        environment()
        .get_template("mix.html")
        .render(copies=copies, summary=summary, bars=_bars(copies), dumps=_dumps(copies))
    )
    write_text(path, page)


def _bars(copies: Sequence[CopyOverRounds]) -> Markup:
    """I/O time of each copy, alone and side by side: the mean as a bar, each round as a point."""
    from workalike.report.canvas import drawing, time_unit
    from workalike.report.palette import INK, MUTED, REPLICA

    shown = copies[:MOST_BARS]
    unit, name = time_unit(max((each.together_s for copy in shown for each in copy.rounds), default=0.0))
    with drawing("copies", 0.9 + 0.36 * len(shown)) as drawn:
        axes = drawn.axes[0]
        for row, copy in enumerate(shown):
            axes.barh(row - 0.18, copy.alone_s / unit, 0.34, color=MUTED, label="alone" if row == 0 else None)
            axes.barh(
                row + 0.18,
                copy.together_s / unit,
                0.34,
                color=REPLICA,
                label="side by side" if row == 0 else None,
            )
            for place, times in (
                (row - 0.18, [each.alone_s / unit for each in copy.rounds]),
                (row + 0.18, [each.together_s / unit for each in copy.rounds]),
            ):
                axes.plot(times, [place] * len(times), ".", markersize=4, color=INK)
        axes.set_yticks(range(len(shown)), [copy.label for copy in shown])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel(f"time of a rank in I/O ({name})")
        axes.grid(axis="y", visible=False)
        axes.legend()
    return drawn.svg


def _dumps(copies: Sequence[CopyOverRounds]) -> Markup:
    """Slowdown of each dump, a line for each copy."""
    from workalike.report.canvas import drawing, whole_ticks
    from workalike.report.palette import MUTED

    with drawing("slowdowns", 2.8) as drawn:
        axes = drawn.axes[0]
        for copy in copies[:MOST_BARS]:
            points = copy.dump_slowdowns()
            axes.plot(
                [place for place, _ in points],
                [slowdown for _, slowdown in points],
                marker="o",
                markersize=3,
                linewidth=1,
                label=copy.label,
            )
        axes.axhline(1.0, color=MUTED, linewidth=0.8, linestyle="--")
        axes.set_xlabel("dump")
        axes.set_ylabel("slowdown")
        axes.set_ylim(bottom=0)
        whole_ticks(axes.xaxis)
        if len(copies) <= 10:
            axes.legend()
    return drawn.svg
