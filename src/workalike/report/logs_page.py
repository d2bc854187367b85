"""The page of two compared logs: one self-contained HTML file, with the names of files, since both logs are one's own."""

from __future__ import annotations

from pathlib import Path

from workalike.compare.logs.schema import LogComparison
from workalike.compare.logs.sentences import before_text, counter_text, now_text, rest_text
from workalike.compare.logs.table import file_text, printable
from workalike.files import write_text
from workalike.report.page import environment

MOST_ROWS = 500
"""Rows of one table; the rest is counted."""
CLASSES = {"equal": "exact", "alike": "faithful", "changed": "different"}
"""Classes of the header, which give it a colour."""


def write_page(found: LogComparison, path: str | Path) -> None:
    """Write the page.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_text(path, page_text(found))


def page_text(found: LogComparison) -> str:
    """The page as HTML; all names of the logs are escaped."""
    tables = [
        ("changes", "Changes", found.compared.changes, rest_text(found.compared, MOST_ROWS)),
        ("within", "Within 5 %", found.compared.within, ""),
        ("start", "Program start", found.program_start.changes, rest_text(found.program_start, MOST_ROWS)),
    ]
    page = {
        "found": found,
        "header": CLASSES[found.word],
        "tables": [
            (name, title, changes[:MOST_ROWS], rest) for name, title, changes, rest in tables if changes
        ],
        "file_text": lambda change: file_text(change, ""),
        "counter_text": counter_text,
        "before_text": before_text,
        "now_text": now_text,
        "printable": printable,
    }
    return environment().get_template("logs.html").render(page)
