"""Rows of the file table for files with one record in POSIX, in STDIO, or in both, by whole columns.

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
    """F files whose data moved at one level; `file` int64[F] are their rows, ascending.

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
    """The files of the job's only log that nothing but POSIX and STDIO saw, each of them in one record at most.

    Files of which both moved data are left out: they have two rows in the table.
    """
    files = len(facts)
    if any(len(records) and (records.members >= 0).any() for records in facts.modules.values()):
        return []
    simple = np.ones(files, dtype=bool)
    record = {module: np.full(files, -1, dtype=np.int64) for module in MODULES}
    moved = {module: np.zeros(files, dtype=bool) for module in MODULES}
    for module, table in facts.modules.items():
        seen = np.bincount(table.file, minlength=files)
        simple &= seen <= (1 if module in MODULES else 0)
        if module in MODULES:
            record[module][table.file] = np.arange(len(table))
            moving = (table.column("BYTES_READ") > 0) | (table.column("BYTES_WRITTEN") > 0)
            moved[module][table.file[moving]] = True
    by_stdio = moved["STDIO"] | (record["POSIX"] < 0)
    known = (record["POSIX"] >= 0) | (record["STDIO"] >= 0)
    simple &= known & ~(moved["POSIX"] & moved["STDIO"])
    out = []
    for module, rows in (("POSIX", simple & ~by_stdio), ("STDIO", simple & by_stdio)):
        if rows.any():
            out.append(_of_module(facts, module, np.flatnonzero(rows), record))
    return out


def _of_module(facts: Facts, module: str, file: IntArray, record: dict[str, IntArray]) -> SingleRecords:
    level, interface = MODULES[module]
    table, rows = facts.modules[module], record[module][file]
    ranks = table.ranks[rows]
    alone = (ranks >= 0) | (facts.nprocs == 1)
    written, read = (np.maximum(table.column(f"BYTES_{d}")[rows], 0) for d in ("WRITTEN", "READ"))
    writes, reads = (np.maximum(table.column(name)[rows], 0) for name in ("WRITES", "READS"))
    spans = [
        _first_known(facts, file, record, module, f"F_{first}_TIMESTAMP", f"F_{last}_TIMESTAMP")
        for first, last in (
            ("OPEN_START", "CLOSE_END"),
            ("READ_START", "READ_END"),
            ("WRITE_START", "WRITE_END"),
        )
    ]
    start = np.fmin.reduce([span[0] for span in spans])
    end = np.fmax.reduce([span[1] for span in spans])
    unknown = np.isnan(start)
    return SingleRecords(
        level,
        interface,
        file,
        np.where(alone, 1, facts.nprocs),
        np.where(alone, np.maximum(ranks, 0), -1),
        written,
        read,
        np.where(written > 0, writes, 0),
        np.where(read > 0, reads, 0),
        spans[0][0],
        spans[0][1],
        np.where(unknown, 0.0, start),
        np.where(unknown, facts.run_time, end),
    )


def _first_known(
    facts: Facts, file: IntArray, record: dict[str, IntArray], module: str, first: str, last: str
) -> FloatArray:
    """float64[2, F], two timestamps by the module or, where it has none, by the other one.

    A file whose last close is before its first open has neither; an access then ends where it starts.
    """
    limit = latest_stamp(facts.run_time)
    out = np.full((2, len(file)), np.nan)
    for name in (module, *(other for other in MODULES if other != module)):
        missing = np.flatnonzero(np.isnan(out[0]) & (record[name][file] >= 0))
        if len(missing):
            found = _span(facts.modules[name], record[name][file[missing]], first, last, limit)
            if first.startswith("F_OPEN"):
                found[:, found[1] < found[0]] = np.nan
            else:
                found[1] = np.maximum(found[0], found[1])
            out[:, missing] = found
    return out


def _span(table: RecordColumns, rows: IntArray, first: str, last: str, limit: float) -> FloatArray:
    """float64[2, F], two timestamps; NaN for both where one of them is missing or cannot be true."""
    if first not in table.fcounter_names or last not in table.fcounter_names:
        return np.full((2, len(rows)), np.nan)
    places = [table.fcounter_names.index(name) for name in (first, last)]
    stamps = table.fcounters[rows][:, places].T.astype(np.float64)
    possible = ((stamps > 0) & (stamps <= limit)).all(axis=0)
    return np.where(possible, stamps, np.nan)
