"""The figures of the report. Each function returns SVG, or None where there is nothing to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

from workalike.compare.pairing import Pair, Pairing
from workalike.report import accesses, series
from workalike.report.canvas import binary_ticks, drawing, size_axis, time_unit, whole_ticks
from workalike.report.palette import EXPECTED, FAINT, INK, MUTED, ORIGINAL, REPLICA, color_of
from workalike.text import plural
from workalike.workload.model import Direction

LOG_RANGE = 30.0  # factor between sizes above which the axis is logarithmic
ROUNDING_PCT = 0.002  # smaller errors come from rounding to whole bytes
MARKED = 60  # points of a curve above which it has no marks
COINCIDE = 0.01  # share of the axis within which curves lie on each other
DASH = 6.0  # length of a dash in widths of its line
BAND = 2.0  # additional width of a line on which others lie, points
MAX_PICTURES = 4  # families whose accesses are drawn
LAST_SHADE = 0.92  # of the colour map; beyond it colours are too light
REPLICA_LINE: dict[str, Any] = {"color": REPLICA, "linewidth": 1.2, "linestyle": (0, (4, 2))}


def timeline(pairing: Pairing, *, replica: bool) -> Markup | None:
    """When each family's dumps happen; the replica's are below, in seconds of the original run."""
    pairs = series.with_rest(pairing)
    if not pairs:
        return None
    scale = pairing.factors.time if replica else 0.0
    run = series.run_length(pairing, scale)
    unit, word = time_unit(run)
    places = series.positions(pairs)
    with drawing("timeline", 0.75 + 0.42 * len(pairs)) as drawn:
        axes = drawn.axes[0]
        for row, pair in enumerate(pairs):
            color = color_of(pair.original.role, places[pair.original.name])
            bars = series.merged_bars(pair.original.dumps, run)
            axes.broken_barh(
                [(s / unit, n / unit) for s, n in bars], (row - 0.36, 0.42), color=color, linewidth=0
            )
            if scale and pair.replica.dumps:
                bars = series.merged_bars(pair.replica.dumps, run, scale)
                bars = [(s / unit, n / unit) for s, n in bars]
                axes.broken_barh(bars, (row + 0.12, 0.16), color=REPLICA, linewidth=0)
        axes.set_yticks(range(len(pairs)), [p.original.name for p in pairs])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.set_ylim(len(pairs) - 0.5, -0.55)
        axes.set_xlim(0, run / unit * 1.01)
        _end_of_original(axes, pairing.workload.runtime, run, unit)
        axes.set_xlabel(f"time since the start of the run ({word})")
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
    return drawn.svg


def _end_of_original(axes: Any, runtime: float | None, shown: float, unit: float) -> None:
    """A line where the original ended, if the axis goes on: what is after it is the replica's."""
    if runtime and shown > 1.005 * runtime:
        axes.axvline(runtime / unit, color=MUTED, linewidth=1, linestyle="--")
        axes.annotate(
            "the original ends ",
            (runtime / unit, 1.0),
            xycoords=("data", "axes fraction"),
            ha="right",
            va="bottom",
            fontsize=8,
            color=MUTED,
        )


def cumulative_bytes(pairing: Pairing, *, replica: bool) -> Markup | None:
    """Bytes moved so far by each family (the paper's Fig. 2)."""
    pairs = [p for p in series.with_rest(pairing) if p.original.dumps]
    if not pairs:
        return None
    scale = pairing.factors.time if replica else 0.0
    unit, word = time_unit(series.run_length(pairing, scale))
    places = series.positions(pairs)
    curves = [series.cumulative(pair.original.dumps) for pair in pairs]
    largest = max(y[-1] for _, y in curves)
    styles = _line_styles(curves, largest, 2.0)
    with drawing("cumulative", 3.1) as drawn:
        axes = drawn.axes[0]
        for pair, (x, y), style in zip(pairs, curves, styles, strict=True):
            color = color_of(pair.original.role, places[pair.original.name])
            axes.plot([v / unit for v in x], y, color=color, label=pair.original.name, **style)
            if scale and pair.replica.dumps:
                x, y = series.cumulative(pair.replica.dumps, pairing.factors.bytes, scale)
                axes.plot([v / unit for v in x], y, **REPLICA_LINE)
                largest = max(largest, y[-1])
        if scale:
            axes.plot([], [], label="replica", **REPLICA_LINE)
        axes.set_xlabel(f"time since the start of the run ({word})")
        _bytes_from_zero(axes, largest)
        axes.set_xlim(left=0)
        _legend(axes)
    return drawn.svg


