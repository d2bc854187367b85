"""Figures of times: ranks over time, and how many dumps are in progress at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator, PercentFormatter

from workalike.compare.fidelity_schema import OverlapFidelity
from workalike.compare.overlap import MOST_IN_PROGRESS
from workalike.compare.pairing import Pairing
from workalike.plan.plan_schema import PlanProcesses
from workalike.plan.processes import scale_processes
from workalike.predict.prediction import Key
from workalike.report import series
from workalike.report.canvas import drawing, time_unit
from workalike.report.lanes import Bars, Lanes, lanes_of, parts_of
from workalike.report.palette import FAINT, INK, MUTED, color_of
from workalike.text import plural, seconds_text
from workalike.workload.model import Role

OTHERS: Key = (Role.OTHER, 0)
"""The families that are not among the heaviest, as one."""
THINNEST = 0.2
"""Height of the mark of a window that is hardly inside calls, as a share of its lane."""
LEAST = 0.003
"""Length of the shortest mark, as a share of the axis."""
MOST_PARTS = 96
"""Parts of lanes that there is room for: ranks x families at once."""
LEGEND_COLUMNS = 5
LABELLED = 12  # lanes that each have their number
MOST_SHARES = 8  # numbers of dumps at once that have a row of their own


def ranks_over_time(pairing: Pairing) -> Markup | None:
    """Open files, reads and writes of each rank: the original above the replica, on one axis.

    None where the original's log has no rank of its own; the replica is left out where it has no log.
    """
    scale = pairing.factors.time
    sides = {"original": lanes_of(pairing.log)}
    if scale:
        sides["replica"] = lanes_of(
            pairing.replica_log, by_name=True, moved_s=pairing.replica.moved_s, time_scale=scale
        )
    shown = {
        word: lanes.with_lives(_processes(pairing, lanes.total))
        for word, lanes in sides.items()
        if lanes is not None
    }
    if "original" not in shown:
        return None
    names, colors = _families(pairing, shown.values())
    shown = {side: lanes.with_others(names, OTHERS) for side, lanes in shown.items()}
    parts = parts_of(list(shown.values()), list(names))
    count = max(parts.values(), default=0) + 1
    shown = {side: lanes.thinned(MOST_PARTS // count) for side, lanes in shown.items()}
    heights = [min(3.4, max(0.9, 0.13 * len(lanes.ranks) * count)) for lanes in shown.values()]
    longest = max(lanes.end_s for lanes in shown.values())
    unit, word = time_unit(longest)
    legend = 0.25 * -(-len(names) // LEGEND_COLUMNS)
    ratios = {"height_ratios": heights}
    with drawing(
        "ranks",
        0.7 + sum(heights) + 0.25 * len(shown) + legend,
        rows=len(shown),
        sharex=True,
        gridspec_kw=ratios,
    ) as drawn:
        for axes, (side, lanes) in zip(drawn.axes, shown.items(), strict=True):
            _draw_lanes(axes, lanes, parts, colors, unit, longest)
            ranks = plural(len(lanes.ranks), "rank")
            if len(lanes.ranks) < lanes.total:
                ranks = f"{len(lanes.ranks)} of {lanes.total:,} ranks"
            title = f"{side}, {ranks}, last call after {seconds_text(lanes.end_s)}"
            axes.set_title(title, fontsize=9.5, color=INK, loc="left")
        drawn.axes[0].set_xlim(0, longest / unit * 1.01 or 1)
        drawn.axes[-1].set_xlabel(f"time since the start of the run ({word})")
        handles = [Patch(color=colors[key], label=name) for key, name in names.items()]
        if any(len(lanes.idle) for lanes in shown.values()):
            handles.append(Patch(color=FAINT, label="no process: idle"))
        _legend_below(drawn.figure, handles)
    return drawn.svg


def _families(pairing: Pairing, sides: Any) -> tuple[dict[Key, str], dict[Key, str]]:
    """(names, colours) of the families that are seen, the heaviest first; all others are one."""
    seen = set().union(*(lanes.families for lanes in sides))
    pairs = series.with_rest(pairing)
    places = series.positions(pairs)
    names, colors = {}, {}
    for pair in pairs:
        key = (pair.original.role, pair.original.number)
        if key in seen or key == OTHERS:
            names[key] = pair.original.name
            colors[key] = color_of(pair.original.role, places[pair.original.name])
    if seen - names.keys() and OTHERS not in names:
        names[OTHERS], colors[OTHERS] = "others", color_of(Role.OTHER)
    return names, colors


def _legend_below(figure: Any, handles: list[Patch], title: str | None = None) -> None:
    columns = min(LEGEND_COLUMNS, len(handles)) or 1
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns if title is None else len(handles),
        handlelength=1.2,
        title=title,
    )


def _draw_lanes(
    axes: Any, lanes: Lanes, parts: Mapping[Key, int], colors: Mapping[Key, str], unit: float, longest: float
) -> None:
    """A lane for each rank, with parts for families that overlap: open files pale, reads and writes solid in them."""
    _draw_idle(axes, lanes.idle, unit, longest)
    part = 0.86 / (max(parts.values(), default=0) + 1)
    for bars_of, solid in ((lanes.open, False), (lanes.moving, True)):
        for key, bars in bars_of.items():
            middle = bars.row + 0.07 + part * (parts[key] + 0.5)
            height = 0.9 * part * (np.maximum(THINNEST, bars.inside) if solid else np.ones(len(bars)))
            path = _rectangles(bars, middle, height, unit, LEAST * longest)
            if path is not None:
                style = {"alpha": 1.0 if solid else 0.28, "zorder": 3 if solid else 2}
                axes.add_patch(PathPatch(path, facecolor=colors[key], linewidth=0, **style))
    axes.set_ylim(len(lanes.ranks), 0)
    for row in range(1, len(lanes.ranks)):
        if len(lanes.ranks) <= LABELLED:
            axes.axhline(row, color=FAINT, linewidth=0.6, zorder=1)
    step = max(1, -(-len(lanes.ranks) // LABELLED))
    ticks = range(0, len(lanes.ranks), step)
    axes.set_yticks([row + 0.5 for row in ticks], [f"rank {lanes.ranks[row]}" for row in ticks])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.axvline(lanes.end_s / unit, color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10))
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _processes(pairing: Pairing, ranks: int) -> list[PlanProcesses] | None:
    """The lives of the original's processes, at so many ranks."""
    if pairing.log is None:
        return None
    workload = pairing.log.workload
    return scale_processes(workload.processes, workload.ranks, ranks)


