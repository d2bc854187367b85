"""The figures that compare settings and levels. Each has a name, its SVG, and its numbers as rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.cbook import boxplot_stats

from workalike.report.canvas import drawing
from workalike.report.palette import INK, MUTED, REPLICA
from workalike.study.objective import Objective
from workalike.study.report.chart import COLORS, MOST_ROWS, Chart, value_ticks
from workalike.study.report.figures_of_blocks import levels_of_blocks
from workalike.study.report.figures_of_factors import interaction_lines, main_effects
from workalike.study.report.figures_of_scaling import efficiency, lines, scaling
from workalike.study.report.findings import Findings, standard_error
from workalike.study.report.numbers import Row
from workalike.study.report.over_the_run import over_the_run
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.table import Floats
from workalike.text import is_telling

NO_LINE = " A dot without a line has an interval that cannot tell, over a factor of 100."


def charts_of(table: StudyTable, found: Findings) -> list[Chart]:
    """All figures that the study has numbers for."""
    charts = [
        ratios(table, found),
        means(table, found),
        spread(table, [row.name for row in found.rows]),
        main_effects(table, found),
        interaction_lines(table, found),
        *over_the_run(table, found),
        scaling(table),
        efficiency(table, found.scalings),
        lines(table, found),
        levels_of_blocks(table, found.variability),
    ]
    return [chart for chart in charts if chart is not None]


def ratios(table: StudyTable, found: Findings) -> Chart | None:
    objective = table.objective
    known = [r for r in found.rows if r.ratio is not None and r.ratio.is_known]
    if not known:
        return None
    sign = objective.better.sign
    drawn_rows = sorted(known, key=lambda r: sign * r.ratio.ratio if r.ratio else 0)[-MOST_ROWS:]
    with drawing("ratios", 0.8 + 0.3 * len(drawn_rows)) as drawn:
        axes = drawn.axes[0]
        axes.axvline(1, color=MUTED, linewidth=1)
        for place, row in enumerate(drawn_rows):
            ratio = row.ratio
            assert ratio is not None
            good, bad = ratio.is_better(objective.better), ratio.is_worse(objective.better)
            color = COLORS[0] if good else REPLICA if bad else "#9aa5b1"
            if is_telling(ratio.low, ratio.high):
                axes.plot([ratio.low, ratio.high], [place, place], color=color, linewidth=2.4)
            axes.plot(ratio.ratio, place, "o", color=color, markersize=6)
        axes.set_yticks(range(len(drawn_rows)), [shown(r.name) for r in drawn_rows])
        axes.set_ylim(-0.6, len(drawn_rows) - 0.4)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{objective.phrase} ÷ {objective.phrase} of {shown(table.base())}")
    rows: list[Row] = [
        (r.name, r.ratio.ratio, r.ratio.low, r.ratio.high, r.ratio.pairs, r.p_best, r.ratio.p)
        for r in known
        if r.ratio
    ]
    return Chart(
        "ratios",
        "Each setting beside the reference.",
        "A dot is the ratio, its line the interval. Blue is faster, orange slower; grey lines that cross 1 may be no difference."
        + NO_LINE * any(not is_telling(r.ratio.low, r.ratio.high) for r in drawn_rows if r.ratio),
        "Geometric means of ratios within blocks; 95 % intervals that hold for all settings at once.",
        drawn.svg,
        ("setting", "ratio", "low", "high", "blocks", "p_best", "p"),
        rows,
    )


def means(table: StudyTable, found: Findings) -> Chart | None:
    """The mean of each setting (the paper's Figs. 6 and 8)."""
    trials, objective = table.trials(), table.objective
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
    middle = [float(r[1]) for r in part]
    errors = [0.0 if math.isnan(float(r[2])) else float(r[2]) for r in part]
    with drawing("means", 0.9 + 0.28 * len(part)) as drawn:
        axes = drawn.axes[0]
        places = range(len(part))
        axes.barh(places, middle, 0.62, xerr=errors, color="#7fa6b8", ecolor=INK, capsize=3)
        axes.set_yticks(list(places), [shown(str(r[0])) for r in part])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        value_ticks(axes.xaxis, objective, max(m + e for m, e in zip(middle, errors, strict=True)))
        axes.set_xlabel(objective.phrase)
    hidden = len(rows) - len(part)
    return Chart(
        "means",
        f"Mean {objective.phrase} of each setting.",
        "The bar is the arithmetic mean of all trials, the whisker its standard error"
        + (f"; {hidden} more settings are in the CSV file." if hidden else "."),
        "Drift between blocks is part of these errors. The ratios above are free of it. The table has geometric means, which "
        "are lower the more trials differ.",
        drawn.svg,
        ("setting", f"mean_{objective.header}", "standard_error", "trials"),
        rows,
    )


def spread(
    table: StudyTable, names: Sequence[str], name: str = "spread", *, with_run_time: bool = True
) -> Chart | None:
    """Box plots of the trials of each setting, with outliers (the Cray paper's Fig. 4), in the order of the names."""
    objective = table.objective
    values = _boxes(table, names, table.values())
    has_times = with_run_time and objective is not Objective.WALL_TIME
    times = _boxes(table, names, table.wall_s) if has_times else []
    if max((box["count"] for box in values), default=0) < 2:
        return None  # nothing differs
    part = [box["label"] for box in values[:MOST_ROWS]]
    place_of = {setting: place for place, setting in enumerate(part)}
    panels = [(objective, values)]
    if any(box["label"] in place_of for box in times):
        panels.append((Objective.WALL_TIME, times))
    with drawing(name, 0.9 + 0.3 * len(part), columns=len(panels), sharey=True) as drawn:
        for axes, (kind, boxes) in zip(drawn.axes, panels, strict=True):
            largest = _draw_boxes(axes, boxes, place_of)
            value_ticks(axes.xaxis, kind, largest)
            axes.set_xlim(0, largest * 1.05)
            axes.set_xlabel(kind.phrase)
        drawn.axes[0].set_yticks(range(len(part)), [shown(setting) for setting in part])
        drawn.axes[0].set_ylim(len(part) - 0.4, -0.6)
    hidden = len(values) - len(part)
    return Chart(
        name,
        "How much the trials of a setting differ.",
        "A box holds the middle half of the trials, and its line is the median. Circles are outliers"
        + (f"; {hidden} more settings are in the CSV file." if hidden else "."),
        "Whiskers reach to the last trial within 1.5 times the box's length. Drift between blocks is part of the spread.",
        drawn.svg,
        (
            *("value", "setting", "whisker_low", "quartile_low", "median", "quartile_high", "whisker_high"),
            *("outliers", "trials"),
        ),
        [_box_row(_name_of(kind), box) for kind, boxes in panels for box in boxes],
    )


def _name_of(objective: Objective) -> str:
    """In the column of values of the CSV file, with its unit."""
    return objective.header if objective is Objective.BANDWIDTH else objective.column


def _boxes(table: StudyTable, settings: Sequence[str], value: Floats) -> list[dict[str, Any]]:
    """The numbers of a box for each setting that has trials, the best setting first."""
    trials = table.trials(value)
    good = np.isfinite(trials.log_value()) & np.isfinite(table.trials().log_value())
    names = np.array(trials.setting, dtype=object)
    values_of = {name: trials.value[(names == name) & good] for name in settings}
    return [
        boxplot_stats(values)[0] | {"label": name, "count": len(values)}
        for name, values in values_of.items()
        if len(values)
    ]


def _draw_boxes(axes: Any, boxes: Sequence[dict[str, Any]], place_of: Mapping[str, int]) -> float:
    """Draw the boxes of settings that have a place; returns the largest value drawn."""
    drawn = [box for box in boxes if box["label"] in place_of]
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