def dump_sizes(pairing: Pairing, *, replica: bool) -> Markup | None:
    """The size of every dump (the paper's Fig. 3); the replica's is divided by F."""
    pairs = [p for p in series.heaviest(pairing) if p.original.dumps]
    most = max((len(p.original.dumps) for p in pairs), default=0)
    if most < 2:
        return None
    places = series.positions(pairs)
    curves = [series.sizes(pair.original.dumps) for pair in pairs]
    seen = [v for _, y in curves for v in y if v]
    styles = _line_styles(curves, max(seen, default=1.0), 1.8, 4.5)
    with drawing("sizes", 3.1) as drawn:
        axes = drawn.axes[0]
        for pair, (x, y), style in zip(pairs, curves, styles, strict=True):
            color = color_of(pair.original.role, places[pair.original.name])
            axes.plot(x, y, color=color, label=pair.original.name, **style)
            if replica and pair.replica.dumps:
                keep = series.thin(len(pair.replica.dumps))
                y = [pair.replica.dumps[i].moved / pairing.factors.bytes for i in keep]
                _replica_points(axes, [i + 1 for i in keep], y)
        if replica:
            axes.plot([], [], label="replica", **_replica_label())
        if seen and max(seen) > LOG_RANGE * min(seen):
            _logarithmic(axes)
            size_axis(axes.yaxis)
        else:
            _bytes_from_zero(axes, max(seen, default=1.0))
        axes.set_xlabel("dump")
        axes.set_xlim(1 - 0.02 * most - 0.3, most + 0.02 * most + 0.3)
        whole_ticks(axes.xaxis)
        _legend(axes)
    return drawn.svg


def histograms(pairing: Pairing, *, replica: bool) -> Markup | None:
    """Writes and reads by size, as shares of all operations of their kind."""
    found = [(d, series.summed_bins(pairing.pairs, d)) for d in (Direction.WRITE, Direction.READ)]
    shown = [(direction, bins) for direction, bins in found if bins is not None]
    if not shown:
        return None
    with drawing("histograms", 2.7, columns=len(shown), sharey=True) as drawn:
        for axes, (direction, bins) in zip(drawn.axes, shown, strict=True):
            kinds = [("original", bins.original, ORIGINAL)]
            if replica:
                kinds += [
                    ("expected at this scale", bins.expected, EXPECTED),
                    ("replica", bins.replica, REPLICA),
                ]
            width = 0.8 / len(kinds)
            places = range(len(bins.expected))
            for number, (label, values, color) in enumerate(kinds):
                at = [place + (number - (len(kinds) - 1) / 2) * width for place in places]
                axes.bar(at, series.shares(values), width, color=color, label=label)
            axes.set_xticks(list(places), series.BIN_LABELS, rotation=35, ha="right", fontsize=8)
            count = plural(round(sum(bins.original)), direction.value)
            axes.set_title(f"{count} in the original", fontsize=9.5, color=INK, loc="left")
            axes.yaxis.set_major_formatter(PercentFormatter(decimals=0))
            axes.set_ylim(0, 100)
            axes.grid(axis="x", visible=False)
        drawn.axes[0].set_ylabel("share of operations")
        if replica:
            drawn.axes[-1].legend(loc="best")  # where no bar is
    return drawn.svg


