"""The page of joined studies: the systems as a table, means with standard errors, and ratios between machines."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from workalike.files import write_text
from workalike.report.canvas import drawing
from workalike.report.palette import INK, MUTED
from workalike.study.journal import read_finished, read_manifest
from workalike.study.measured import objective_value
from workalike.study.report.chart import COLORS, MOST_ROWS, Chart, beside, label, value_ticks
from workalike.study.report.page import PAGE, study_environment, write_charts
from workalike.study.report.systems import Systems, objective_of, systems_of
from workalike.study.report.table import shown
from workalike.version import VERSION

MOST_TABLE_ROWS = 200
MOST_SYSTEMS = 8
"""Systems with a bar of their own in the figure."""


def write_systems_page(folder: Path) -> Path | None:
    """Write `report.html` and its figures into the folder of joined studies; None if no trial has a value.

    Raises:
        WorkalikeError: BAD_STUDY if the folder holds no study; MISSING without scipy; CANNOT_WRITE.
    """
    finished = read_finished(folder)
    manifest = read_manifest(folder)
    if not any(objective_value(trial, objective_of(manifest)) > 0 for trial in finished):
        return None
    found = systems_of(manifest, finished)
    charts = [chart for chart in (means_of_systems(found), ratios_of_systems(found)) if chart is not None]
    page = (
        study_environment()
        .get_template("systems.html")
        .render(
            objective=found.objective,
            systems=found.systems,
            answers=found.answers,
            comparisons=found.comparisons[:MOST_TABLE_ROWS],
            hidden=max(0, len(found.comparisons) - MOST_TABLE_ROWS),
            charts=charts,
            trials=len(finished),
            version=VERSION,
        )
    )
    write_charts(folder, charts)
    write_text(folder / PAGE, page)
    return folder / PAGE


def means_of_systems(found: Systems) -> Chart:
    """A group of bars for each setting, a bar for each system (the paper's Figs. 6 and 8)."""
    settings = list(dict.fromkeys(mean.setting for mean in found.means))
    sources = list(dict.fromkeys(mean.source for mean in found.means))
    part, drawn_sources = settings[:MOST_ROWS], sources[:MOST_SYSTEMS]
    width = 0.8 / len(drawn_sources)
    with drawing("systems", 1.0 + len(part) * max(0.3, 0.2 * len(drawn_sources))) as drawn:
        axes = drawn.axes[0]
        largest = 0.0
        for place, source in enumerate(drawn_sources):
            own = [mean for mean in found.means if mean.source == source and mean.setting in part]
            rows = [part.index(mean.setting) + (place + 0.5) * width - 0.4 for mean in own]
            errors = [0.0 if mean.error != mean.error else mean.error for mean in own]
            means = [mean.mean for mean in own]
            axes.barh(
                rows,
                means,
                0.9 * width,
                xerr=errors,
                color=COLORS[place],
                ecolor=INK,
                capsize=2,
                label=label(source),
            )
            largest = max([largest, *(np.add(means, errors).tolist())])
        axes.set_yticks(range(len(part)), [shown(setting) for setting in part])
        axes.set_ylim(len(part) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        value_ticks(axes.xaxis, found.objective, largest)
        axes.set_xlim(0, largest * 1.05)
        axes.set_xlabel(found.objective.phrase)
        beside(axes)
    is_whole = (len(part), len(drawn_sources)) == (len(settings), len(sources))
    return Chart(
        "systems",
        f"Mean {found.objective.phrase} of each setting on each system.",
        "The bar is the mean of all trials, the whisker its standard error"
        + ("." if is_whole else "; more of them are in the CSV file."),
        "Each system was measured at its own time, so what else ran there is part of the difference.",
        drawn.svg,
        ("setting", "system", f"mean_{found.objective.header}", "standard_error", "trials"),
        [(mean.setting, mean.source, mean.mean, mean.error, mean.trials) for mean in found.means],
    )


def ratios_of_systems(found: Systems) -> Chart | None:
    """The ratio of each setting on a system to the same setting on the first one, with its interval."""
    known = [comparison for comparison in found.comparisons if comparison.ratio.is_known]
    if not known:
        return None
    part = known[:MOST_ROWS]
    sources = list(dict.fromkeys(comparison.source for comparison in known))
    with drawing("comparison", 0.9 + 0.3 * len(part)) as drawn:
        axes = drawn.axes[0]
        axes.axvline(1, color=MUTED, linewidth=1)
        for place, comparison in enumerate(part):
            ratio, color = comparison.ratio, COLORS[sources.index(comparison.source) % len(COLORS)]
            axes.plot([ratio.low, ratio.high], [place, place], color=color, linewidth=2.4)
            axes.plot(ratio.ratio, place, "o", color=color, markersize=6)
        texts = [f"{shown(comparison.setting)}, {shown(comparison.source)}" for comparison in part]
        axes.set_yticks(range(len(part)), texts)
        axes.set_ylim(len(part) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{found.objective.phrase} ÷ {found.objective.phrase} on {shown(known[0].reference)}")
    return Chart(
        "comparison",
        "Each system beside the first.",
        f"A dot is the ratio of a setting's {found.objective.phrase} on two systems, its line the interval. Lines that cross 1 may be no difference.",
        "Welch's intervals of the mean logarithms, unpaired; 95 % for all comparisons at once (Bonferroni).",
        drawn.svg,
        ("setting", "system", "reference", "ratio", "low", "high", "p"),
        [comparison.row() for comparison in known],
    )
