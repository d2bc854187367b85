"""The whole report, as data for text, JSON, CSV and HTML, and what is new in it for a site's notification."""

from __future__ import annotations

import hashlib
import json
import math
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workalike.columns import broken
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.fleet.report import changes, rankings
from workalike.fleet.report.paper import PaperTables, Thresholds, paper_jobs, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import Rows
from workalike.fleet.store import Store
from workalike.text import day_text, size_text

TITLES = {
    "users": "Users by wasted rank-hours, then by rank-hours in I/O",
    "applications": "Applications by wasted rank-hours, then by rank-hours in I/O",
    "rules": "Findings by wasted rank-hours of all their jobs",
    "paper_jobs": "Jobs of the paper's tables: redundant bytes, per cent of metadata, small writes",
    "growth": "Applications that grow (bytes per job, from week to week)",
    "outliers": "Jobs far slower than earlier runs of the same workload",
    "slow_targets": "Storage targets that were slow for a week",
    "unread_checkpoints": "Checkpoints that no later log reads (upper bound)",
    "slowest_calls": "The slowest single calls",
    "coverage": "Coverage by day: share of the scheduler's jobs, users and node-hours with a log",
    "findings": "Findings by cost",
}
MOMENTS = ("start", "week", "day")
"""Columns in seconds since 1970."""
NUMBERED = ("job_id", "target")
"""Columns whose numbers are names."""
LONGEST_CELL = 60
"""Characters of a cell in text; a longer one ends with a mark."""
NOTIFIED = "notified.txt"
NOTIFY_LIMIT_S = 60.0
MOST_AT_ONCE = 1000
"""Findings that a command is given at once."""
MOST_LOOKED_AT = 1_000_000
MOST_FINDINGS = 1000


def whole_report(
    connection: Any, period: Period, at: Thresholds, most: int = rankings.MOST
) -> tuple[PaperTables, dict[str, Rows]]:
    """The paper's tables, and the rows of each further table, at most `most` where the number is not limited by nature."""
    return paper_tables(connection, period, at), {
        "users": rankings.ranked(connection, period, "user", most),
        "applications": rankings.ranked(connection, period, "application", most),
        "rules": rankings.rules(connection, period, most),
        "paper_jobs": paper_jobs(connection, period, at, most),
        "growth": changes.growth(connection, period, most),
        "outliers": changes.outliers(connection, period, most),
        "slow_targets": changes.slow_targets(connection, period, most),
        "unread_checkpoints": rankings.unread_checkpoints(connection, period, most),
        "slowest_calls": rankings.slowest_calls(connection, period, most),
        "coverage": rankings.coverage(connection, period),
        "findings": findings(connection, period, 0.0, max(most, MOST_FINDINGS)),
    }


