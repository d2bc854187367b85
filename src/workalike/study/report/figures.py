"""The figures that compare settings and levels. Each has a name, its SVG, and its numbers as rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.cbook import boxplot_stats
from matplotlib.ticker import LogLocator, NullLocator

from workalike.report.canvas import binary_ticks, drawing, size_axis, time_unit
from workalike.report.palette import INK, MUTED, REPLICA
from workalike.study.report.chart import COLORS, MOST_CURVES, MOST_ROWS, Chart, beside, from_zero, label
from workalike.study.report.findings import Findings, standard_error
from workalike.study.report.numbers import Row
from workalike.study.report.over_the_run import over_the_run
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import Effect, levels_of, number_of
from workalike.study.statistics.table import Floats

MOST_PAIRS = 4
MOST_LEVELS = 40


def charts_of(table: StudyTable, found: Findings) -> list[Chart]:
    """All figures that the study has numbers for."""
    charts = [
        ratios(table, found),
        mean_bandwidth(table, found),
        spread(table, found),
        main_effects(found),
        interaction_lines(table, found),
        *over_the_run(table, found),
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
        (r.name, r.ratio.ratio, r.ratio.low, r.ratio.high, r.ratio.pairs, r.p_best, r.ratio.p)
        for r in known
        if r.ratio
    ]
    return Chart(
        "ratios",
        "Each setting beside the reference.",
        "A dot is the ratio, its line the interval. Blue is faster, orange slower; grey lines that cross 1 may be no difference.",
        "Geometric means of ratios within blocks; 95 % intervals that hold for all settings at once.",
        drawn.svg,
        ("setting", "ratio", "low", "high", "blocks", "p_best", "p"),
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


def spread(table: StudyTable, found: Findings) -> Chart | None:
    """Box plots of the trials of each setting, with outliers (the Cray paper's Fig. 4)."""
    rates, times = (_boxes(table, found, value) for value in (table.bandwidth, table.wall_s))
    if not rates:
        return None
    part = [box["label"] for box in rates[:MOST_ROWS]]
    place_of = {name: place for place, name in enumerate(part)}
    times = [box for box in times if box["label"] in place_of]
    with drawing("spread", 0.9 + 0.3 * len(part), columns=2 if times else 1, sharey=True) as drawn:
        drawn.axes[0].set_xlabel("bandwidth")
        largest = _draw_boxes(drawn.axes[0], rates, place_of)
        binary_ticks(drawn.axes[0].xaxis, largest)
        size_axis(drawn.axes[0].xaxis, rate=True)
        drawn.axes[0].set_xlim(0, largest * 1.05)
        if times:
            unit, name = time_unit(max(float(box["whishi"]) for box in times))
            drawn.axes[1].set_xlabel(f"time of a run ({name})")
            largest = _draw_boxes(drawn.axes[1], times, place_of, unit)
            drawn.axes[1].set_xlim(0, largest * 1.05)
        drawn.axes[0].set_yticks(range(len(part)), [shown(name) for name in part])
        drawn.axes[0].set_ylim(len(part) - 0.4, -0.6)
    hidden = len(rates) - len(part)
    return Chart(
        "spread",
        "How much the trials of a setting differ.",
        "A box holds the middle half of the trials, and its line is the median. Circles are outliers"
        + (f"; {hidden} more settings are in the CSV file." if hidden else "."),
        "Whiskers reach to the last trial within 1.5 times the box's length. Drift between blocks is part of the spread.",
        drawn.svg,
        (
            *("value", "setting", "whisker_low", "quartile_low", "median", "quartile_high", "whisker_high"),
            *("outliers", "trials"),
        ),
        [_box_row("bytes_per_s", box) for box in rates] + [_box_row("wall_s", box) for box in times],
    )


def _boxes(table: StudyTable, found: Findings, value: Floats) -> list[dict[str, Any]]:
    """The numbers of a box for each setting that has trials, the best setting first."""
    trials = table.trials(value)
    good = np.isfinite(trials.log_value()) & np.isfinite(table.trials().log_value())
    names = np.array(trials.setting, dtype=object)
    values_of = {row.name: trials.value[(names == row.name) & good] for row in found.rows}
    return [
        boxplot_stats(values)[0] | {"label": name, "count": len(values)}
        for name, values in values_of.items()
        if len(values)
    ]


def _draw_boxes(
    axes: Any, boxes: Sequence[dict[str, Any]], place_of: Mapping[str, int], unit: float = 1.0
) -> float:
    """Draw the boxes of settings that have a place, in units of the value; returns the largest value drawn."""
    numbers = ("whislo", "q1", "med", "q3", "whishi", "fliers")
    drawn = [box | {name: box[name] / unit for name in numbers} for box in boxes if box["label"] in place_of]
    thin = {"color": MUTED, "linewidth": 1}
    axes.bxp(
        drawn,
        positions=[place_of[box["label"]] for box in drawn],
        orientation="horizontal",
        manage_ticks=False,
        widths=0.55,
        patch_artist=True,
        boxprops={"facecolor": "#cfe0e8", "edgecolor": COLORS[0], "linewidth": 1},
        medianprops={"color": COLORS[0], "linewidth": 2},
        flierprops={"marker": "o", "markersize": 4, "markeredgecolor": REPLICA},
        whiskerprops=thin,
        capprops=thin,
    )
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(axis="y", visible=False)
    return max(float(max([box["whishi"], *box["fliers"]])) for box in drawn)


def _box_row(value: str, box: Mapping[str, Any]) -> Row:
    numbers = (float(box[name]) for name in ("whislo", "q1", "med", "q3", "whishi"))
    outliers = " ".join(f"{outlier:.8g}" for outlier in box["fliers"])
    return (value, box["label"], *numbers, outliers, box["count"])


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
        for axes, (first_factor, second_factor) in zip(drawn.axes, chosen, strict=False):
            _lines(
                axes,
                trials.factors[first_factor],
                trials.factors[second_factor],
                log,
                first_factor,
                second_factor,
            )
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


def _lines(
    axes: Any, x: Sequence[str], curves: Sequence[str], log: np.ndarray, first_factor: str, second_factor: str
) -> None:
    first, second = levels_of(x), levels_of(curves)[:MOST_CURVES]
    xs, ofs, good = np.array(x, dtype=object), np.array(curves, dtype=object), np.isfinite(log)
    for place, level in enumerate(second):
        points = []
        for at in first:
            chosen = (xs == at) & (ofs == level) & good
            points.append(math.exp(float(log[chosen].mean())) if chosen.any() else math.nan)
        color = COLORS[place % len(COLORS)]
        axes.plot(range(len(first)), points, "o-", color=color, label=label(level), markersize=5)
    axes.set_xticks(range(len(first)), [shown(v) for v in first])
    axes.set_xlabel(shown(first_factor))
    axes.set_yscale("log", base=2)  # so that lines without an interaction are parallel
    axes.yaxis.set_major_locator(LogLocator(base=2, subs=(1.0, 1.5), numticks=8))
    axes.yaxis.set_minor_locator(NullLocator())
    size_axis(axes.yaxis, rate=True)
    axes.legend(title=shown(second_factor), fontsize=8, title_fontsize=8)


def scaling(table: StudyTable) -> Chart | None:
    """Bandwidth against ranks, a line for each level of the first other factor that varies (the paper's Fig. 9)."""
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
            axes.errorbar(xs, ys, errors, color=color, marker="o", capsize=3, label=label(level))
        axes.set_xscale("log", base=2)
        axes.set_xticks(np.unique(ranks), [f"{int(r)}" for r in np.unique(ranks)])
        axes.minorticks_off()
        axes.set_xlabel("ranks")
        from_zero(axes, largest, rate=True)
        axes.set_ylabel("bandwidth")
        if others:
            beside(axes, title=shown(others[0]))
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
