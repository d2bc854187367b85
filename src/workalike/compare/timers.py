"""I/O time: seconds inside calls, added over ranks, by the same timers on both sides.

In a log they are F_READ_TIME, F_WRITE_TIME and F_META_TIME of the records (docs/reference/darshan-meaning.md#times); a
reduced record holds the sum over its ranks. The engine times its own calls by kind, and an fsync is a write in both.
A timer that was not measured is negative. All times are rank-seconds: eight ranks that wait one second in a call spend eight.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workalike.compare.record_times import RecordTimes
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import FloatArray
from workalike.record.run_record import RecordDump
from workalike.workload.model import Direction

READ, WRITE, META = "READ", "WRITE", "META"
TIMERS = {READ: "F_READ_TIME", WRITE: "F_WRITE_TIME", META: "F_META_TIME"}
WAIT = "F_WAIT_TIME"
OF_DIRECTION = {Direction.READ: READ, Direction.WRITE: WRITE}
FILE_MODULE = {"H5D": "H5F", "PNETCDF_VAR": "PNETCDF_FILE"}
"""The module that times the opens and closes of the files whose datasets or variables a module counts."""
KINDS = {
    READ: ("read",),
    WRITE: ("write", "flush", "fsync"),
    META: ("open", "close", "stat", "seek"),
}
"""The engine's kinds of calls by the timer in which Darshan counts them."""

Timers = dict[str, float]
"""Rank-seconds by timer: READ, WRITE, META. One that was not measured is missing."""


def add(into: Timers, more: Mapping[str, float]) -> None:
    """Add rank-seconds to others."""
    for name, seconds in more.items():
        into[name] = into.get(name, 0.0) + seconds


def timers_of(records: RecordTimes, run_time: float) -> Timers:
    """Rank-seconds of some records. A timer that is negative in all of them was not measured."""
    out: Timers = {}
    for name, counter in TIMERS.items():
        if records.has(counter) and (~(records.raw(counter) < 0)).any():
            out[name] = float(_bounded(records, counter, run_time).sum())
    if records.has(WAIT):  # PnetCDF moves the data of nonblocking calls in the wait
        out[META] = out.get(META, 0.0) + float(_bounded(records, WAIT, run_time).sum())
    return out


def _longest(records: RecordTimes, run_time: float) -> FloatArray:
    """float64[R], the longest time that the ranks of a record can have spent in calls."""
    longest: FloatArray = latest_stamp(run_time) * records.members.astype(np.float64)
    return longest


def _bounded(records: RecordTimes, counter: str, run_time: float) -> FloatArray:
    """float64[R], a timer; 0 where it was not measured or cannot be true."""
    column = records.seconds(counter)
    return np.where(column <= _longest(records, run_time), column, 0.0)


def impossible_timers(records: RecordTimes, run_time: float) -> int:
    """How many timers cannot be true: no number, or far longer than the run of their ranks. They count as 0.

    Clocks that jump, and damage, leave such values.
    """
    longest = _longest(records, run_time)
    columns = [records.raw(counter) for counter in TIMERS.values() if records.has(counter)]
    return sum(int((~np.isfinite(column) | (column > longest)).sum()) for column in columns)


def beyond_windows(records: RecordTimes, run_time: float) -> float:
    """Rank-seconds of timers beyond the windows of their records' timestamps, from the first call to the last.

    Calls without timestamps are outside them: stat, fsync, and an open on one rank before the others'.
    """
    first, last = records.first(), records.last()
    window = np.where(
        np.isfinite(first) & (last > first), last - np.where(np.isfinite(first), first, 0.0), 0.0
    )
    inside = np.sum([_bounded(records, counter, run_time) for counter in TIMERS.values()], axis=0)
    return float(np.maximum(inside - window * records.members, 0.0).sum())


def timers_of_dump(dump: RecordDump) -> Timers:
    """Rank-seconds that the engine spent in the calls of a dump; empty where nothing was timed."""
    if not any(times.total_s for times in dump.kinds.values()):
        return {}
    return {
        timer: sum(dump.kinds[kind].total_s for kind in kinds if kind in dump.kinds)
        for timer, kinds in KINDS.items()
    }


def at_level(by_module: Mapping[str, Timers], module: str) -> Timers:
    """The timers of a level: those of its module, and of the module that times its files' opens and closes."""
    out = dict(by_module.get(module, {}))
    if out and FILE_MODULE.get(module) in by_module:
        file = by_module[FILE_MODULE[module]]
        if META in file:
            out[META] = out.get(META, 0.0) + file[META]
        else:  # old versions do not time the file's open and close: neither side's count then
            out.pop(META, None)
    return out
