"""report.html: one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from workalike.characterize.facts import Characterization
from workalike.compare.model import Fidelity
from workalike.compare.record import Record
from workalike.compare.verdict import verdict_of
from workalike.compare.words import count_text, percent_text, rate_text, seconds_text, size_text
from workalike.files import write_text
from workalike.plan.model import Plan
from workalike.workload.model import Workload


def write_report(
    path: str | Path,
    *,
    characterization: Characterization | None,
    workload: Workload,
    plan: Plan | None,
    record: Record | None,
    fidelity: Fidelity | None,
    versions: Mapping[str, str] | None = None,
) -> None:
    """Write the page.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    environment = Environment(
        loader=PackageLoader("workalike.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters.update(
        size=size_text, seconds=seconds_text, percent=percent_text, count=count_text, rate=rate_text
    )
    text = environment.get_template("report.html").render(
        workload=workload,
        record=record,
        fidelity=fidelity,
        verdict=verdict_of(fidelity).headline if fidelity else "",
        versions=dict(versions or {}),
    )
    write_text(path, text)
