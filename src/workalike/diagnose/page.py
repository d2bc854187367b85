"""One self-contained HTML page: the findings, and the timeline of the job on which their families are marked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from workalike.diagnose.finding import Diagnosis, History, Severity
from workalike.diagnose.job import Job
from workalike.diagnose.numbers import numbers_text, terms_text
from workalike.diagnose.registry import all_rules
from workalike.diagnose.small_pictures import small_picture
from workalike.diagnose.text import (
    consistency_lines,
    family_text,
    history_lines,
    slowest_line,
    tried_line,
)
from workalike.facts.bytes_over_time import bytes_over_time
from workalike.facts.records import FloatArray
from workalike.files import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 200
MOST_RANKS = 256
"""Rows of ranks that are shown; with more ranks, each row has several."""
MOST_ROWS = 24
COLORS = {Severity.HIGH: "#b3261e", Severity.MEDIUM: "#d9902b", Severity.NOTE: "#9fb3c8"}


def write_page(path: Path, found: Diagnosis, job: Job) -> None:
    """Write the page.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    from workalike.report.page import environment

    high = sum(f.severity is Severity.HIGH for f in found.findings)
    medium = sum(f.severity is Severity.MEDIUM for f in found.findings)
    page: dict[str, Any] = {
        "found": found,
        "weighty": f"{high} HIGH, {medium} MEDIUM" if high + medium else "Nothing of weight",
        "pictures": _pictures(found, job),
        "small": _small_pictures(found, job),
        "tried": [f"{tried.rule}: {tried_line(tried)}" for tried in found.tried],
        "history": history_lines(found.history) if found.history else [],
        "past": _past(found.history) if found.history else "",
        "terms": terms_text,
        "numbers": numbers_text,
        "tried_line": tried_line,
        "family_text": {family.label: family_text(family) for family in found.families}.get,
        "slowest": slowest_line(found.slowest_call) if found.slowest_call else "",
        "consistency": consistency_lines(found.consistency) if found.consistency else [],
    }
    write_text(path, environment("workalike.diagnose").get_template("diagnosis.html").render(page))


def _small_pictures(found: Diagnosis, job: Job) -> dict[int, tuple[str, Markup]]:
    """Place of a finding of weight -> (title, picture), where its rule has one."""
    out = {}
    for place, finding in enumerate(found.findings[:MOST_ROWS]):
        rule = all_rules().get(finding.rule)
        if rule is None or finding.severity is Severity.NOTE:
            continue
        picture = small_picture(rule.picture, job, finding.families, f"finding-{place}")
        if picture is not None:
            out[place] = picture
    return out


def _pictures(found: Diagnosis, job: Job) -> list[tuple[str, Markup]]:
    if job.run_time <= 0 or not len(job):
        return []
    out = []
    by_rank = bytes_over_time(job.member_of, min(job.nprocs, MOST_RANKS), BINS, job.run_time)
    if by_rank is not None:
        title = (
            "Bytes of each rank over time; darker is more. Bars and lines: findings on their files and ranks. "
            "Dark rows are ranks that move more than others."
        )
        out.append((title, _heat(by_rank, found, job)))
    spans = _families_over_time(found, job)
    if spans:
        out.append(
            (
                "File families from first to last access, coloured by their worst finding. A long bar is a file that is used throughout.",
                spans,
            )
        )
    return out


def _heat(values: FloatArray, found: Diagnosis, job: Job) -> Markup:
    from workalike.report.canvas import drawing, time_unit

    unit, name = time_unit(job.run_time)
    marks = _marks(found, job)
    with drawing("ranks", 3.0 + 0.22 * len(marks)) as drawn:
        axes = drawn.axes[0]
        axes.grid(False)
        shown = np.log1p(values)
        axes.pcolormesh(
            np.linspace(0, job.run_time / unit, BINS + 1),
            np.linspace(0, job.nprocs, len(values) + 1),
            shown,
            cmap="Blues",
            rasterized=True,
        )
        step = 0.1 * job.nprocs  # the bars stand above the last rank
        for place, mark in enumerate(marks):
            height = job.nprocs + step * (place + 0.7)
            width = (mark.end - mark.start) / unit
            axes.barh(height, width, left=mark.start / unit, color=mark.color, height=0.6 * step)
            _label(axes, mark.start, mark.end, height, mark.rule, job)
            if mark.rank is not None:
                axes.axhline(mark.rank + 0.5, color=mark.color, linewidth=1)
        axes.set_yticks(np.unique(np.linspace(0, job.nprocs, 5).round().astype(int)))
        axes.set_xlim(0, job.run_time / unit)
        axes.set_ylim(0, job.nprocs + step * (len(marks) + 0.4 if marks else 0))
        axes.set_xlabel(f"time ({name})")
        axes.set_ylabel("rank")
    return drawn.svg


