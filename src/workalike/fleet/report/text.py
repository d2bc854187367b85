"""A report as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.fleet.report.paper import PaperTables
from workalike.fleet.report.period import Period


def paper_lines(tables: PaperTables, period: Period) -> Iterator[str]:
    """The paper's tables and how they overlap."""
    yield f"Period: {period.text()}"
    for number, metric in enumerate(tables.metrics, 3):
        yield ""
        yield f"Table {number}. {metric.title}"
        rows = {
            "Thresholds": metric.thresholds,
            "Total jobs analyzed": f"{metric.total:,}",
            "Jobs matching metric": f"{metric.jobs:,}",
            "Unique users matching metric": f"{metric.users:,}",
            "Largest single-job value": metric.largest_text,
        }
        yield from (f"  {name:<30} {value}" for name, value in rows.items())
    yield ""
    yield from (overlap.text() for overlap in tables.overlaps if overlap.both)
    if not any(overlap.both for overlap in tables.overlaps):
        yield "No job is in more than one of the lists."
