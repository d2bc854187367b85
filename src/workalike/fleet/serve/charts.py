"""Charts as SVG of few elements: bars with a title for each, so that a screen reader reads the numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 180, 8, 24


def bars(title: str, names: Sequence[str], values: Sequence[float], texts: Sequence[str]) -> Markup:
    """A bar for each name; colours and fonts are those of the page's style sheet.

    Args:
        title: for screen readers.
        names: below the bars.
        values: heights, at least 0.
        texts: the values as people read them, shown above the bars.
    """
    top = max([v for v in values if v > 0], default=1.0)
    step = (WIDTH - 2 * LEFT) / max(1, len(names))
    room = HEIGHT - BOTTOM - 20
    parts = [
        Markup('<svg class="chart" role="img" viewBox="0 0 {} {}"><title>{}</title>').format(
            WIDTH, HEIGHT, title
        )
    ]
    for place, (name, value, text) in enumerate(zip(names, values, texts, strict=True)):
        tall = room * max(0.0, value) / top
        left = LEFT + place * step
        middle = left + step / 2
        parts.append(
            Markup(
                '<g><title>{}: {}</title><rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
                '<text class="value" x="{:.1f}" y="{:.1f}">{}</text><text class="name" x="{:.1f}" y="{}">{}</text></g>'
            ).format(
                name,
                text,
                left + step * 0.1,
                HEIGHT - BOTTOM - tall,
                step * 0.8,
                tall,
                middle,
                HEIGHT - BOTTOM - tall - 5,
                text if value > 0 else "",
                middle,
                HEIGHT - 8,
                name,
            )
        )
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def table_csv(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table as CSV; a field that a spreadsheet would take for a formula gets an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(heads)
    writer.writerows([[_field(value) for value in row] for row in rows])
    return out.getvalue()


def _field(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
