"""The page of joined studies: the systems as a table, means with standard errors, and ratios between machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workalike.files import write_text
from workalike.report.canvas import drawing
from workalike.report.palette import INK, MUTED
from workalike.study.in_memory import HEAD, in_memory_text
from workalike.study.journal import Finished, read_finished, read_manifest
from workalike.study.measured import objective_value
from workalike.study.objective import Objective
from workalike.study.report.best_of_systems import (
    CEILINGS_HEADER,
    HEADER,
    EachSystem,
    bests_text,
    each_system,
    shares_text,
    systems_scale_text,
)
from workalike.study.report.chart import COLORS, MOST_ROWS, Chart, beside, label, value_ticks
from workalike.study.report.dumps_of_systems import dumps_of_systems
from workalike.study.report.figures import NO_LINE, spread
from workalike.study.report.figures_of_scaling import efficiency, scaling
from workalike.study.report.findings import Answer
from workalike.study.report.numbers import Row, csv_text
from workalike.study.report.page import FIGURES, PAGE, left_out_text, study_environment, write_charts
from workalike.study.report.systems import Systems, objective_of, systems_of
from workalike.study.report.table import shown
from workalike.study.results_page import state_of
from workalike.text import is_telling
from workalike.version import VERSION

MOST_TABLE_ROWS = 200
TAILS_HEADER = ("objective", "setting", "system", "reference", "ratio", "low", "high", "p")
MOST_SYSTEMS = 8
"""Systems with a bar of their own in the figure."""


def write_systems_page(folder: Path) -> Path | None:
    """Write `report.html` and its figures into the folder of joined studies; None if no trial has a value.

    Raises:
        WorkalikeError: BAD_STUDY if the folder holds no study; NOT_INSTALLED without scipy; CANNOT_WRITE.
    """
    finished = read_finished(folder)
    manifest = read_manifest(folder)
    if not any(objective_value(trial, objective_of(manifest)) > 0 for trial in finished):
        return None
    found = systems_of(manifest, finished)
    each = each_system(folder, manifest, finished, found.objective)
    factors = [str(name) for name in manifest.get("factors", [])]
    charts = [
        chart for chart in [*_charts(found, each), dumps_of_systems(finished, factors)] if chart is not None
    ]
    page = (
        study_environment()
        .get_template("systems.html")
        .render(
            objective=found.objective,
            systems=found.systems,
            answers=[*found.answers[:1], *_answers_of_each(each), *found.answers[1:]],
            bests=each.bests,
            ceilings=_by_kind(each),
            tails=found.tails[:MOST_TABLE_ROWS],
            comparisons=found.comparisons[:MOST_TABLE_ROWS],
            hidden=max(0, len(found.comparisons) - MOST_TABLE_ROWS),
            charts=charts,
            trials=len(finished),
            left_out=left_out_text([state_of(each.trial) for each in finished]),
            in_memory=_in_memory(manifest, finished),
            stamp=HEAD,
            above_ceiling=any(best.share > 1 for best in each.bests),
            version=VERSION,
        )
    )
    write_charts(folder, charts)
    tables: dict[str, tuple[Sequence[str], list[Row]]] = {
        "best_of_systems": (HEADER, [best.row() for best in each.bests]),
        "ceilings": (CEILINGS_HEADER, [ceiling.row() for ceiling in each.ceilings]),
        "tails": (TAILS_HEADER, [(c.objective.value, *c.row()) for c in found.tails]),
    }
    for name, (header, rows) in tables.items():
        if rows:
            write_text(folder / FIGURES / f"{name}.csv", csv_text(header, rows))
    write_text(folder / PAGE, page)
    return folder / PAGE


def _in_memory(manifest: Mapping[str, Any], finished: Sequence[Finished]) -> list[tuple[str, str]]:
    """(system, sentence) of each whose trials the page cache may have served."""
    texts = []
    for source in manifest.get("sources", []):
        name = str(source.get("name"))
        own = [trial for trial in finished if str(trial.trial.get("source")) == name]
        texts.append((name, in_memory_text(own, source)))
    return [(name, text) for name, text in texts if text]


def _charts(found: Systems, each: EachSystem) -> list[Chart | None]:
    """Those of joined studies, and of the single study's page: trials, slow dumps and scaling, by machine."""
    slow = replace(each.whole, objectives=(Objective.SLOWEST_DUMP,))
    tails = spread(slow, each.names, "slow_dumps", with_run_time=False)
    return [
        means_of_systems(found),
        ratios_of_systems(found),
        spread(each.whole, each.names),
        replace(tails, title="The slowest dumps.") if tails is not None else None,
        scaling(each.whole),
        efficiency(each.whole, each.scalings),
    ]


def _answers_of_each(each: EachSystem) -> list[Answer]:
    """A sentence for each question about single machines."""
    texts = {
        "Which setting is the best on each?": bests_text(each.bests),
        "How much of the possible is that?": shares_text(each.bests),
        "How far does each scale?": systems_scale_text(each),
    }
    return [Answer(question, text) for question, text in texts.items() if text]


def _by_kind(each: EachSystem) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """What -> source -> (median, range) of the ceilings of its file systems, as texts."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for ceiling in each.ceilings:
        found.setdefault(ceiling.what, {}).setdefault(ceiling.source, []).append(ceiling.texts)
    return found


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
        "The bar is the arithmetic mean of all trials, the whisker its standard error"
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
            if is_telling(ratio.low, ratio.high):
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
        f"A dot is the ratio of a setting's {found.objective.phrase} on two systems, its line the interval. Lines that cross 1 may be no difference."
        + NO_LINE * any(not is_telling(c.ratio.low, c.ratio.high) for c in part),
        "Welch's intervals of the mean logarithms, unpaired; 95 % for all comparisons at once (Bonferroni).",
        drawn.svg,
        ("setting", "system", "reference", "ratio", "low", "high", "p"),
        [comparison.row() for comparison in known],
    )
