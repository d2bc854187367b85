"""The page, its figures and their numbers on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment

from workalike.files import make_folder, write_text
from workalike.report.page import environment
from workalike.study.report import beside, slopes
from workalike.study.report.best_of_workloads import header_of
from workalike.study.report.chances import NEARLY_ONE
from workalike.study.report.findings import findings_of
from workalike.study.report.numbers import csv_text
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.intervals import Method
from workalike.text import rate_text, seconds_text
from workalike.version import VERSION

if TYPE_CHECKING:
    from workalike.study.report.chart import Chart

MOST_ROWS = 100
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
            trials=len(table.block),
            settings=len(found.rows),
            blocks=len(set(map(int, table.block))),
            looks=len(table.looks.blocks),
            failed=sum(row.failed for row in found.rows),
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
    templates.filters.update(shown=shown, bandwidth=_rate, chance=_chance, ratio=_ratio, share=_share)
    templates.filters.update(slope=slopes.slope_text, seconds=_seconds)
    return templates


def _rate(value: float) -> str:
    return rate_text(None if value != value else value)


def _seconds(value: float) -> str:
    return seconds_text(None if value != value else value)


def _chance(value: float) -> str:
    if value >= NEARLY_ONE:
        return "> 99 %"
    return f"{100 * value:.0f} %" if value >= 0.005 else "< 1 %"


def _share(value: float) -> str:
    if value != value:
        return "-"
    return f"{100 * value:,.0f} %" if value >= 0.1 else f"{100 * value:.2g} %"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 1000 else "∞" if value == float("inf") else f"{value:.3g}"