def error_over_time(pairing: Pairing) -> Markup | None:
    """Error of all bytes up to each dump (the paper's Fig. 4); None where there is no error."""
    pairs = [p for p in series.heaviest(pairing) if p.original.dumps]
    curves = [(p, *series.cumulative_error_pct(p, pairing.factors.bytes)) for p in pairs]
    most = max((x[-1] for _, x, _ in curves), default=1)
    if not any(abs(v) > ROUNDING_PCT for _, _, y in curves for v in y):
        return None
    places = series.positions(pairs)
    ends = [v for _, _, y in curves for v in y]
    styles = _line_styles([(x, y) for _, x, y in curves], max(ends) - min(ends), 1.5, 3.5)
    with drawing("error", 2.5) as drawn:
        axes = drawn.axes[0]
        axes.axhline(0, color=MUTED, linewidth=0.8)
        for (pair, x, y), style in zip(curves, styles, strict=True):
            color = color_of(pair.original.role, places[pair.original.name])
            axes.plot(x, y, color=color, label=pair.original.name, **style)
        axes.yaxis.set_major_formatter(PercentFormatter(decimals=None))
        axes.set_xlabel("dump")
        axes.set_ylabel("error of bytes so far")
        axes.set_xlim(1 - 0.02 * most - 0.3, most + 0.02 * most + 0.3)
        whole_ticks(axes.xaxis)
        axes.margins(y=0.15)
        _legend(axes)
    return drawn.svg


def bandwidth(pairing: Pairing) -> Markup | None:
    """Bandwidth of every dump against steps to the end of the run (the paper's Fig. 5)."""
    pairs = [p for p in series.heaviest(pairing) if _timed(p)]
    if not pairs:
        return None
    places = series.positions(pairs)
    with drawing("bandwidth", 3.1) as drawn:
        axes = drawn.axes[0]
        has_replica, first = False, 0
        for pair in pairs:
            color = color_of(pair.original.role, places[pair.original.name])
            first = min(first, 1 - max(len(pair.original.dumps), len(pair.replica.dumps)))
            x, y = series.bandwidths(pair.original.dumps)
            if x:
                dots = {"marker": "o", "markersize": 4.5} if len(x) <= MARKED else {}
                axes.plot(x, y, color=color, linewidth=1.2, label=pair.original.name, **dots)
            x, y = series.bandwidths(pair.replica.dumps)
            if x:
                has_replica = True
                axes.plot(x, y, color=color, **_replica_dashes(color, len(x)))
        if has_replica:
            axes.plot([], [], color=MUTED, label="replica", **_replica_dashes(MUTED, 1))
        _logarithmic(axes)
        size_axis(axes.yaxis, rate=True)
        axes.set_xlabel("steps to the end of the run (0 is a family's last dump)")
        axes.set_ylabel("bandwidth of a dump")
        axes.set_xlim(1.02 * first - 0.3, -0.02 * first + 0.3)
        whole_ticks(axes.xaxis)
        _legend(axes)
    return drawn.svg


def access_pictures(pairing: Pairing, *, replica: bool) -> list[tuple[str, Markup]]:
    """(name of a family, its accesses): the original's above the replica's, offset against order."""
    out: list[tuple[str, Markup]] = []
    for pair in series.heaviest(pairing, MAX_PICTURES):
        key = (pair.original.role, pair.original.number)
        sides = {"original": accesses.of_original(pairing, key)}
        if replica:
            sides["replica"] = accesses.of_replica(pairing, key)
        shown = {word: side for word, side in sides.items() if side is not None}
        if "original" in shown:
            out.append((pair.original.name, _access_picture(f"accesses{len(out)}", shown)))
    return out


def _access_picture(name: str, sides: Mapping[str, accesses.Accesses]) -> Markup:
    with drawing(name, 0.5 + 1.55 * len(sides), rows=len(sides)) as drawn:
        for axes, (word, side) in zip(drawn.axes, sides.items(), strict=True):
            reach = int((side.offset + side.length).max())
            least = reach / 150  # so that small accesses are seen
            ranks = np.unique(side.rank).tolist()
            for rank, is_write in product(ranks, (True, False)):
                chosen = (side.rank == rank) & (side.writes == is_write)
                if chosen.any():
                    color = colormaps["viridis"](LAST_SHADE * rank / max(1, side.ranks - 1))
                    _draw_accesses(axes, side, chosen, least, ranks.index(rank) / len(ranks), color)
            axes.set_title(_access_title(word, side), fontsize=9.5, color=INK, loc="left")
            _bytes_from_zero(axes, reach)
            axes.set_xlim(0.4, int(side.order.max()) + 1.6)
            whole_ticks(axes.xaxis)
            axes.set_ylabel("offset in the file")
        drawn.axes[-1].set_xlabel("access, counted by each rank")
        scale = ScalarMappable(Normalize(0, 1), colormaps["viridis"])
        shades = np.linspace(0, LAST_SHADE, 32)
        bar = drawn.figure.colorbar(scale, ax=drawn.axes, boundaries=shades, aspect=30)
        bar.set_ticks([0, LAST_SHADE], labels=["first rank", "last rank"])
        bar.outline.set_visible(False)
    return drawn.svg


