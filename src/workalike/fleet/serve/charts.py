"""Charts as SVG of few elements: bars with a title for each, so that a screen reader reads the numbers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from workalike.text import seconds_text

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 180, 8, 24
LETTER = 5.6
"""Width of a character below or above a bar."""


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
    each_name, each_text = _spacing(names, step), _spacing(texts, step)
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
                text if value > 0 and place % each_text == 0 else "",
                middle,
                HEIGHT - 8,
                name if place % each_name == 0 else "",
            )
        )
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _spacing(labels: Sequence[str], step: float) -> int:
    """Every how many bars have a label, so that none lies on the next; the titles of bars have all."""
    longest = max(map(len, labels), default=0)
    return max(1, math.ceil((longest + 1) * LETTER / step))


@dataclass(frozen=True)
class Span:
    """Dumps of one family: `dumps` of them begin every `every_s` seconds from `first_s`; all end by `last_s`."""

    name: str
    text: str
    kind: str
    first_s: float
    last_s: float
    dumps: int
    every_s: float | None


MOST_SPANS, MOST_MARKS, ROW = 30, 200, 22


def timeline(title: str, spans: Sequence[Span], run_time: float) -> Markup:
    """A row for each family, a bar from its first access to its last, and a mark where each dump begins.

    `kind` of a span is the class of its bar: written, read or both. Nothing is drawn after the end of the job, nor a
    dump after the last access of its family.
    """
    shown = spans[:MOST_SPANS]
    tall = ROW * len(shown) + BOTTOM
    label, room = 190, WIDTH - 190 - LEFT
    end = run_time if run_time > 0 else max([0.0, *(s.last_s for s in shown)])
    scale = room / max(end, 1e-9)
    parts = [
        Markup('<svg class="chart" role="img" viewBox="0 0 {} {}"><title>{}</title>').format(
            WIDTH, tall, title
        )
    ]
    for place, span in enumerate(shown):
        top = ROW * place
        left, right = (label + scale * min(end, max(0.0, t)) for t in (span.first_s, span.last_s))
        parts.append(
            Markup(
                '<g><title>{}: {}</title><text class="row" x="{}" y="{}">{}</text>'
                '<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>'
            ).format(
                span.name,
                span.text,
                label - 6,
                top + 15,
                span.name[:32],
                span.kind,
                left,
                top + 4,
                max(1.5, right - left),
                ROW - 8,
            )
        )
        if span.every_s is not None and span.every_s > 0 and 1 < span.dumps <= MOST_MARKS:
            for number in range(span.dumps):
                moment = span.first_s + number * span.every_s
                at = label + scale * moment
                if 0 <= moment <= min(end, span.last_s):
                    parts.append(
                        Markup('<line class="dump" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>').format(
                            at, at, top + 2, top + ROW - 2
                        )
                    )
        parts.append(Markup("</g>"))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(
            Markup('<text class="name" x="{:.1f}" y="{}">{}</text>').format(
                label + share * room, tall - 8, seconds_text(share * room / scale)
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
