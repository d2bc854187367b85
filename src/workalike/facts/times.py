"""When a file was open, read and written, by timestamps that may be missing or impossible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from workalike.facts.counters import collective_of, kind_of, operation_names, operations_of
from workalike.facts.plausible import latest_stamp, plausible_stamps
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.words import Direction, Level

_FILE_OF = {Level.H5D: ("H5F",), Level.PNETCDF: ("PNETCDF_FILE",)}
"""Modules of a library's files, beside that of its datasets."""


@dataclass(frozen=True)
class Interval:
    """A time span, in seconds since the job's start."""

    start: float
    end: float

    def overlaps(self, other: Interval) -> bool:
        return self.start < other.end and other.start < self.end


def _stamp(facts: ModuleFacts, name: str, largest: bool, limit: float) -> float | None:
    """The smallest or `largest` plausible timestamp of the records; None without one."""
    if not facts.has(name):
        return None
    if len(facts.fcounters) == 1:  # a log may have thousands of files of one record
        return stamp if 0 < (stamp := facts.of_first(name)) <= limit else None
    column = facts.fcolumn(name)
    column = plausible_stamps(column, limit)
    if not len(column):
        return None
    return float(column.max() if largest else column.min())


@dataclass(frozen=True)
class Accesses:
    """The reads or writes of one file.

    `interval` is from the first operation's start to the last one's end, `seconds` the time of all ranks together
    inside their calls. `starts` and `ends` have the first start and the last end of each rank that made them; None for a
    record that stands for several ranks. `contradictory`: the last operation ended before the first one began, or ranks that made collective calls
    alone never did so at the same time.
    """

    interval: Interval
    seconds: float
    ends: dict[int, float] | None
    contradictory: bool
    starts: dict[int, float] | None = field(default=None, compare=False)


def accesses_of(file: FileFacts, level: Level, direction: Direction, run_time: float) -> Accesses | None:
    """The reads or writes of a file at the level or, where that has no times, below; None where no module has them."""
    found = _timed_module(file, level, direction, run_time)
    if found is None:
        return None
    facts, start, end = found
    seconds = float(seconds_of(facts, (f"F_{kind_of(direction)}_TIME",)).sum())
    interval = Interval(start, max(start, end))
    if (facts.ranks < 0).any():
        return Accesses(interval, seconds, None, end < start)
    starts, ends = _of_ranks(facts, direction, interval)
    together = collective_of(facts, direction) == operations_of(facts, direction)
    apart = together and bool(ends) and max(starts.values()) > min(ends.values())
    return Accesses(interval, seconds, ends, end < start or apart, starts)


def _of_ranks(
    facts: ModuleFacts, direction: Direction, interval: Interval
) -> tuple[dict[int, float], dict[int, float]]:
    """(first start, last end) of each rank with operations; a time that cannot be true is that of all ranks."""
    kind = kind_of(direction)
    calls = np.zeros(len(facts.ranks), dtype=np.int64)
    for name in operation_names(facts.module, direction):
        calls += facts.column(name).clip(0)
    starts: dict[int, float] = {}
    ends: dict[int, float] = {}
    columns = (facts.fcolumn(f"F_{kind}_{edge}_TIMESTAMP") for edge in ("START", "END"))
    for rank, made, first, last in zip(
        facts.ranks.tolist(), calls.tolist(), *(c.tolist() for c in columns), strict=True
    ):
        if made > 0:
            first = first if interval.start <= first <= interval.end else interval.start
            last = last if interval.start <= last <= interval.end else interval.end
            starts[rank] = min(starts.get(rank, first), first)
            ends[rank] = max(ends.get(rank, last), last)
    return starts, ends


def access_interval(file: FileFacts, level: Level, direction: Direction, run_time: float) -> Interval | None:
    """From the first to the last operation of one direction; None where no module has the times."""
    found = _timed_module(file, level, direction, run_time)
    return Interval(found[1], max(found[1], found[2])) if found is not None else None


def _timed_module(
    file: FileFacts, level: Level, direction: Direction, run_time: float
) -> tuple[ModuleFacts, float, float] | None:
    """The module that has times of a direction, and its first and last timestamp."""
    limit = latest_stamp(run_time)
    kind = kind_of(direction)
    for name in dict.fromkeys((MODULE_OF_LEVEL[level], "MPI-IO", "POSIX", "STDIO")):
        facts = file.modules.get(name)
        if facts is None:
            continue
        start = _stamp(facts, f"F_{kind}_START_TIMESTAMP", False, limit)
        end = _stamp(facts, f"F_{kind}_END_TIMESTAMP", True, limit)
        if start is not None and end is not None:
            return facts, start, end
    return None


def seconds_of(facts: ModuleFacts, timers: Sequence[str]) -> FloatArray:
    """float64[records], the sum of some timers in seconds; impossible values count as 0."""
    total = np.zeros(len(facts.ranks))
    for name in timers:
        column = facts.fcolumn(name)
        total += np.where(np.isfinite(column), column, 0.0).clip(0, THRESHOLDS.compute_most)
    return total


def metadata_seconds(file: FileFacts, level: Level) -> float | None:
    """Seconds of all ranks together in calls that move no data, at the level; None where its modules do not tell."""
    names = [MODULE_OF_LEVEL[level], *_FILE_OF.get(level, ())]
    found = [file.modules[name] for name in names if name in file.modules]
    timed = [f for f in found if f.has("F_META_TIME") and not (f.fcolumn("F_META_TIME") == -1).any()]
    return sum(float(seconds_of(facts, ("F_META_TIME",)).sum()) for facts in timed) if timed else None


def open_interval(file: FileFacts, level: Level, run_time: float) -> Interval | None:
    """From the first open to the last close, at the level or, where that has no times, at another; None without any."""
    limit = latest_stamp(run_time)
    names = [MODULE_OF_LEVEL[level], "H5F", "PNETCDF_FILE", "MPI-IO", "POSIX", "STDIO"]
    if level is Level.H5D:
        names.insert(0, "H5F")  # opening a dataset is not opening the file
    for name in dict.fromkeys(names):
        facts = file.modules.get(name)
        if facts is None:
            continue
        start = _stamp(facts, "F_OPEN_START_TIMESTAMP", False, limit)
        end = _stamp(facts, "F_CLOSE_END_TIMESTAMP", True, limit)
        if start is not None and end is not None and end >= start:
            return Interval(start, end)
    return None


def closed_interval(file: FileFacts, level: Level, run_time: float) -> Interval | None:
    """From the first close to the last open, at the level; None where the file was not opened again after it."""
    limit = latest_stamp(run_time)
    facts = file.modules.get(MODULE_OF_LEVEL[level])
    if facts is None:
        return None
    start = _stamp(facts, "F_CLOSE_START_TIMESTAMP", False, limit)
    end = _stamp(facts, "F_OPEN_END_TIMESTAMP", True, limit)
    return Interval(start, end) if start is not None and end is not None and start < end else None


def whole_interval(
    file: FileFacts, level: Level, run_time: float, opened: Interval | None = None
) -> Interval:
    """The span of the file's open, close and accesses, as far as they are known; else the whole run.

    `opened` is what `open_interval` said, where it is known already.
    """
    known = [
        i
        for i in (
            opened or open_interval(file, level, run_time),
            access_interval(file, level, Direction.READ, run_time),
            access_interval(file, level, Direction.WRITE, run_time),
        )
        if i is not None
    ]
    if not known:
        return Interval(0.0, run_time)
    return Interval(min(i.start for i in known), max(i.end for i in known))
