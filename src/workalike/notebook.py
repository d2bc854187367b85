"""Short tables by which notebooks show the objects of the Python interface: plain HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST_ROWS = 20
LONGEST = 80
"""Characters of a cell."""


def html_table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *notes: str,
    longest: int = LONGEST,
) -> str:
    """A caption, a row for each of the first entries, and a line for each note; what is empty is left out.

    Args:
        title: the caption.
        heads: of the columns.
        rows: a cell for each head.
        notes: lines below the table.
        longest: characters of a cell.
    """
    every = iter(rows)
    shown = list(islice(every, MOST_ROWS))
    more = sum(1 for _ in every)
    parts = [f"<caption>{_text(title)}</caption>"] if title else []
    if shown:
        body = (_row("td", row, longest) for row in shown)
        parts += [f"<thead>{_row('th', heads, longest)}</thead><tbody>", *body, "</tbody>"]
    table = f"<table>{''.join(parts)}</table>" if parts else ""
    said = [*([f"and {more:,} more"] if more else []), *notes]
    return table + "".join(f"<p>{_text(note)}</p>" for note in said if note)


def _row(tag: str, cells: Sequence[object], longest: int) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell, longest)}</{tag}>' for cell in cells)}</tr>"


def _text(value: object, most: int | None = None) -> str:
    """Printable and escaped; a long cell is cut, and what is not known is a dash."""
    text = "-" if value is None else str(value)
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    return escape(text)
