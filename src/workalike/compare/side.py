"""One side of a comparison: families, their dumps and counters, whatever they are made from.

An original is a log or a workload; a replica is a record or a log. All become a `Side`, so that the comparison has one
structure to deal with. Bytes are at the family's level, times in seconds since the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from workalike.compare.timers import Timers
from workalike.compare.waiting import Waiting
from workalike.darshan.bins import SIZE_BINS
from workalike.facts.counters import SUMS
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.facts.times import Interval
from workalike.predict.determined import Counters, merge
from workalike.predict.prediction import Key
from workalike.workload.model import Direction, Level, Role


@dataclass
class SideDump:
    """One dump. `open_s` is last close - first open, in seconds: what a bandwidth refers to, no time inside calls."""

    bytes_written: int
    bytes_read: int
    start_s: float
    end_s: float
    open_s: float | None = None
    bin_s: float = 0.0  # as of DumpFacts

    @property
    def moved(self) -> int:
        return self.bytes_written + self.bytes_read

    def bytes_of(self, direction: Direction) -> int:
        return self.bytes_written if direction is Direction.WRITE else self.bytes_read

    def join(self, other: SideDump) -> None:
        """Add the rest of this dump, such as what is read back."""
        self.bytes_written += other.bytes_written
        self.bytes_read += other.bytes_read
        self.start_s, self.end_s = min(self.start_s, other.start_s), max(self.end_s, other.end_s)
        if self.open_s is not None:
            self.open_s = self.end_s - self.start_s

    @property
    def bandwidth(self) -> float | None:
        """Bytes ÷ `open_s`, in bytes per second; None where the time is not known (docs/reference/terms.md#bandwidth)."""
        return self.moved / self.open_s if self.open_s and self.moved else None


def joined(dumps: Sequence[SideDump]) -> SideDump:
    """Several dumps as one; at least one is given."""
    whole = replace(dumps[0])
    for dump in dumps[1:]:
        whole.join(dump)
    return whole


@dataclass
class SideFamily:
    """A family on one side. `modules` has, by Darshan's names of modules, the counters over all files.

    `timers` has rank-seconds inside calls by module, `lates` the seconds by which each dump began after it was due.
    """

    role: Role
    number: int
    level: Level
    dumps: list[SideDump] = field(default_factory=list)
    modules: dict[str, Counters] = field(default_factory=dict)
    fitted: bool = False  # only bytes are given; the library decides its operations
    files: int = 0
    accessors: int = 0  # pairs (rank, file): an upper bound of the first accesses in one direction
    label: str = ""  # for several families shown as one
    timed_by_record: bool = False  # the dumps of a captured replica begin and end as the engine's record says
    timers: dict[str, Timers] = field(default_factory=dict)
    waiting: Waiting = field(default_factory=Waiting)  # in collective calls
    lates: list[float] = field(default_factory=list)

    @property
    def module(self) -> str:
        """The module of the family's level."""
        return MODULE_OF_LEVEL[self.level]

    @property
    def name(self) -> str:
        return self.label or f"{self.role.value} {self.number}"

    def bins(self, direction: Direction) -> list[int] | None:
        """Operations by size bin at the family's level; None where the level has no histogram (STDIO)."""
        return histogram(self.modules.get(self.module, {}), self.module, direction)


@dataclass
class Side:
    """Everything that a comparison needs to know of one side.

    `run_s` is the length of the run in seconds, `calls` the span from its first to its last I/O call. Times of a log
    have been moved back by `moved_s`, to the clock of the engine's record. `doubts` are sentences on times that cannot be
    true.
    """

    ranks: int
    families: dict[Key, SideFamily]
    instrument: str = "engine"  # which one counted: engine, darshan, or workalike (`workalike profile`)
    partial: set[str] = field(default_factory=set)  # modules that ran out of memory
    unmeasured: set[tuple[str, str]] = field(default_factory=set)  # (module, counter)
    basis: Literal["plan", "record", "log"] = "record"
    run_s: float | None = None
    calls: Interval | None = None
    moved_s: float = 0.0
    doubts: list[str] = field(default_factory=list)


def span_of(families: Iterable[SideFamily]) -> Interval | None:
    """From the start of the first dump to the end of the last; None without dumps."""
    dumps = [dump for family in families for dump in family.dumps]
    if not dumps:
        return None
    start = min(dump.start_s for dump in dumps)
    return Interval(start, max(start, *(dump.end_s for dump in dumps)))


def histogram_names(module: str, direction: Direction) -> list[str] | None:
    """The names of the ten counters of a module's size histogram; None for STDIO."""
    if module == "STDIO":
        return None
    middle = "READ" if direction is Direction.READ else "WRITE"
    return [f"SIZE_{middle}_{'' if module == 'POSIX' else 'AGG_'}{name}" for name in SIZE_BINS]


def histogram(counters: Mapping[str, int], module: str, direction: Direction) -> list[int] | None:
    names = histogram_names(module, direction)
    return None if names is None else [counters.get(name, 0) for name in names]


def sum_name(module: str, name: str) -> str:
    """The name of a sum of several counters: its formula, such as INDEP_OPENS+COLL_OPENS."""
    return "+".join(SUMS.get(module, {}).get(name, (name,)))


def add_sums(module: str, counters: Counters) -> None:
    """Add the sums of operations that are counted under several names."""
    for parts in SUMS.get(module, {}).values():
        present = [counters[part] for part in parts if part in counters]
        if present:
            counters["+".join(parts)] = sum(present)


def direction_of(counter: str) -> Direction | None:
    """The direction that a counter belongs to; None for opens, stats and the like."""
    if "READ" in counter:
        return None if "WRITE" in counter else Direction.READ
    return Direction.WRITE if "WRITE" in counter or "WRITTEN" in counter else None


def totals(families: Iterable[SideFamily], module: str) -> Counters:
    """Counters of one module over families."""
    out: Counters = {}
    for family in families:
        merge(out, family.modules.get(module, {}))
    return out