def _draw_idle(axes: Any, idle: Bars, unit: float, longest: float) -> None:
    """Times before the start and after the end of a rank's process."""
    until_the_edge = replace(idle, end=np.minimum(idle.end, 1.01 * longest))
    path = _rectangles(until_the_edge, idle.row + 0.5, np.full(len(idle), 0.86), unit, 0.0)
    if path is not None:
        axes.add_patch(PathPatch(path, facecolor=FAINT, linewidth=0, zorder=1.5))


def _rectangles(bars: Bars, middle: Any, height: Any, unit: float, least: float) -> Path | None:
    """All bars as one path, so that a page has one element for them."""
    if not len(bars):
        return None
    left, right = bars.start / unit, np.maximum(bars.end, bars.start + least) / unit
    low, high = middle - height / 2, middle + height / 2
    corners = np.stack([left, low, right, low, right, high, left, high, left, low], axis=1)
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], len(bars))
    return Path(corners.reshape(-1, 2), codes)


def in_progress(overlap: OverlapFidelity) -> Markup | None:
    """The share of the time with 0, 1, 2, … dumps in progress: a bar for each side; None without shares of both."""
    sides = {"original": overlap.original, "replica": overlap.replica}
    if not all(sides.values()):
        return None
    most = min(MOST_SHARES, max(len(shares) for shares in sides.values()) - 1)
    with drawing("progress", 2.0) as drawn:
        axes = drawn.axes[0]
        for row, shares in enumerate(sides.values()):
            left = 0.0
            for k in range(min(most, len(shares) - 1) + 1):
                share = 100 * (shares[k] if k < most else sum(shares[k:]))
                axes.barh(row, share, 0.62, left=left, color=_shade(k, most), linewidth=0)
                if share >= 6:
                    ink = "white" if k >= most / 2 else INK
                    axes.text(
                        left + share / 2,
                        row,
                        f"{share:.0f} %",
                        ha="center",
                        va="center",
                        color=ink,
                        fontsize=8,
                    )
                left += share
        axes.set_yticks([0, 1], list(sides))
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.set_ylim(1.5, -0.5)
        axes.set_xlim(0, 100)
        axes.xaxis.set_major_formatter(PercentFormatter(decimals=0))
        axes.set_xlabel("share of the time from first to last I/O call")
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
        _legend_below(
            drawn.figure,
            [Patch(color=_shade(k, most), label=_at_once(k, most, sides)) for k in range(most + 1)],
            "dumps in progress",
        )
    return drawn.svg


def _at_once(k: int, most: int, sides: Mapping[str, Sequence[float]]) -> str:
    longest = max(len(shares) for shares in sides.values()) - 1
    return f"{k} and more" if k == most and (longest > most or longest >= MOST_IN_PROGRESS) else str(k)


def _shade(k: int, most: int) -> str:
    """From nothing in progress (faint) to most (the colour of checkpoints, dark)."""
    if k == 0:
        return FAINT
    blend = 0.25 + 0.75 * k / max(1, most)
    low, high = (0xC3, 0xDD, 0xE6), (0x14, 0x4F, 0x64)
    return "#" + "".join(f"{round(a + (b - a) * blend):02x}" for a, b in zip(low, high, strict=True))
