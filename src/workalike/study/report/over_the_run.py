"""The figures of single dumps over the run: bandwidth, sizes, output, and bytes beside those of the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workalike.report.canvas import binary_ticks, drawing, size_axis, time_unit, whole_ticks
from workalike.report.palette import MUTED
from workalike.study.report.chart import COLORS, MOST_CURVES, Chart, beside, from_zero, label
from workalike.study.report.findings import Findings
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable
from workalike.study.statistics.table import Floats, Integers
from workalike.text import plural, size_text

MARKED = 60
"""Dumps up to which each has a mark."""
LEAST_ERROR_PCT = 1.0
"""The axis of errors reaches at least so far, so that rounding does not look like a mistake."""


@dataclass(frozen=True)
class Curve:
    """Medians over the trials of a setting: bytes of each dump, bytes per second, bytes written, and its end (s)."""

    name: str
    dump: Integers
    bytes: Floats
    rate: Floats
    written: Floats
    end_s: Floats


def over_the_run(table: StudyTable, found: Findings) -> list[Chart]:
    """All figures of dumps that the study has numbers for."""
    rows = _rows_by_setting(table)
    names = list(dict.fromkeys([table.base(), *(row.name for row in found.rows)]))
    curves = [_curve(table, name, rows[name]) for name in names if len(rows[name])]
    best = curves[:MOST_CURVES]
    rates = [bandwidth(best)] if best else []
    if best and not _is_one_size(curves):
        rates.append(bandwidth_by_size(best))
    off = errors(table, names)
    charts = [*rates, dump_sizes(table, curves), output(best), None if off is None or _is_zero(off) else off]
    known = [chart for chart in charts if chart is not None]
    if rates:
        said = [known[0].text, *_without_figures(curves, off)]
        known[0] = replace(known[0], text=" ".join(said))
    return known


def _without_figures(curves: list[Curve], off: Chart | None) -> list[str]:
    """Sentences in place of figures that would show one point, or a line at nothing."""
    said = []
    if _is_one_size(curves):
        said.append(f"All dumps have the same size, {size_text(float(curves[0].bytes[0]))}.")
    if off is not None and _is_zero(off):
        said.append("Each has the bytes that the plan says.")
    return said


def _is_zero(off: Chart) -> bool:
    """Whether no dump differs from the plan."""
    return all(row[2] == 0 for row in off.rows)


def _is_one_size(curves: Iterable[Curve]) -> bool:
    """Whether all dumps have the same bytes: figures of sizes would show one point."""
    return len({size for curve in curves for size in curve.bytes.tolist()}) == 1


def _rows_by_setting(table: StudyTable) -> Mapping[str, Integers]:
    """Setting -> the rows of its dumps that have a time."""
    dumps = table.dumps
    inside = (dumps.trial >= 0) & (dumps.trial < len(table.block)) & np.isfinite(dumps.bandwidth())
    return _by_setting(table, np.flatnonzero(inside))


def _by_setting(table: StudyTable, rows: Integers) -> Mapping[str, Integers]:
    """Rows of dumps by the setting of their trials."""
    code = {name: number for number, name in enumerate(dict.fromkeys(table.setting))}
    own = np.array([code[name] for name in table.setting], dtype=np.int64)[table.dumps.trial[rows]]
    order = np.argsort(own, kind="stable")
    parts = np.split(rows[order], np.searchsorted(own[order], np.arange(1, len(code))))
    return dict(zip(code, parts, strict=True))


def _curve(table: StudyTable, name: str, rows: Integers) -> Curve:
    dumps = table.dumps
    steps, place = np.unique(dumps.index[rows], return_inverse=True)
    order = np.argsort(place, kind="stable")
    edges = np.searchsorted(place[order], np.arange(1, len(steps)))

    def medians(values: Floats) -> Floats:
        return np.array([np.median(part) for part in np.split(values[rows][order], edges)])

    columns = (dumps.bytes, dumps.bandwidth(), dumps.written, dumps.end_s)
    return Curve(name, steps, *map(medians, columns))


def _style(place: int, dumps: int) -> dict[str, Any]:
    mark = "o" if dumps <= MARKED else ""
    return {"color": COLORS[place % len(COLORS)], "marker": mark, "markersize": 4, "linewidth": 1.4}


def _dump_axis(axes: Any, last: int) -> None:
    """A horizontal axis of the numbers of dumps, also of a single one."""
    margin = max(0.5, 0.03 * last)
    axes.set_xlim(-margin, last + margin)
    if last:
        whole_ticks(axes.xaxis)
    else:
        axes.set_xticks([0])


def _rates(curves: Iterable[Curve]) -> list[Row]:
    return [
        (c.name, int(s), float(b), float(r))
        for c in curves
        for s, b, r in zip(c.dump, c.bytes, c.rate, strict=True)
    ]


def bandwidth(curves: list[Curve]) -> Chart:
    """Bandwidth of each dump over the run, with its size (the paper's Figs. 5 and 7)."""
    drawn_settings = (
        f"the reference and the {len(curves) - 1} settings that are most likely the best"
        if len(curves) > 1
        else "the setting"
    )
    alike = len({c.bytes.tobytes() for c in curves}) == 1
    with drawing("dumps", 4.2, rows=2, sharex=True, gridspec_kw={"height_ratios": (3, 1.2)}) as drawn:
        upper, lower = drawn.axes
        for place, curve in enumerate(curves):
            style = _style(place, len(curve.dump))
            upper.plot(curve.dump, curve.rate, label=label(curve.name), **style)
            if not alike:
                lower.plot(curve.dump, curve.bytes, **style)
        if alike:
            lower.bar(curves[0].dump, curves[0].bytes, color="#b8c4d0")
        from_zero(upper, max(float(c.rate.max()) for c in curves), rate=True)
        upper.set_ylabel("bandwidth of a dump")
        beside(upper)
        from_zero(lower, max(float(c.bytes.max()) for c in curves), rate=False)
        lower.set_ylabel("its size")
        lower.set_xlabel("dump")
        _dump_axis(lower, max(int(c.dump.max()) for c in curves))
    is_single = max(len(curve.dump) for curve in curves) == 1
    return Chart(
        "dumps",
        "Bandwidth of the dump." if is_single else "Bandwidth over the run.",
        f"How fast {'the' if is_single else 'each'} dump was written or read, for {drawn_settings}; below, how large it is.",
        "Medians over the trials of a setting.",
        drawn.svg,
        ("setting", "dump", "bytes", "bytes_per_s"),
        _rates(curves),
    )


def bandwidth_by_size(curves: list[Curve]) -> Chart:
    """Bandwidth of each dump against its size."""
    largest = max(float(c.bytes.max()) for c in curves)
    with drawing("sizes", 3.0) as drawn:
        axes = drawn.axes[0]
        for place, curve in enumerate(curves):
            color = COLORS[place % len(COLORS)]
            axes.plot(
                curve.bytes, curve.rate, "o", color=color, markersize=5, alpha=0.8, label=label(curve.name)
            )
        from_zero(axes, max(float(c.rate.max()) for c in curves), rate=True)
        axes.set_ylabel("bandwidth of a dump")
        binary_ticks(axes.xaxis, largest)
        size_axis(axes.xaxis)
        axes.set_xlim(0, largest * 1.05)
        axes.set_xlabel("size of the dump")
        beside(axes)
    return Chart(
        "sizes",
        "Bandwidth against size.",
        "Whether larger dumps are written faster. A curve that bends down shows where a limit is met.",
        "The same medians.",
        drawn.svg,
        ("setting", "dump", "bytes", "bytes_per_s"),
        _rates(curves),
    )


def dump_sizes(table: StudyTable, curves: list[Curve]) -> Chart | None:
    """How dumps grow over the run, a line for all settings that move the same bytes (the paper's Fig. 3)."""
    groups = _alike(table, {c.name: c.bytes.tobytes() for c in curves})
    if not groups or _is_one_size(curves):
        return None
    curve_of = {c.name: c for c in curves}
    lines = [(text, curve_of[members[0]]) for text, members in groups]
    lines.sort(key=lambda line: -float(line[1].bytes.max()))
    part = lines[:MOST_CURVES]
    with drawing("growth", 2.8) as drawn:
        axes = drawn.axes[0]
        for place, (text, curve) in enumerate(part):
            axes.plot(curve.dump, curve.bytes, label=label(text), **_style(place, len(curve.dump)))
        from_zero(axes, max(float(curve.bytes.max()) for _, curve in part), rate=False)
        axes.set_ylabel("size of a dump")
        axes.set_xlabel("dump")
        _dump_axis(axes, max(int(curve.dump.max()) for _, curve in part))
        beside(axes)
    return Chart(
        "growth",
        "Sizes of dumps over the run.",
        "How many bytes each dump has. Settings that move the same bytes are one line" + _hidden(lines, part),
        "Medians over the trials of a setting.",
        drawn.svg,
        ("settings", "dump", "bytes"),
        [
            (text, int(s), float(b))
            for text, curve in lines
            for s, b in zip(curve.dump, curve.bytes, strict=True)
        ],
    )


def output(curves: list[Curve]) -> Chart | None:
    """Bytes written so far over the run's time (the paper's Fig. 2)."""
    lines = []
    for curve in curves:
        order = np.argsort(curve.end_s, kind="stable")
        ends, total = curve.end_s[order], np.cumsum(curve.written[order])
        if total[-1] > 0 and np.isfinite(ends).all():
            lines.append((curve.name, ends, total))
    if not lines:
        return None
    unit, name = time_unit(max(float(ends[-1]) for _, ends, _ in lines))
    with drawing("output", 3.1) as drawn:
        axes = drawn.axes[0]
        for place, (text, ends, total) in enumerate(lines):
            xs, ys = np.concatenate(([0.0], ends / unit)), np.concatenate(([0.0], total))
            axes.plot(xs, ys, label=label(text), **_style(place, len(ends)))
        from_zero(axes, max(float(total[-1]) for _, _, total in lines), rate=False)
        axes.set_xlim(left=0)
        axes.set_ylabel("written so far")
        axes.set_xlabel(f"time of the run ({name})")
        beside(axes)
    return Chart(
        "output",
        "Output over the run.",
        "How much was written until when. A steeper line is a faster setting, or a workload that writes more often.",
        "Medians, over the trials of a setting, of the moment at which each dump ended.",
        drawn.svg,
        ("setting", "end_s", "bytes_written_so_far"),
        [(text, float(e), float(t)) for text, ends, total in lines for e, t in zip(ends, total, strict=True)],
    )


def errors(table: StudyTable, names: list[str]) -> Chart | None:
    """How far the bytes so far are from those of the plan, per cent (the paper's Fig. 4)."""
    dumps = table.dumps
    known = (dumps.trial >= 0) & (dumps.trial < len(table.block)) & (dumps.planned > 0)
    rows = _by_setting(table, np.flatnonzero(known))
    curves = {name: _error_pct(table, rows[name]) for name in names if len(rows[name])}
    groups = _alike(table, {name: error.tobytes() for name, error in curves.items()})
    if not groups:
        return None
    lines = sorted(
        ((text, curves[members[0]]) for text, members in groups), key=lambda line: -np.abs(line[1]).max()
    )
    part = lines[:MOST_CURVES]
    most = max(LEAST_ERROR_PCT, 1.1 * float(np.abs(part[0][1]).max()))
    with drawing("errors", 2.6) as drawn:
        axes = drawn.axes[0]
        axes.axhline(0, color=MUTED, linewidth=1)
        for place, (text, error) in enumerate(part):
            axes.plot(range(len(error)), error, label=label(text), **_style(place, len(error)))
        axes.set_ylim(-most, most)
        axes.set_ylabel("difference (%)")
        axes.set_xlabel("dump")
        _dump_axis(axes, max(len(error) for _, error in part) - 1)
        beside(axes)
    return Chart(
        "errors",
        "Bytes beside those of the plan.",
        "How much more or less was written and read, up to each dump, than the plan says"
        + _hidden(lines, part),
        "Sums over all trials of a setting that ran, also those that are left out of averages.",
        drawn.svg,
        ("settings", "dump", "difference_pct"),
        [(text, dump, float(value)) for text, error in lines for dump, value in enumerate(error)],
    )


def _error_pct(table: StudyTable, rows: Integers) -> Floats:
    """Per cent, by the number of a dump: bytes up to it over all trials of a setting, beside those planned."""
    index = table.dumps.index[rows]
    found = np.cumsum(np.bincount(index, weights=table.dumps.bytes[rows]))
    planned = np.cumsum(np.bincount(index, weights=table.dumps.planned[rows]))
    return np.asarray(100 * (found - planned) / np.maximum(planned, 1))


def _hidden(lines: list[Any], part: list[Any]) -> str:
    hidden = len(lines) - len(part)
    return (
        f"; {plural(hidden, 'more line')} {'is' if hidden == 1 else 'are'} in the CSV file."
        if hidden
        else "."
    )


def _alike(table: StudyTable, values: Mapping[str, Hashable]) -> list[tuple[str, list[str]]]:
    """(text, settings) of each group of settings that have one value; the text says what they have in common."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for name, value in values.items():
        groups[value].append(name)
    if len(groups) == 1:
        (members,) = groups.values()
        return [("all settings" if len(members) > 1 else members[0], members)]
    row_of = {name: row for row, name in reversed(list(enumerate(table.setting)))}
    levels = {
        factor: [{column[row_of[name]] for name in members} for members in groups.values()]
        for factor, column in table.factors.items()
    }
    telling = [
        factor
        for factor, sets in levels.items()
        if all(len(levels_of_group) == 1 for levels_of_group in sets) and len(set().union(*sets)) > 1
    ]
    texts = [
        " ".join(f"{factor}={min(levels[factor][number])}" for factor in telling)
        for number in range(len(groups))
    ]
    if len(set(texts)) < len(groups):  # factors do not tell the groups apart: the settings themselves do
        texts = [
            members[0] if len(members) == 1 else f"{members[0]} and {len(members) - 1} more"
            for members in groups.values()
        ]
    return list(zip(texts, groups.values(), strict=True))
