"""The figures of a study. Each has a name, its SVG, and its numbers as rows."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import LogLocator, NullLocator

from workalike.report.canvas import binary_ticks, drawing, size_axis, whole_ticks
from workalike.report.palette import INK, MUTED, REPLICA
from workalike.study.report.findings import Findings, standard_error
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import Effect, levels_of, number_of

COLORS = ("#1f6f8b", "#d9902b", "#7a5195", "#4f8a4b", "#b8557a", "#8c6d31", "#6b7280", "#c2410c")
MOST_ROWS = 30
"""Settings with a row of their own in a figure."""
MOST_CURVES = 6
MOST_PAIRS = 4
MOST_LEVELS = 40
MARKED = 60
"""Dumps up to which each has a mark."""

Row = Sequence[str | float | int]


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
        """The numbers of the figure; a text that a spreadsheet would take for a formula is quoted."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([_cell(v) for v in self.header])
        writer.writerows([[_cell(v) for v in row] for row in self.rows])
        return out.getvalue()


def _cell(value: str | float | int) -> str:
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else " " for c in value)
        return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not math.isfinite(number_of(text)) else text
    return "" if isinstance(value, float) and math.isnan(value) else f"{value:.8g}"


def charts_of(table: StudyTable, found: Findings) -> list[Chart]:
    """All figures that the study has numbers for."""
    charts = [
        ratios(table, found),
        mean_bandwidth(table, found),
        main_effects(found),
        interaction_lines(table, found),
        *dumps(table, found),
        scaling(table),
    ]
    return [chart for chart in charts if chart is not None]


def ratios(table: StudyTable, found: Findings) -> Chart | None:
    known = [r for r in found.rows if r.ratio is not None and r.ratio.is_known]
    if not known:
        return None
    drawn_rows = sorted(known, key=lambda r: r.ratio.ratio if r.ratio else 0)[-MOST_ROWS:]
    with drawing("ratios", 0.8 + 0.3 * len(drawn_rows)) as drawn:
        axes = drawn.axes[0]
        axes.axvline(1, color=MUTED, linewidth=1)
        for place, row in enumerate(drawn_rows):
            ratio = row.ratio
            assert ratio is not None
            color = COLORS[0] if ratio.low > 1 else REPLICA if ratio.high < 1 else "#9aa5b1"
            axes.plot([ratio.low, ratio.high], [place, place], color=color, linewidth=2.4)
            axes.plot(ratio.ratio, place, "o", color=color, markersize=6)
        axes.set_yticks(range(len(drawn_rows)), [shown(r.name) for r in drawn_rows])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"bandwidth ÷ bandwidth of {shown(table.base())}")
    rows: list[Row] = [
        (r.name, r.ratio.ratio, r.ratio.low, r.ratio.high, r.ratio.pairs, r.p_best) for r in known if r.ratio
    ]
    return Chart(
        "ratios",
        "Each setting beside the reference.",
        "A dot is the ratio, its line the interval. Blue is faster, orange slower; grey lines that cross 1 may be no difference.",
        "Geometric means of ratios within blocks; 95 % intervals that hold for all settings at once.",
        drawn.svg,
        ("setting", "ratio", "low", "high", "blocks", "p_best"),
        rows,
    )


def mean_bandwidth(table: StudyTable, found: Findings) -> Chart | None:
    """The paper's Figs. 6 and 8."""
    trials = table.trials()
    good = np.isfinite(trials.log_value())
    names = np.array(trials.setting, dtype=object)
    rows: list[Row] = []
    for row in found.rows:
        values = trials.value[(names == row.name) & good]
        if len(values):
            rows.append((row.name, float(values.mean()), standard_error(values), len(values)))
    if not rows:
        return None
    part = rows[:MOST_ROWS]
    means = [float(r[1]) for r in part]
    errors = [0.0 if math.isnan(float(r[2])) else float(r[2]) for r in part]
    with drawing("means", 0.9 + 0.28 * len(part)) as drawn:
        axes = drawn.axes[0]
        places = range(len(part))
        axes.barh(places, means, 0.62, xerr=errors, color="#7fa6b8", ecolor=INK, capsize=3)
        axes.set_yticks(list(places), [shown(str(r[0])) for r in part])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        binary_ticks(axes.xaxis, max(m + e for m, e in zip(means, errors, strict=True)))
        size_axis(axes.xaxis, rate=True)
        axes.set_xlabel("bandwidth")
    hidden = len(rows) - len(part)
    return Chart(
        "means",
        "Mean bandwidth of each setting.",
        "The bar is the mean of all trials, the whisker its standard error"
        + (f"; {hidden} more settings are in the CSV file." if hidden else "."),
        "Drift between blocks is part of these errors. The ratios above are free of it.",
        drawn.svg,
        ("setting", "mean_bytes_per_s", "standard_error", "trials"),
        rows,
    )


