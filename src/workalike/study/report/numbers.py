"""The numbers of a figure or table as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

Row = Sequence[str | float | int]


def csv_text(header: Sequence[str], rows: Iterable[Row]) -> str:
    """Rows as CSV; a text that a spreadsheet would take for a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(value) for value in header])
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return out.getvalue()


def _cell(value: str | float | int) -> str:
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else " " for c in value)
        return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not _is_number(text) else text
    return "" if isinstance(value, float) and math.isnan(value) else f"{value:.8g}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
