"""Which values of a log are plausible: counters overflow, and times may lie outside the run.

A log is untrusted input. A value that cannot be true counts as not measured; the rest of the record is used.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from workalike.facts.records import FloatArray, IntArray
from workalike.facts.thresholds import THRESHOLDS

_FREE = frozenset({"RENAMED_FROM"})  # a record id, any 64 bits
_OPERATIONS = ("READS", "WRITES", "OPENS", "SEEKS", "STATS", "MMAPS", "SYNCS", "FLUSHES", "WAITS", "SELECTS")
_AMOUNTS = (*_OPERATIONS, "RENAME_SOURCES")
ALWAYS_MEASURED = frozenset({"OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"})
"""Counters that every version of every instrument has measured."""


@cache
def bounds_of(names: tuple[str, ...]) -> IntArray:
    """int64[C], the largest plausible value of each counter; not to be changed."""
    return np.array([_bound(name) for name in names], dtype=np.int64)


def _bound(name: str) -> int:
    if name in _FREE:
        return 2**63 - 1
    if name.startswith("MAX_BYTE_"):
        return THRESHOLDS.plausible_extent
    if name.startswith("BYTES_") or name.endswith("_ACCESS"):
        return THRESHOLDS.plausible_bytes
    if name.endswith(_OPERATIONS) or name.endswith("_COUNT") or name.startswith("SIZE_"):
        return THRESHOLDS.plausible_operations
    return THRESHOLDS.plausible_else


def plausible(counters: IntArray, names: tuple[str, ...]) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """(counters int64[R, C] with -1, "not measured", for impossible values; bool[R], whose bytes were impossible).

    Calls of more than 2 GiB whose size overflowed give negative bytes (docs/reference/darshan-meaning.md#known-errors).
    """
    wrong = (counters < -1) | (counters > bounds_of(names))
    for name in _FREE & set(names):
        wrong[:, names.index(name)] = False
    doubted: npt.NDArray[np.bool_] = np.zeros(len(counters), dtype=bool)
    if not wrong.any():
        return counters, doubted
    for name in ("BYTES_READ", "BYTES_WRITTEN"):
        if name in names:
            doubted |= wrong[:, names.index(name)]
    return np.where(wrong, -1, counters), doubted


def unknown_rows(before: IntArray, after: IntArray, names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """bool[R], the records of which a number of calls or bytes is not measured or impossible.

    Args:
        before: int64[R, C], counters as the log has them.
        after: those of `plausible`.
        names: of the counters. One that is -1 in all records is not measured by the instrument's version.
    """
    amounts = [k for k, name in enumerate(names) if name.startswith("BYTES_") or name.endswith(_AMOUNTS)]
    lacks = after[:, amounts] < 0
    never = (before[:, amounts] == -1).all(axis=0)
    needed = np.array([names[k] in ALWAYS_MEASURED for k in amounts], dtype=bool)
    out: npt.NDArray[np.bool_] = (lacks & (~never | needed)).any(axis=1)
    return out


def plausible_stamps(stamps: FloatArray, latest: float) -> FloatArray:
    """The plausible timestamps: finite, positive (0 means "never") and not after `latest` seconds."""
    kept: FloatArray = stamps[np.isfinite(stamps) & (stamps > 0) & (stamps <= latest)]
    return kept


def impossible_times(fcounters: FloatArray, names: tuple[str, ...], latest: float) -> bool:
    """Whether any timer is negative, or any timestamp is that or after `latest` seconds; the reader states NaN.

    -1 stands for a value that the log's version does not have. A timer may be a little below 0.
    """
    for place, name in enumerate(names):
        if not name.endswith(("_TIME", "_TIMESTAMP")) or name.startswith("F_VARIANCE"):
            continue
        column = fcounters[:, place]
        most = latest if name.endswith("_TIMESTAMP") else THRESHOLDS.compute_most
        if (
            (column < -THRESHOLDS.window_least) & (column != -1) | (column > most) & np.isfinite(column)
        ).any():
            return True
    return False


def latest_stamp(run_time: float) -> float:
    """The latest plausible timestamp, after the run's end: clocks of ranks differ, old logs count whole seconds."""
    return min(THRESHOLDS.plausible_late * run_time + THRESHOLDS.plausible_late_s, THRESHOLDS.plausible_run)
