"""The figures of scaling: the objective against ranks or nodes, and how efficient more of them are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workalike.report.canvas import drawing
from workalike.report.palette import MUTED
from workalike.study.objective import Objective
from workalike.study.report.chart import COLORS, MOST_CURVES, Chart, beside, label, value_ticks
from workalike.study.report.findings import Findings, standard_error
from workalike.study.report.numbers import Row
from workalike.study.report.scaling import HEADER, Scaling, alike_rows, counting_factor, groups_of, kinds_of
from workalike.study.report.slopes import lines_of
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import number_of
from workalike.study.statistics.scaling import ENOUGH

MOST_PANELS = 3


def scaling(table: StudyTable) -> Chart | None:
    """The objective against ranks, a line for each level of the first other factor (the paper's Fig. 9)."""
    factor = counting_factor(table)
    if factor is None:
        return None
    groups, objective, value = groups_of(table, factor), table.objective, table.values()
    counts = np.array([number_of(level) for level in table.factors[factor]])
    own, good = np.array(groups.column, dtype=object), alike_rows(table, factor, groups)
    rows: list[Row] = []
    with drawing("scaling", 3.1) as drawn:
        axes = drawn.axes[0]
        largest = 0.0
        for place, level in enumerate(groups.levels()):
            points = []
            for count in np.unique(counts):
                values = value[(counts == count) & (own == level) & good]
                if len(values):
                    points.append((float(count), float(values.mean()), standard_error(values), len(values)))
            rows += [(level, *point) for point in points]
            if place >= len(COLORS):
                continue  # the CSV file has it
            largest = max([largest, *(p[1] for p in points)])
            errors = [0.0 if math.isnan(p[2]) else p[2] for p in points]
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            axes.errorbar(
                xs, ys, errors, color=COLORS[place % len(COLORS)], marker="o", capsize=3, label=label(level)
            )
        _count_axis(axes, counts, table.counts[factor])
        value_ticks(axes.yaxis, objective, largest)
        axes.set_ylim(0, largest * 1.08 or 1)
        axes.set_ylabel(objective.phrase)
        if groups.factor:
            beside(axes, title=shown(groups.factor))
    kinds = set(kinds_of(table, factor, groups).values())
    word = kinds.pop() if len(kinds) == 1 else ""
    unit = table.counts[factor]
    return Chart(
        "scaling",
        f"{word} scaling.".strip().capitalize(),
        f"How the {objective.phrase} changes with the number of {unit}.",
        "Arithmetic means with their standard errors, of trials whose other factors were measured with every number in their block; "
        "where there are none, of all trials.",
        drawn.svg,
        (groups.factor or "settings", unit, f"mean_{objective.header}", "standard_error", "trials"),
        rows,
    )


def efficiency(table: StudyTable, scalings: Sequence[Scaling]) -> Chart | None:
    """What each rank does beside what each of the fewest does, with intervals."""
    part = [group for group in scalings if any(e.ratio.is_known for e in group.levels)]
    if not part:
        return None
    unit = part[0].counted
    with drawing("efficiency", 3.1) as drawn:
        axes = drawn.axes[0]
        axes.axhline(100, color=MUTED, linewidth=1)
        axes.axhline(100 * ENOUGH, color=MUTED, linewidth=1, linestyle="--")
        counts: set[float] = set()
        for place, group in enumerate(part[:MOST_CURVES]):
            known = [e for e in group.levels if e.ratio.is_known]
            xs = [number_of(group.smallest), *(e.count for e in known)]
            middle = np.array([1.0, *(e.ratio.ratio for e in known)])
            low = np.array([1.0, *(e.ratio.low for e in known)])
            high = np.array([1.0, *(e.ratio.high for e in known)])
            color = COLORS[place % len(COLORS)]
            reach = 100 * np.array([middle - low, high - middle])
            axes.errorbar(
                xs, 100 * middle, reach, color=color, marker="o", capsize=3, label=label(group.group)
            )
            counts |= set(xs)
        _count_axis(axes, np.array(sorted(counts)), unit)
        axes.set_ylim(0, max(115.0, min(200.0, axes.get_ylim()[1])))
        axes.set_ylabel("efficiency (%)")
        if len(part) > 1:
            beside(axes)
    return Chart(
        "efficiency",
        f"How efficient more {unit} are.",
        f"What each of the {unit} does beside what each does where they are fewest. At 100 % twice as many do twice as much; "
        f"the dashed line is at {100 * ENOUGH:.0f} %.",
        f"Ratios of {table.objective.phrase} for each of the {unit}, within blocks; 95 % intervals that hold for all points of a line at once.",
        drawn.svg,
        HEADER,
        [row for group in part for row in group.csv_rows()],
    )


def lines(table: StudyTable, found: Findings) -> Chart | None:
    """The times of a factor of numbers with the lines of their slopes (MINIO's result), the first factor only."""
    growths = [growth for growth in found.growths if growth.factor == found.growths[0].factor][:MOST_PANELS]
    if not growths:
        return None
    rows: list[Row] = []
    with drawing("lines", 3.1, columns=len(growths)) as drawn:
        for axes, growth in zip(drawn.axes, growths, strict=True):
            largest = 0.0
            for place, line in enumerate(lines_of(table, growth)):
                style = {"color": COLORS[place % len(COLORS)]}
                axes.plot(line.numbers, line.means, "o", label=label(line.group), markersize=5, **style)
                axes.plot(line.numbers, line.line, linewidth=1.4, **style)
                largest = max([largest, *line.means, *line.line])
                points = zip(line.numbers, line.means, line.line, strict=True)
                rows += [(growth.factor, growth.measure, line.group, *point) for point in points]
            value_ticks(axes.yaxis, Objective.IO_TIME, largest)
            axes.set_ylim(min(0.0, axes.get_ylim()[0]), largest * 1.08 or 1)
            axes.set_xlim(left=0)
            axes.set_title(growth.measure, fontsize=9, loc="left")
            axes.set_xlabel(shown(growth.factor) + (" (MiB)" if growth.unit == "MiB" else ""))
        if growths[0].group_factor:
            beside(drawn.axes[len(growths) - 1], title=shown(growths[0].group_factor))
    return Chart(
        "lines",
        f"How times grow with {shown(growths[0].factor)}.",
        "Dots are means of the trials whose other factors were measured with every number in their block, and lines have the mean slope of the blocks.",
        "Where dots leave their line, the growth is not the same everywhere, and the slope is only its mean.",
        drawn.svg,
        ("factor", "time", "group", "number", "mean_s", "line_s"),
        rows,
    )


def _count_axis(axes: Any, counts: np.ndarray, unit: str) -> None:
    """A logarithmic axis of the numbers of ranks or nodes."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(np.unique(counts), [f"{count:g}" for count in np.unique(counts)])
    axes.minorticks_off()
    axes.set_xlabel(unit)
