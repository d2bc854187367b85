"""The page, its figures and their numbers on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment

from workalike.files import make_folder, write_text
from workalike.report.page import environment
from workalike.study.in_memory import HEAD
from workalike.study.report import beside, slopes
from workalike.study.report.best_of_workloads import header_of
from workalike.study.report.chances import NEARLY_ONE
from workalike.study.report.findings import findings_of
from workalike.study.report.numbers import csv_text
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.intervals import Method
from workalike.text import plural, portion_text, rate_text, ratio_text, seconds_text
from workalike.version import VERSION

if TYPE_CHECKING:
    from workalike.study.report.chart import Chart

MOST_ROWS = 100
NAMED = 0.795
"""The probability, 80 % when it is printed, from which on a reader takes a setting for the best."""
METHODS = {
    Method.STUDENT: "Student's",
    Method.BCA: "BCa bootstrap",
    Method.BOOTSTRAP: "percentile bootstrap",
}
PAGE, FIGURES = "report.html", "figures"


def write_study_report(folder: str | Path, table: StudyTable) -> Path:
    """Write `report.html` and `figures/NAME.svg` and `.csv` into a folder, and return the page's path.

    Raises:
        WorkalikeError: CANNOT_WRITE; NOT_INSTALLED without scipy.
    """
    place = Path(folder)
    found = findings_of(table)
    from workalike.study.report.figures import charts_of  # matplotlib is slow to import

    charts = charts_of(table, found)
    page = (
        study_environment()
        .get_template("study.html")
        .render(
            title=shown(table.title),
            reference=shown(table.base()),
            answers=found.answers,
            rows=found.rows[:MOST_ROWS],
            rows_hidden=max(0, len(found.rows) - MOST_ROWS),
            same=found.same,
            has_shares=any(row.share == row.share for row in found.rows),
            objective=table.objective,
            interval=METHODS[table.method],
            beside=found.beside,
            growths=found.growths,
            of_workloads=found.of_workloads,
            charts=charts,
            summary=summary_text(table, len(found.rows), sum(row.failed for row in found.rows)),
            in_memory=table.in_memory,
            stamp=HEAD,
            looks=len(table.looks.blocks),
            is_decided=found.rows[0].is_best,
            above_ceiling=any(row.share > 1 for row in found.rows),
            version=VERSION,
        )
    )
    write_charts(place, charts)
    if found.of_workloads:
        rows = csv_text(header_of(table.objective), [best.row() for best in found.of_workloads])
        write_text(place / FIGURES / "best_of_workloads.csv", rows)
    if found.growths:
        rows = csv_text(slopes.HEADER, [row for growth in found.growths for row in growth.csv_rows()])
        write_text(place / FIGURES / "slopes.csv", rows)
    if found.beside:
        rows = csv_text(beside.HEADER, beside.csv_rows_of(found.beside))
        write_text(place / FIGURES / "objectives.csv", rows)
    write_text(place / PAGE, page)
    return place / PAGE


def write_charts(folder: Path, charts: Sequence[Chart]) -> None:
    """Write `figures/NAME.svg` and `figures/NAME.csv` of each figure.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    make_folder(folder / FIGURES)
    for chart in charts:
        write_text(folder / FIGURES / f"{chart.name}.svg", str(chart.svg))
        write_text(folder / FIGURES / f"{chart.name}.csv", chart.csv_text())


def study_environment() -> Environment:
    """The environment of the pages of studies, which escapes all text, with their own filters."""
    templates = environment("workalike.study.report")
    templates.filters.update(shown=shown, bandwidth=_rate, chance=_chance, ratio=ratio_text, share=_share)
    templates.filters.update(slope=slopes.slope_text, slope_interval=slopes.interval_of, seconds=_seconds)
    templates.globals.update(shown_chance=shown_chance)
    return templates


def shown_chance(p_best: float, settings: int, *, is_decided: bool) -> str:
    """The probability to be the best in a table; not of a setting that the comparisons do not confirm."""
    if settings < 2:
        return "-"
    return "not decided" if p_best >= NAMED and not is_decided else _chance(p_best)


def _rate(value: float) -> str:
    return rate_text(None if value != value else value)


def _seconds(value: float) -> str:
    return seconds_text(None if value != value else value)


LEFT_OUT = {
    "failed": "failed",
    "timed-out": "timed out",
    "not-taken": "whose setting had no effect",
    "not-set": "whose setting was refused",
}
"""States of trials that do not count, in words."""


def summary_text(table: StudyTable, settings: int, failed: int) -> str:
    """Trials, settings and blocks, and what of them does not count or has not run."""
    ran, blocks = len(table.block), len(set(map(int, table.block)))
    trials = f"{ran:,} of {table.planned:,} planned trials" if table.planned > ran else plural(ran, "trial")
    text = f"{trials} of {plural(settings, 'setting')} in {plural(blocks, 'block')}"
    missing = ", the others have not run" if table.planned > ran else ""
    return f"{text}{missing}{left_out_text(table.states, failed)}."


def left_out_text(states: Sequence[str], failed: int = 0) -> str:
    """The end of a sentence: how many trials are left out, and why; empty where none is.

    Args:
        states: of each trial; empty where they are not known.
        failed: trials without a value, where states are not known.
    """
    lost = Counter(state for state in states if state != "ok")
    if not states:
        lost = Counter({"failed": failed} if failed else {})
    total = sum(lost.values())
    if not total:
        return ""
    why = " and ".join(f"{count} {LEFT_OUT.get(state, state)}" for state, count in sorted(lost.items()))
    return f"; {plural(total, 'trial')} {'is' if total == 1 else 'are'} left out ({why})"


def _chance(value: float) -> str:
    if value >= NEARLY_ONE:
        return "> 99 %"
    return f"{100 * value:.0f} %" if value >= 0.005 else "< 1 %"


def _share(value: float) -> str:
    if value != value:
        return "-"
    return portion_text(value)
