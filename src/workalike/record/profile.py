"""The profile of a run on the terminal: operations, sizes, bytes and times by family and direction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from workalike.columns import Column, table_of
from workalike.darshan.bins import BIN_ENDS
from workalike.record.run_record import Record, RecordDump
from workalike.text import count_text, plural, rate_text, seconds_text, size_text

MAX_ROWS = 20
DIRECTIONS = (
    ("write", "WRITES", "SIZE_WRITE", "bytes_written"),
    ("read", "READS", "SIZE_READ", "bytes_read"),
)
CALLS = {"write": ("write", "flush", "fsync"), "read": ("read",)}
"""The kinds of calls whose time is that of a direction."""


@dataclass(frozen=True)
class Row:
    """The dumps of one family in one direction, at the family's level.

    `inside_s` are seconds inside the calls of the direction, of all ranks together, `open_s` seconds in which a dump was
    open, `slowest_s` the longest operation's time.
    """

    family: str
    direction: str
    dumps: int
    operations: int
    bins: list[int]
    bytes: int
    inside_s: float
    open_s: float
    slowest_s: float

    @property
    def sizes(self) -> str:
        """The size bin with most operations, and their share."""
        total = sum(self.bins)
        if not total:
            return "-"
        most = max(range(len(self.bins)), key=lambda b: self.bins[b])
        ends = [size_text(end) for end in BIN_ENDS]
        if most == 0:
            words = f"to {ends[0]}"
        elif most == len(ends):
            words = f"above {ends[-1]}"
        else:
            words = f"{ends[most - 1]} - {ends[most]}"
        return f"{words} ({100 * self.bins[most] / total:.0f} %)"


def rows_of(record: Record) -> list[Row]:
    """The rows of the families in the order of the record; each has writing before reading."""
    families: dict[tuple[int, str, int], list[RecordDump]] = {}
    for dump in record.dumps:
        families.setdefault((dump.family, dump.role.value, dump.number), []).append(dump)
    return [row for key, dumps in families.items() for row in _rows(f"{key[1]} {key[2]}", dumps)]


def _rows(name: str, dumps: list[RecordDump]) -> Iterator[Row]:
    for direction, counter, sizes, moved in DIRECTIONS:
        found = [d for d in dumps if d.counter(counter) or getattr(d, moved)]
        if not found:
            continue
        yield Row(
            name,
            direction,
            len(found),
            sum(d.counter(counter) for d in found),
            [sum(column) for column in zip(*(d.bins(sizes) for d in found), strict=True)],
            sum(getattr(d, moved) for d in found),
            sum(d.kinds[kind].total_s for d in found for kind in CALLS[direction] if kind in d.kinds),
            min(sum(d.io_s for d in found), _covered(found)),
            max((d.kinds[direction].max_s for d in found if direction in d.kinds), default=0.0),
        )


def _covered(dumps: list[RecordDump]) -> float:
    """Seconds in which at least one of the dumps was in progress: dumps may overlap."""
    covered, reached = 0.0, -math.inf
    for start, end in sorted((d.start_s, d.end_s) for d in dumps):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def print_profile(record: Record, console: Console) -> None:
    """Print a line for each family and direction, without times where the backend only counts.

    A narrow terminal loses the sizes first: bandwidth and the slowest operation matter more.
    """
    rows = rows_of(record)
    shown = rows[:MAX_ROWS]
    columns = [
        Column("family", [Text(r.family) for r in shown], left=True),
        Column("", [Text(r.direction) for r in shown], left=True),
        Column("dumps", [Text(count_text(r.dumps)) for r in shown], 2),
        Column("bytes", [Text(size_text(r.bytes)) for r in shown]),
        Column("operations", [Text(count_text(r.operations)) for r in shown]),
        Column("most of them", [Text(r.sizes) for r in shown], 3),
    ]
    if not record.counts_only:
        columns += [
            Column("in calls", [Text(seconds_text(r.inside_s)) for r in shown], 1),
            Column("bandwidth", [Text(rate_text(r.bytes / r.open_s if r.open_s else None)) for r in shown]),
            Column("slowest", [Text(seconds_text(r.slowest_s)) for r in shown]),
        ]
    if shown:
        console.print(table_of("", columns, console.width))
    if len(rows) > len(shown):
        console.print(f"  and {plural(len(rows) - len(shown), 'more line')} in the record", style="dim")
    if record.compute is not None:
        between = f"{seconds_text(record.compute.min_s)} to {seconds_text(record.compute.max_s)}"
        done = f"{plural(record.compute.units, 'unit')} of level {record.compute.level} on every rank"
        console.print(f"computing between dumps: {done}, in {between}")