def main_effects(found: Findings) -> Chart | None:
    if not found.mains:
        return None
    part = found.mains[:MOST_LEVELS]
    factors = list(dict.fromkeys(e.factors[0] for e in part))
    places, labels, place = [], [], 0.0
    previous = part[0].factors[0]
    for effect in part:
        place += 0.6 if effect.factors[0] != previous else 0
        previous = effect.factors[0]
        places.append(place)
        labels.append(f"{shown(previous)} = {shown(effect.levels[0])}")
        place += 1
    with drawing("effects", 0.8 + 0.28 * place) as drawn:
        axes = drawn.axes[0]
        axes.axvline(1, color=MUTED, linewidth=1)
        for at, effect in zip(places, part, strict=True):
            color = COLORS[factors.index(effect.factors[0]) % len(COLORS)]
            if math.isfinite(effect.high):
                axes.plot([effect.low, effect.high], [at, at], color=color, linewidth=2.4)
            axes.plot(effect.ratio, at, "o", color=color, markersize=6)
        axes.set_yticks(places, labels)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("bandwidth ÷ mean over the factor's levels")
    return Chart(
        "effects",
        "What each factor does.",
        "How far each level is above or below the mean of its factor, everything else being alike.",
        "Least squares on logarithms within blocks; 95 % intervals by leaving out one block at a time.",
        drawn.svg,
        ("factor", "level", "ratio", "low", "high", "p_holm"),
        [(e.factors[0], e.levels[0], e.ratio, e.low, e.high, e.p) for e in found.mains],
    )


