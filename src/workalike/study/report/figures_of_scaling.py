"""The figure of scaling."""

from __future__ import annotations

import math

import numpy as np

from workalike.report.canvas import drawing
from workalike.study.report.chart import COLORS, MOST_CURVES, Chart, beside, from_zero, label
from workalike.study.report.findings import standard_error
from workalike.study.report.numbers import Row
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import levels_of, number_of


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