def _label(axes: Axes, start: float, end: float, height: float, text: str, job: Job) -> None:
    """Text beside a bar from `start` to `end` seconds, on the side where it stays within the picture."""
    from workalike.report.canvas import time_unit

    unit, _ = time_unit(job.run_time)
    late = start > 0.5 * job.run_time
    place, side = (start, "right") if late else (end, "left")
    axes.text(place / unit, height, f" {text} ", va="center", ha=side, fontsize=7.5)


@dataclass(frozen=True)
class Mark:
    """A finding of weight on the ranks' timeline: seconds from the first to the last access of its files, its rank."""

    rule: str
    color: str
    start: float
    end: float
    rank: float | None


def _marks(found: Diagnosis, job: Job) -> list[Mark]:
    """The findings of weight; one without times of its files stands over the whole run."""
    spans = {job.families[number].label: span for number, span in _spans(job).items()}
    out = []
    for finding in found.findings:
        if finding.severity is Severity.NOTE:
            continue
        known = [spans[label] for label in finding.families if label in spans] or [(0.0, job.run_time)]
        start, end = min(first for first, _ in known), max(last for _, last in known)
        rank = finding.evidence.get("rank", finding.evidence.get("slow-rank: rank"))
        out.append(Mark(finding.rule, COLORS[finding.severity], *_visible(start, end, job), rank))
    return out[:MOST_ROWS]


def _visible(start: float, end: float, job: Job) -> tuple[float, float]:
    """A bar that is wide enough to be seen, and ends with the job."""
    least = job.run_time / 400
    start = min(start, job.run_time - least)
    return start, min(job.run_time, max(end, start + least))


def _families_over_time(found: Diagnosis, job: Job) -> Markup | None:
    """A bar for each family, marked with the rules that are HIGH or MEDIUM on it."""
    from workalike.report.canvas import drawing, time_unit

    spans = _spans(job)
    if not spans:
        return None
    marks: dict[str, tuple[Severity, list[str]]] = {}
    for finding in found.findings:
        for label in finding.families:
            _, rules = marks.setdefault(label, (finding.severity, []))
            if finding.severity is not Severity.NOTE:
                rules.append(finding.rule)
    unit, name = time_unit(job.run_time)
    order = sorted(spans, key=lambda n: (-bool(marks.get(job.families[n].label, (0, []))[1]), spans[n][0]))[
        :MOST_ROWS
    ]
    with drawing("families", 0.6 + 0.28 * len(order)) as drawn:
        axes = drawn.axes[0]
        for place, number in enumerate(order):
            start, end = spans[number]
            severity, rules = marks.get(job.families[number].label, (Severity.NOTE, []))
            start, end = _visible(start, end, job)
            axes.barh(place, (end - start) / unit, left=start / unit, color=COLORS[severity], height=0.6)
            _label(axes, start, end, place, ", ".join(dict.fromkeys(rules)), job)
        axes.set_yticks(range(len(order)), [job.families[n].label for n in order])
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlim(0, job.run_time / unit)
        axes.set_xlabel(f"time ({name})")
    return drawn.svg


def _spans(job: Job) -> dict[int, tuple[float, float]]:
    """Family -> first and last access in seconds; times outside the run are left out."""
    out: dict[int, tuple[float, float]] = {}
    for name in ("POSIX", "STDIO"):
        table = job.module(name)
        if table is None:
            continue
        for kind in ("READ", "WRITE"):
            edges = [
                table.fcounters[:, table.fcounter_names.index(f"F_{kind}_{e}_TIMESTAMP")]
                for e in ("START", "END")
            ]
            start, end = (np.nan_to_num(edge) for edge in edges)
            good = (start > 0) & (end >= start) & (end <= 1.5 * job.run_time) & job.own[table.file]
            for row in np.flatnonzero(good).tolist():
                family = int(job.family[table.file[row]])
                first, last = out.get(family, (float("inf"), 0.0))
                begun = min(float(start[row]), job.run_time)
                out[family] = (min(first, begun), max(last, min(float(end[row]), job.run_time)))
    return out


def _past(history: History) -> Markup:
    """The bandwidth of earlier runs and of this one, by their starts; nothing for fewer than two."""
    from workalike.report.canvas import binary_ticks, drawing, size_axis

    known = [(m.start, m.bandwidth) for m in history.moments if m.bandwidth]
    if len(known) < 2 or not history.moments[-1].bandwidth:
        return Markup()
    days = np.array([start for start, _ in known]) / 86400
    with drawing("history", 2.2) as drawn:
        axes = drawn.axes[0]
        speeds = [speed for _, speed in known]
        axes.plot(days[:-1] - days[-1], speeds[:-1], "o", color=COLORS[Severity.NOTE], markersize=4)
        axes.plot(0, speeds[-1], "o", color=COLORS[Severity.HIGH], markersize=7)
        axes.annotate("this run  ", (0, speeds[-1]), va="center", ha="right", fontsize=8)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("days, from this run")
        axes.set_ylabel("bandwidth")
        binary_ticks(axes.yaxis, max(speeds))
        size_axis(axes.yaxis, rate=True)
    return drawn.svg