def interaction_lines(table: StudyTable, found: Findings) -> Chart | None:
    """For the strongest pairs: the bandwidth by the levels of one factor, a line for each level of the other."""
    if not found.pairs:
        return None
    strength: dict[tuple[str, ...], float] = {}
    for e in found.pairs:
        strength[e.factors] = max(strength.get(e.factors, 0.0), abs(math.log(e.ratio)))
    chosen = sorted(strength, key=lambda pair: -strength[pair])[:MOST_PAIRS]
    trials = table.trials()
    log = trials.log_value()
    across = min(2, len(chosen))
    down = -(-len(chosen) // across)
    with drawing("interactions", 2.9 * down, columns=across, rows=down) as drawn:
        for axes in drawn.axes[len(chosen) :]:
            axes.set_axis_off()
        for axes, (one, two) in zip(drawn.axes, chosen, strict=False):
            _lines(axes, trials.factors[one], trials.factors[two], log, one, two)
    return Chart(
        "interactions",
        "Do factors depend on each other?",
        "Lines that run alike say no. Lines that cross or part say that the best level of one depends on the other.",
        "Geometric means of all trials, on a logarithmic axis. The CSV file has each combination beyond both main effects, with its interval.",
        drawn.svg,
        ("factor_1", "level_1", "factor_2", "level_2", "ratio", "low", "high", "p_holm"),
        [_pair_row(e) for e in found.pairs],
    )


def _pair_row(e: Effect) -> Row:
    return (e.factors[0], e.levels[0], e.factors[1], e.levels[1], e.ratio, e.low, e.high, e.p)


def _lines(axes: Any, x: Sequence[str], of: Sequence[str], log: np.ndarray, one: str, two: str) -> None:
    first, second = levels_of(x), levels_of(of)[:MOST_CURVES]
    xs, ofs, good = np.array(x, dtype=object), np.array(of, dtype=object), np.isfinite(log)
    for place, level in enumerate(second):
        points = []
        for at in first:
            chosen = (xs == at) & (ofs == level) & good
            points.append(math.exp(float(log[chosen].mean())) if chosen.any() else math.nan)
        color = COLORS[place % len(COLORS)]
        axes.plot(range(len(first)), points, "o-", color=color, label=_label(level), markersize=5)
    axes.set_xticks(range(len(first)), [shown(v) for v in first])
    axes.set_xlabel(shown(one))
    axes.set_yscale("log", base=2)  # so that lines without an interaction are parallel
    axes.yaxis.set_major_locator(LogLocator(base=2, subs=(1.0, 1.5), numticks=8))
    axes.yaxis.set_minor_locator(NullLocator())
    size_axis(axes.yaxis, rate=True)
    axes.legend(title=shown(two), fontsize=8, title_fontsize=8)


def _label(text: str) -> str:
    """A legend's text; a leading underscore would hide it."""
    return f" {shown(text)}" if text.startswith("_") else shown(text)


def _from_zero(axes: Any, largest: float) -> None:
    axes.set_ylim(0, largest * 1.08 or 1)
    binary_ticks(axes.yaxis, largest)
    size_axis(axes.yaxis, rate=True)
    axes.set_ylim(0, largest * 1.08 or 1)


def _curves(table: StudyTable, found: Findings) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """(setting, dump, median bytes, median bandwidth) of the reference and the best settings."""
    dumps = table.dumps
    rate = dumps.bandwidth()
    good = np.isfinite(rate) & (dumps.trial >= 0) & (dumps.trial < len(table.block))
    if not good.any():
        return []
    code = {name: i for i, name in enumerate(dict.fromkeys(table.setting))}
    setting = np.array([code[name] for name in table.setting])[dumps.trial[good]]
    index, size, rate = dumps.index[good], dumps.bytes[good], rate[good]
    names = list(dict.fromkeys([table.base(), *(row.name for row in found.rows)]))[:MOST_CURVES]
    out = []
    for name in names:
        own = setting == code[name]
        steps = np.unique(index[own])
        if not len(steps):
            continue
        medians = [(np.median(size[own & (index == s)]), np.median(rate[own & (index == s)])) for s in steps]
        sizes, rates = np.array(medians).T
        out.append((name, steps, sizes, rates))
    return out


def dumps(table: StudyTable, found: Findings) -> list[Chart]:
    """Bandwidth per dump over the run with its size (the paper's Figs. 5 and 7), and against the size."""
    curves = _curves(table, found)
    if not curves:
        return []
    rows: list[Row] = [
        (name, int(s), float(b), float(r))
        for name, steps, sizes, rates in curves
        for s, b, r in zip(steps, sizes, rates, strict=True)
    ]
    header = ("setting", "dump", "bytes", "bytes_per_s")
    highest = max(float(rates.max()) for _, _, _, rates in curves)
    largest = max(float(sizes.max()) for _, _, sizes, _ in curves)
    some = (
        f"the reference and the {len(curves) - 1} settings that are most likely the best"
        if len(curves) > 1
        else "the setting"
    )
    with drawing("dumps", 4.2, rows=2, sharex=True, gridspec_kw={"height_ratios": (3, 1.2)}) as over_run:
        upper, lower = over_run.axes
        for place, (name, steps, sizes, rates) in enumerate(curves):
            mark = "o" if len(steps) <= MARKED else ""
            style = {"color": COLORS[place], "marker": mark, "markersize": 4, "linewidth": 1.4}
            upper.plot(steps, rates, label=_label(name), **style)
            if place == 0:
                lower.bar(steps, sizes, color="#b8c4d0")
        _from_zero(upper, highest)
        upper.set_ylabel("bandwidth of a dump")
        upper.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        tallest = float(curves[0][2].max())
        binary_ticks(lower.yaxis, tallest)
        lower.set_ylim(0, tallest * 1.1)
        size_axis(lower.yaxis)
        lower.set_ylabel("its size")
        lower.set_xlabel("dump")
        whole_ticks(lower.xaxis)
    charts = [
        Chart(
            "dumps",
            "Bandwidth over the run.",
            f"How fast each dump was written, for {some}; below, how large it is.",
            "Medians over the trials of a setting. Sizes are those of the first curve.",
            over_run.svg,
            header,
            rows,
        )
    ]
    with drawing("sizes", 3.0) as by_size:
        axes = by_size.axes[0]
        for place, (name, _, sizes, rates) in enumerate(curves):
            axes.plot(sizes, rates, "o", color=COLORS[place], markersize=5, alpha=0.8, label=_label(name))
        _from_zero(axes, highest)
        axes.set_ylabel("bandwidth of a dump")
        axes.set_xlim(0, largest * 1.05)
        binary_ticks(axes.xaxis, largest)
        size_axis(axes.xaxis)
        axes.set_xlabel("size of the dump")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    charts.append(
        Chart(
            "sizes",
            "Bandwidth against size.",
            "Whether larger dumps are written faster. A curve that bends down shows where a limit is met.",
            "The same medians.",
            by_size.svg,
            header,
            rows,
        )
    )
    return charts


def scaling(table: StudyTable) -> Chart | None:
    """Bandwidth against ranks, a line for each level of the factor with most effect beside it (the paper's Fig. 9)."""
    column = table.factors.get("ranks")
    if column is None or len(set(column)) < 2 or not all(number_of(v) > 0 for v in set(column)):
        return None
    others = [
        name for name in table.factors if name != "ranks" and 1 < len(set(table.factors[name])) <= MOST_CURVES
    ]
    group = table.factors[others[0]] if others else ["all settings"] * len(column)
    ranks = np.array([number_of(v) for v in column])
    groups, good = np.array(group, dtype=object), np.isfinite(table.bandwidth) & (table.bandwidth > 0)
    rows: list[Row] = []
    with drawing("scaling", 3.1) as drawn:
        axes = drawn.axes[0]
        largest = 0.0
        for place, level in enumerate(levels_of(group)):
            points = []
            for count in np.unique(ranks):
                values = table.bandwidth[(ranks == count) & (groups == level) & good]
                if len(values):
                    points.append((float(count), float(values.mean()), standard_error(values), len(values)))
            rows += [(level, *point) for point in points]
            largest = max([largest, *(p[1] for p in points)])
            errors = [0.0 if math.isnan(p[2]) else p[2] for p in points]
            color = COLORS[place % len(COLORS)]
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            axes.errorbar(xs, ys, errors, color=color, marker="o", capsize=3, label=_label(level))
        axes.set_xscale("log", base=2)
        axes.set_xticks(np.unique(ranks), [f"{int(r)}" for r in np.unique(ranks)])
        axes.minorticks_off()
        axes.set_xlabel("ranks")
        _from_zero(axes, largest)
        axes.set_ylabel("bandwidth")
        if others:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title=shown(others[0]))
    return Chart(
        "scaling",
        f"{_scaling_word(table, ranks)} scaling.".strip().capitalize(),
        "How the bandwidth grows with the number of ranks.",
        "Means of all trials with their standard errors.",
        drawn.svg,
        (others[0] if others else "settings", "ranks", "mean_bytes_per_s", "standard_error", "trials"),
        rows,
    )


def _scaling_word(table: StudyTable, ranks: np.ndarray) -> str:
    """Weak where the bytes of a trial grow with the ranks, strong where they stay."""
    inside = (table.dumps.trial >= 0) & (table.dumps.trial < len(ranks)) & np.isfinite(table.dumps.bytes)
    total = np.bincount(table.dumps.trial[inside], weights=table.dumps.bytes[inside], minlength=len(ranks))
    few, many = (np.median(total[ranks == r]) for r in (ranks.min(), ranks.max()))
    if few <= 0 or many <= 0:
        return ""
    grown, expected = many / few, ranks.max() / ranks.min()
    return "weak" if abs(grown / expected - 1) < 0.2 else "strong" if abs(grown - 1) < 0.2 else ""
