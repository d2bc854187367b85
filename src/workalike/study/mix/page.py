"""mix.html: one self-contained page of text and inline SVG, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workalike.files import write_text
from workalike.study.mix.rounds import CopyOverRounds, Round, copies_of, slowdown_in
from workalike.text import is_telling, plural, ratio_text

MOST_BARS = 40


def write_page(path: Path, rounds: Sequence[Round], summary: dict[str, Any]) -> None:
    """Write the page of the rounds, of which `summary` is the document.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    from workalike.report.page import environment

    copies, templates = copies_of(rounds), environment()
    templates.filters.update(ratio=ratio_text)
    page = templates.get_template("mix.html").render(
        copies=copies,
        summary=summary,
        lead=lead_of(summary),
        workloads=[(each, *_slowdowns(each)) for each in summary["workloads"]],
        bars=_bars(copies),
        dumps=_dumps(copies),
    )
    write_text(path, page)


def _slowdowns(workload: dict[str, Any]) -> tuple[str, str]:
    """Of all dumps, and of the slowest of each round."""
    return slowdown_in(workload).text, slowdown_in(workload, "slowest_dump_slowdown").text


def lead_of(summary: dict[str, Any]) -> str:
    """Which copy is slowed down most, as far as the rounds tell; empty where none took time."""
    worst = summary["worst"]
    if not worst:
        return ""
    name, found = f"{worst['name']} {worst['copy']}", slowdown_in(worst)
    if found.value is None or found.low is None:
        took = "" if found.value is None else f", {ratio_text(found.value)}"
        return f"Too few rounds to tell a slowdown from noise: the largest factor is that of {name}{took}."
    if summary["slowed_down"] and not worst["is_found"]:
        return _lead_of_others(summary, name)
    if not is_telling(found.low, found.high):
        if worst["is_found"]:
            return f"{name} is slowed down most; the rounds cannot tell by how much, only that the factor is {found.text}."
        return f"Too few rounds to tell: the largest factor is that of {name}, with an interval over orders of magnitude."
    if worst["is_found"]:
        return f"{name} is slowed down most, by a factor of {found.text}."
    return f"No slowdown was found: the largest factor is that of {name}, {found.text}."


def _lead_of_others(summary: dict[str, Any], largest: str) -> str:
    """Where the largest factor is not sure, but those of other copies are."""
    slowed, copies = summary["slowed_down"], len(summary["copies"])
    first = slowed[0]
    factor = slowdown_in(first).text
    many = f"{len(slowed)} of {plural(copies, 'run')} {'is' if len(slowed) == 1 else 'are'} slowed down"
    return (
        f"{many}: {first['name']} {first['copy']} takes {factor} times as long in I/O. The largest factor, of {largest}, "
        "differs too much between rounds to tell."
    )


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
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0
        )  # above: no bar lies below it
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
