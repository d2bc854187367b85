"""Tables on the terminal, with as many columns as fit."""

from __future__ import annotations

from dataclasses import dataclass

from rich import box
from rich.table import Table
from rich.text import Text

GAP = 2  # spaces between columns


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
    """A table of the columns that fit into `width` characters."""
    shown = list(columns)
    while sum(c.width + GAP for c in shown) > width and any(c.rank for c in shown):
        shown.remove(max(shown, key=lambda c: c.rank))
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    table.box, table.show_edge, table.pad_edge, table.padding = (
        box.SIMPLE_HEAD,
        False,
        False,
        (0, GAP - 1, 0, 0),
    )
    for column in shown:
        # Text is broken where it does not fit, since its end may be what tells two rows apart.
        table.add_column(
            column.head, justify="left" if column.left else "right", no_wrap=not column.left, overflow="fold"
        )
    for cells in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*cells)
    return table