def _draw_accesses(
    axes: Any,
    side: accesses.Accesses,
    chosen: npt.NDArray[np.bool_],
    least: float,
    place: float,
    color: Any,
) -> None:
    """A rank's reads or writes as one broken line, broad or thin; ranks stand side by side, at a `place` from 0 to 1."""
    writes = bool(side.writes[chosen][0])
    first, length = side.offset[chosen], np.maximum(side.length[chosen], least)
    x = np.repeat(side.order[chosen] + 0.65 + 0.7 * place, 3)
    y = np.column_stack([first, first + length, np.full(len(first), np.nan)]).ravel()
    axes.plot(x, y, color=color, linewidth=2.4 if writes else 1.0, solid_capstyle="butt")


def _access_title(word: str, side: accesses.Accesses) -> str:
    seen = len(np.unique(side.rank))
    ranks = plural(seen, "rank") if seen == side.ranks else f"{seen} of {side.ranks} ranks"
    source = "its trace" if side.traced else "as its plan has it" if word == "replica" else "by its counters"
    return f"{word}, {ranks}, {source}"


def _line_styles(
    curves: Sequence[series.Curve], span: float, width: float, mark: float = 0.0
) -> list[dict[str, Any]]:
    """Lines of a width, with marks of a size where there is room for them.

    Of curves that lie on each other within `span` the first is a broad band; the others share the way on it in
    dashes, and their marks are rings around its own: so each is seen.
    """
    styles: list[dict[str, Any]] = []
    places = series.coinciding(curves, COINCIDE * span)
    for (x, _), (place, several) in zip(curves, places, strict=True):
        style: dict[str, Any] = {"linewidth": width, "zorder": 2 + 0.01 * place}
        if place:
            style |= {"linestyle": (-DASH * place, (DASH, DASH * (several - 1)))}
            style |= {"dash_capstyle": "butt", "markerfacecolor": "none"}
        elif several > 1:
            style["linewidth"] = width + BAND
        if mark and len(x) <= MARKED:
            style |= {"marker": "o", "markersize": mark + 3.5 * place}
        styles.append(style)
    return styles


def _timed(pair: Pair) -> bool:
    return any(d.bandwidth for d in (*pair.original.dumps, *pair.replica.dumps))


def _replica_dashes(color: str, points: int) -> dict[str, Any]:
    """Style of a replica's curve: a thin dashed line, with hollow marks where there is room for them."""
    dashes: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (3, 2))}
    if points <= MARKED:
        dashes |= {"marker": "D", "markersize": 4.2, "markerfacecolor": "white"}
        dashes |= {"markeredgecolor": color, "markeredgewidth": 1.2}
    return dashes


def _replica_label() -> dict[str, Any]:
    return {"linestyle": "none", "marker": "x", "color": REPLICA, "markersize": 5, "markeredgewidth": 1.3}


def _replica_points(axes: Any, x: list[int], y: list[float]) -> None:
    if len(x) <= MARKED:
        axes.plot(x, y, **_replica_label())
    else:
        axes.plot(x, y, **REPLICA_LINE)


def _bytes_from_zero(axes: Any, largest: float) -> None:
    axes.set_ylim(0, largest * 1.08 or 1)
    binary_ticks(axes.yaxis, largest)
    size_axis(axes.yaxis)
    axes.set_ylim(0, largest * 1.08 or 1)


def _logarithmic(axes: Any) -> None:
    """Make the axis of bytes logarithmic, with a few ticks at powers of two."""
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_locator(LogLocator(base=2, numticks=7))
    axes.yaxis.set_minor_locator(NullLocator())


def _legend(axes: Any) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4)
    axes.grid(axis="x", color=FAINT, linewidth=0.4)
