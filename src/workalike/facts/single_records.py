"""Rows of the file table for files with one record in one module, by whole columns.

A log may have a hundred thousand of them. Every value is what `file_table` finds for such a file by itself
(tests/facts/test_single_records.py compares them).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.facts.columns import Facts, RecordColumns
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import FloatArray, IntArray
from workalike.workload.words import Interface, Level

MODULES = {"POSIX": (Level.POSIX, Interface.POSIX), "STDIO": (Level.STDIO, Interface.STDIO)}


@dataclass(frozen=True)
class SingleRecords:
    """F files of one module, which saw each in one record; `file` int64[F] are their rows, ascending.

    `ranks` and `rank` are as in `FileTable`. Times are seconds, NaN where unknown.
    """

    level: Level
    interface: Interface
    file: IntArray
    ranks: IntArray
    rank: IntArray
    bytes_written: IntArray
    bytes_read: IntArray
    writes: IntArray
    reads: IntArray
    first_open: FloatArray
    last_close: FloatArray
    start: FloatArray
    end: FloatArray


def single_records(facts: Facts) -> list[SingleRecords]:
    """The files that only POSIX or only STDIO saw, each in one record of the job's only log."""
    seen = np.zeros(len(facts), dtype=np.int64)
    for records in facts.modules.values():
        seen += np.bincount(records.file, minlength=len(facts))
    out = []
    for module, (level, interface) in MODULES.items():
        table = facts.modules.get(module)
        if table is not None:
            rows = np.flatnonzero((seen[table.file] == 1) & (table.members < 0))
            if len(rows):
                out.append(_of_module(facts, table, rows, level, interface))
    return out


def _of_module(
    facts: Facts, table: RecordColumns, rows: IntArray, level: Level, interface: Interface
) -> SingleRecords:
    ranks = table.ranks[rows]
    alone = (ranks >= 0) | (facts.nprocs == 1)
    written, read = (np.maximum(table.column(f"BYTES_{d}")[rows], 0) for d in ("WRITTEN", "READ"))
    writes, reads = (np.maximum(table.column(name)[rows], 0) for name in ("WRITES", "READS"))
    limit = latest_stamp(facts.run_time)
    opened = _span(table, rows, "F_OPEN_START_TIMESTAMP", "F_CLOSE_END_TIMESTAMP", limit)
    opened[:, opened[1] < opened[0]] = np.nan
    spans = [opened]
    for kind in ("READ", "WRITE"):
        span = _span(table, rows, f"F_{kind}_START_TIMESTAMP", f"F_{kind}_END_TIMESTAMP", limit)
        spans.append(np.stack([span[0], np.maximum(span[0], span[1])]))
    start = np.fmin.reduce([span[0] for span in spans])
    end = np.fmax.reduce([span[1] for span in spans])
    unknown = np.isnan(start)
    return SingleRecords(
        level,
        interface,
        table.file[rows],
        np.where(alone, 1, facts.nprocs),
        np.where(alone, np.maximum(ranks, 0), -1),
        written,
        read,
        np.where(written > 0, writes, 0),
        np.where(read > 0, reads, 0),
        opened[0],
        opened[1],
        np.where(unknown, 0.0, start),
        np.where(unknown, facts.run_time, end),
    )


def _span(table: RecordColumns, rows: IntArray, first: str, last: str, limit: float) -> FloatArray:
    """float64[2, F], two timestamps; NaN for both where one of them is missing or cannot be true."""
    if first not in table.fcounter_names or last not in table.fcounter_names:
        return np.full((2, len(rows)), np.nan)
    places = [table.fcounter_names.index(name) for name in (first, last)]
    stamps = table.fcounters[rows][:, places].T.astype(np.float64)
    possible = ((stamps > 0) & (stamps <= limit)).all(axis=0)
    return np.where(possible, stamps, np.nan)
