"""report.html: one self-contained page of text and inline SVG, without scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from workalike.characterize.result import Characterization
from workalike.compare.fidelity import uncovered
from workalike.compare.fidelity_schema import Fidelity
from workalike.compare.pairing import Pairing
from workalike.compare.table import short_counter
from workalike.compare.verdict import LINES, coverage_words, lines_words, verdict_of
from workalike.darshan.layouts import MODULE_NAMES
from workalike.files import write_text
from workalike.record.run_record import Record
from workalike.report import rows, series, time_rows
from workalike.report.guard import names_of, withhold
from workalike.report.palette import REPLICA, color_of
from workalike.report.sentences import overview
from workalike.text import amount_text, count_text, percent_text, plural, rate_text, seconds_text, size_text

MAX_NOTES = 30
MAX_FAILURES = 20


def write_report(
    path: str | Path,
    *,
    pairing: Pairing,
    fidelity: Fidelity | None = None,
    versions: Mapping[str, str] | None = None,
) -> None:
    """Write the report.

    Args:
        path: the HTML file to write.
        pairing: original and replica; without a replica the report is on the workload alone.
        fidelity: the fidelity of this pairing; None where nothing was compared.
        versions: further programs and their versions, by name.

    Raises:
        WorkalikeError: CANNOT_WRITE where the file cannot be written.
    """
    page = context(pairing, fidelity)
    page["versions"] = rows.versions(pairing.record, pairing.log, versions or {})
    write_text(path, environment().get_template("report.html").render(page))


def environment(package: str | None = None) -> Environment:
    """The environment of a page's template, which escapes all text.

    Args:
        package: the package of the page, whose folder `templates` comes first; its page extends `base.html` of the
            report. None for the report itself.
    """
    own = [PackageLoader(package, "templates")] if package else []
    templates = Environment(
        loader=ChoiceLoader([*own, PackageLoader("workalike.report", "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        size=size_text,
        seconds=seconds_text,
        percent=percent_text,
        count=count_text,
        amount=amount_text,
        rate=rate_text,
        plural=plural,
        counter=short_counter,
        typeset=typeset,
        labelled=labelled,
        reason=rows.reason_text,
    )
    return templates


def labelled(svg: Markup, text: str) -> Markup:
    """A figure with a name for those who do not see it."""
    return Markup(str(svg).replace('role="img"', f'role="img" aria-label="{escape(text)}"', 1))


def typeset(text: str) -> str:
    """Formulas with typographic signs, and with places where a line may break."""
    return (
        re.sub(r"(?<= )x(?= )|^x(?= )", "\N{MULTIPLICATION SIGN}", text)
        .replace(" - ", " \N{MINUS SIGN} ")
        .replace("+", "+\N{ZERO WIDTH SPACE}")
    )


def context(pairing: Pairing, fidelity: Fidelity | None) -> dict[str, Any]:
    """The variables of the template."""
    log, workload, record = pairing.log, pairing.workload, pairing.record
    stories, hidden = rows.stories(workload, pairing, log)
    names = names_of(log)
    for story in stories:
        story.rules = withhold(story.rules, names)
    shown = rows.family_rows(fidelity) if fidelity else []
    timed = time_rows.family_times(fidelity, shown) if fidelity else []
    return {
        "workload": workload,
        "record": record,
        "fidelity": fidelity,
        "verdict": verdict_of(fidelity) if fidelity else None,
        "lines": LINES,
        "verdict_lines": lines_words(fidelity) if fidelity else [],
        "covered": coverage_words(fidelity) if fidelity and fidelity.original_is == "log" else "",
        "notes": withhold(fidelity.notes, names) if fidelity else [],
        "failed": withhold(_failures(record), names) if record else [],
        "overview": overview(workload, list(pairing.original.families.values())),
        "cards": rows.cards(fidelity) + rows.verified_cards(record) if fidelity else [],
        "stories": stories,
        "stories_hidden": hidden,
        "families": shown,
        "times": time_rows.time_rows(fidelity) if fidelity else [],
        "family_times": timed,
        "times_unknown": time_rows.reasons_of(timed),
        "causes": fidelity.causes if fidelity else [],
        "overlap": fidelity.times.overlap if fidelity else None,
        "counters": rows.counter_tables(fidelity) if fidelity else [],
        "is_fitted": bool(fidelity and any(row.fitted for row in fidelity.counters)),
        "incomparable": rows.incomparable(fidelity) if fidelity else [],
        "dumps": rows.dump_rows(pairing) if pairing.performed else [],
        "measures": rows.measures(fidelity, pairing) if fidelity else [],
        "measured_by": rows.measured_by(pairing),
        "timed_by": rows.timed_by(pairing),
        "scale": rows.scale_text(fidelity) if fidelity else "",
        "uncovered": fidelity.uncovered if fidelity else uncovered(pairing),
        "log": _log_facts(log, names),
        "color_of": color_of,
        "replica_color": REPLICA,
        **_figures(pairing, fidelity),
    }


def _failures(record: Record) -> list[str]:
    """The first calls of the run that failed."""
    return [f"rank {e.rank}: {e.operation}: {e.reason}" for e in record.errors[:MAX_FAILURES]]


def _figures(pairing: Pairing, fidelity: Fidelity | None) -> dict[str, Any]:
    from workalike.report import (
        charts,
        rank_heat,
        time_charts,
    )  # importing matplotlib is slow: only where figures are drawn

    replica = pairing.performed
    lanes = time_charts.ranks_over_time(pairing)
    return {
        "ranks_over_time": lanes,
        "bytes_of_ranks": rank_heat.bytes_of_ranks(pairing) if lanes is None else None,
        "in_progress": time_charts.in_progress(fidelity.times.overlap) if fidelity else None,
        "timeline": charts.timeline(pairing, replica=replica),
        "cumulative": charts.cumulative_bytes(pairing, replica=replica),
        "sizes": charts.dump_sizes(pairing, replica=replica),
        "histograms": charts.histograms(pairing, replica=replica),
        "error": charts.error_over_time(pairing) if replica else None,
        "bandwidth": charts.bandwidth(pairing),
        "accesses": charts.access_pictures(pairing, replica=replica),
        "figures_show": min(series.MAX_FAMILIES, len(pairing.pairs)),
        "figures_hide": max(0, len(pairing.pairs) - series.MAX_FAMILIES),
        "replica_times": replica and bool(pairing.factors.time),
    }


def _log_facts(log: Characterization | None, names: frozenset[str]) -> dict[str, Any] | None:
    """Facts of reading the log (partial modules, noise, warnings), without any name from it."""
    if log is None:
        return None
    return {
        "count": len(log.logs),
        "partial": log.partial_modules,
        "skipped": [name if name in MODULE_NAMES else "one without a name" for name in log.skipped_modules],
        "noise": sorted(log.noise, key=lambda aside: -aside.amounts.bytes),
        "warnings": withhold(log.warnings[:MAX_NOTES], names),
        "warnings_hidden": max(0, len(log.warnings) - MAX_NOTES),
    }
