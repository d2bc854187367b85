"""When a file was open, read and written, by timestamps that may be missing or impossible."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.facts.plausible import latest_stamp, plausible_stamps
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.workload.words import Direction, Level


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
    column = facts.fcolumn(name)
    if len(column) == 1:
        return stamp if 0 < (stamp := float(column[0])) <= limit else None
    column = plausible_stamps(column, limit)
    if not len(column):
        return None
    return float(column.max() if largest else column.min())


def access_interval(file: FileFacts, level: Level, direction: Direction, run_time: float) -> Interval | None:
    """From the first to the last operation of one direction; None where no module has the times."""
    limit = latest_stamp(run_time)
    kind = "READ" if direction is Direction.READ else "WRITE"
    for name in dict.fromkeys((MODULE_OF_LEVEL[level], "MPI-IO", "POSIX", "STDIO")):
        facts = file.modules.get(name)
        if facts is None:
            continue
        start = _stamp(facts, f"F_{kind}_START_TIMESTAMP", False, limit)
        end = _stamp(facts, f"F_{kind}_END_TIMESTAMP", True, limit)
        if start is not None and end is not None:
            return Interval(start, max(start, end))
    return None


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


def whole_interval(file: FileFacts, level: Level, run_time: float) -> Interval:
    """The span of the file's open, close and accesses, as far as they are known; else the whole run."""
    known = [
        i
        for i in (
            open_interval(file, level, run_time),
            access_interval(file, level, Direction.READ, run_time),
            access_interval(file, level, Direction.WRITE, run_time),
        )
        if i is not None
    ]
    if not known:
        return Interval(0.0, run_time)
    return Interval(min(i.start for i in known), max(i.end for i in known))
