"""Tables on the terminal, with as many columns as fit; where too few do, each row becomes a few lines.

Nothing is cut: text is broken where it does not fit, since its end may be what tells two rows apart.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import takewhile

from rich import box
from rich.table import Table
from rich.text import Text

GAP = 2  # spaces between columns
NARROW = 60
"""In less width no column is left out: a row becomes lines."""
LEAST_TEXT = 12
"""Text that would be broken into shorter pieces is not put into a column."""


@dataclass
class Column:
    """A column with its cells. Columns of the highest `rank` are left out first, those of rank 0 never."""

    head: str
    cells: list[Text]
    rank: int = 0
    left: bool = False

    @property
    def width(self) -> int:
        return max([len(self.head), *(len(cell) for cell in self.cells)])


def table_of(title: str, columns: list[Column], width: int) -> Table:
    """A table of the columns that fit into `width` characters; of all columns, in lines, where that is little."""
    shown = list(columns)
    while _width_of(shown) > width >= NARROW and any(c.rank for c in shown):
        shown.remove(max(shown, key=lambda c: c.rank))
    table = _empty(title)
    if _fits(shown, width):
        _fill(table, shown)
    else:
        _fill_with_lines(table, columns)
    return table


def broken(line: str, width: int | None) -> list[str]:
    """A line of text in lines of at most `width` characters; those after the first are indented. None: any width."""
    if width is None or len(line) <= width:
        return [line]
    indent = " " * min(len(line) - len(line.lstrip()) + GAP, width // 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)


def _width_of(columns: list[Column]) -> int:
    return sum(column.width + GAP for column in columns)


def _fits(columns: list[Column], width: int) -> bool:
    """Whether the columns fit, where text may be broken, but not into small pieces, and in a narrow one not at all."""
    over = _width_of(columns) - width
    if over <= 0:
        return True
    texts = [column.width for column in columns if column.left]
    room = sum(texts) - over
    return width >= NARROW and bool(texts) and room >= sum(min(LEAST_TEXT, text) for text in texts)


def _empty(title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    table.box, table.show_edge, table.pad_edge, table.padding = (
        box.SIMPLE_HEAD,
        False,
        False,
        (0, GAP - 1, 0, 0),
    )
    return table


def _fill(table: Table, columns: list[Column]) -> None:
    for column in columns:
        table.add_column(
            column.head, justify="left" if column.left else "right", no_wrap=not column.left, overflow="fold"
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)


def _fill_with_lines(table: Table, columns: list[Column]) -> None:
    """A row as its first texts on a line, and a line for each other column."""
    table.show_header = False
    table.add_column(overflow="fold")
    names = list(takewhile(lambda column: column.left, columns)) or columns[:1]
    others = columns[len(names) :]
    head = max((len(column.head) for column in others), default=0)
    for i in range(len(columns[0].cells)):
        table.add_row(Text("  ").join(column.cells[i] for column in names))
        for column in others:
            table.add_row(Text.assemble(f"  {column.head:<{head}}  ", column.cells[i]))