def findings(connection: Any, period: Period, above_s: float, most: int = 1000) -> Rows:
    """Findings that cost more than `above_s` seconds of rank time, the dearest first; harmless ones are left out."""
    return rankings.rows(
        connection,
        f"""
        SELECT f.log_id, l.job_id, l."user", l.application, l.start, f.rule, f.version, f.severity,
            f.cost_s, f.bound_s, f.summary
        FROM finding f JOIN log l USING (log_id)
        WHERE f.answer IN ('problem', 'not-your-fault') AND f.cost_s > {float(above_s)!r} AND {period.condition("l.start")}
        ORDER BY f.cost_s DESC, f.log_id, f.rule LIMIT {int(most)}
        """,
    )


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row with values that JSON has; 64-bit keys are text."""
    out = {}
    for name, value in row.items():
        broken = isinstance(value, float) and not math.isfinite(value)
        out[name] = str(value) if name == "log_id" else None if broken else value
    return out


def cell_text(name: str, value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    if name in MOMENTS:
        return day_text(value)[:16]
    if "bytes" in name:
        return size_text(value)
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)


def table_lines(title: str, rows: Rows, width: int | None = None) -> Iterator[str]:
    """A table as text; control characters of hostile names are escaped.

    Rows that are wider than `width` become lines; None: any width.
    """
    yield ""
    yield from broken(title, width)
    if not rows:
        yield "  none"
        return
    heads = [name for name in rows[0] if name != "log_id"]
    cells = [heads, *([_printable(cell_text(name, row[name])) for name in heads] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    if width is not None and sum(widths) + 2 * len(widths) > width:
        for row in cells[1:]:
            yield from _row_lines(heads, row, width)
        return
    for row in cells:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _row_lines(heads: list[str], row: list[str], width: int) -> Iterator[str]:
    """A row as its first cell on a line, and a line for each other one."""
    yield from broken(f"  {row[0]}", width)
    longest = max(map(len, heads[1:]), default=0)
    for name, text in zip(heads[1:], row[1:], strict=True):
        yield from broken(f"    {name:<{longest}}  {text}", width)


def _printable(text: str) -> str:
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= LONGEST_CELL else f"{shown[: LONGEST_CELL - 1]}…"


def html_page(tables: PaperTables, more: dict[str, Rows], period: Period) -> str:
    """The report as one HTML page without script or any other file."""
    from workalike.report.page import environment  # the report and its libraries: only where a page is made

    paper = [
        {"metric": m.title, "thresholds": m.thresholds, "jobs analyzed": m.total, "jobs": m.jobs, "users": m.users,
         "largest": m.largest_text} for m in tables.metrics
    ]  # fmt: skip
    return (
        environment("workalike.fleet.report")
        .get_template("fleet.html")
        .render(
            period=period.text(),
            paper=_page_table("metrics", "Metrics of the Cray XE6 paper", paper),
            overlaps=[o.text() for o in tables.overlaps if o.both],
            tables=[_page_table(name, TITLES[name], rows) for name, rows in more.items()],
        )
    )


@dataclass(frozen=True)
class PageTable:
    """A table of the page; a head is its text and the class of its column."""

    name: str
    title: str
    heads: list[tuple[str, str]]
    rows: list[list[str]]


def _page_table(name: str, title: str, rows: Rows) -> PageTable:
    columns = [column for column in rows[0] if column != "log_id"] if rows else []
    return PageTable(
        name,
        title,
        [(column.replace("_", " "), _class_of(column, rows)) for column in columns],
        [[cell_text(column, row[column]) for column in columns] for row in rows],
    )


def _class_of(column: str, rows: Rows) -> str:
    """Quantities are aligned by their last digits; times and rules stay on one line."""
    if column in (*MOMENTS, "rule"):
        return "name"
    kinds = {type(row[column]) for row in rows} - {type(None)}
    return "n" if kinds and kinds <= {int, float} and column not in NUMBERED else ""


def notify(store: Store, connection: Any, period: Period, command: str, above_s: float) -> int:
    """Hand findings above a cost (seconds of rank time) to a command, as JSON on its stdin, each finding once.

    At most `MOST_AT_ONCE` are handed over, the dearest first; the others the next time. What was handed over is noted
    after the command succeeded, so a failure is tried again. Returns their number.

    Raises:
        WorkalikeError: RUN_FAILED where the command fails, USAGE where it is not a command.
    """
    with store.locked():
        noted = store.folder / NOTIFIED
        known = set(read_text(noted, ErrorKind.BAD_FILE).split()) if noted.exists() else set()
        new: dict[str, dict[str, Any]] = {}
        for row in findings(connection, period, above_s, most=MOST_LOOKED_AT):
            mark = hashlib.sha256(f"{row['log_id']} {row['rule']} {row['version']}".encode()).hexdigest()[:20]
            if mark not in known and len(new) < MOST_AT_ONCE:
                new[mark] = plain(row)
        if not new:
            return 0
        _hand_over(command, json.dumps({"findings": list(new.values())}))
        write_text(noted, "\n".join(sorted(known | set(new))) + "\n")
    return len(new)


def _hand_over(command: str, text: str) -> None:
    try:
        words = shlex.split(command)
        done = subprocess.run(words, input=text.encode(), timeout=NOTIFY_LIMIT_S, check=False)
    except (ValueError, IndexError) as error:
        raise WorkalikeError(
            ErrorKind.USAGE, "--notify is not a command", hint="quote it as in a shell"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED, f"--notify: {error}", hint="it is tried again next time"
        ) from error
    if done.returncode:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"--notify ended with code {done.returncode}",
            hint="it is tried again next time",
        )
