"""What cannot be true in a log: counters that overflowed, times outside the run, impossible jobs.

A log is untrusted input. A value that cannot be true counts as not measured, the rest of the record is used.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workalike.facts.records import FloatArray, IntArray

MOST_BYTES = 2**50
"""Of one record, and of one operation (the engine's limit): a pebibyte in one file."""
MOST_OPERATIONS = 2**36
MOST_EXTENT = 2**56
MOST_ELSE = 2**62
LONGEST_RUN_S = 1e8
"""Three years."""

_FREE = frozenset({"RENAMED_FROM"})  # a record id, any 64 bits
_OPERATIONS = ("READS", "WRITES", "OPENS", "SEEKS", "STATS", "SYNCS", "FLUSHES", "WAITS", "SELECTS")


def bounds_of(names: tuple[str, ...]) -> IntArray:
    """The largest value of each counter that can be true, int64[C]."""
    return np.array([_bound(name) for name in names], dtype=np.int64)


def _bound(name: str) -> int:
    if name in _FREE:
        return 2**63 - 1
    if name.startswith("MAX_BYTE_"):
        return MOST_EXTENT
    if name.startswith("BYTES_") or name.endswith("_ACCESS"):
        return MOST_BYTES
    if name.endswith(_OPERATIONS) or name.endswith("_COUNT") or name.startswith("SIZE_"):
        return MOST_OPERATIONS
    return MOST_ELSE


def plausible(counters: IntArray, names: tuple[str, ...]) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Counters with impossible values made -1 (not measured), and which records' bytes were among them.

    Negative bytes are known from calls of more than 2 GiB, whose size overflowed (docs/reference/darshan-meaning.md#known-errors).
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


def plausible_stamps(stamps: FloatArray, latest: float) -> FloatArray:
    """The timestamps that can be true: finite, positive (0 means "never") and not after `latest`."""
    kept: FloatArray = stamps[np.isfinite(stamps) & (stamps > 0) & (stamps <= latest)]
    return kept


def latest_stamp(run_time: float) -> float:
    """Up to when a timestamp is plausible: clocks of ranks differ, and old logs count whole seconds."""
    return min(10 * run_time + 60, LONGEST_RUN_S)
