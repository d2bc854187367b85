"""Tables of common values (sizes, strides): pairs of a value and its count, whatever their order in a record.

A record keeps four values. What it does not list may have occurred as often as the least of the four; so each count is an
interval, and two counts are equal where their intervals meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from workalike.facts.columns import RecordColumns
from workalike.facts.counters import operation_names
from workalike.facts.records import BoolArray, IntArray
from workalike.workload.words import Direction

PLACES = range(1, 5)
DIMENSIONS = tuple(f"{what}_D{number}" for what in ("LENGTH", "STRIDE") for number in range(1, 6))
MOST = 2**60
"""Sums of untrusted counts are cut off here."""


@dataclass(frozen=True)
class PairTable:
    """The common values of a module's N files.

    `file` int64[P] is the row of the file of each pair, `keys` int64[P, K] its value: a size, a stride, or a size with its
    lengths and strides by dimension. It occurred `low` to `high` times (int64[P]). A value that a file does not list
    occurred at most `absent` times (int64[N]). Of the `calls` int64[N] of a file, those of `listed` int64[N] have such a
    value. `reduced` bool[N] marks files of reduced records, which keep other values than those of single ranks do.
    """

    module: str
    name: str
    file: IntArray
    keys: IntArray
    low: IntArray
    high: IntArray
    absent: IntArray
    calls: IntArray
    listed: IntArray
    reduced: BoolArray

    @property
    def loose(self) -> IntArray:
        """int64[N], the calls of a file that belong to no listed value."""
        left: IntArray = np.maximum(self.calls - self.listed, 0)
        return left


def tables_of(records: RecordColumns, files: int) -> list[PairTable]:
    """The tables of a module, none where it has no common values; `files` is the number of the job's files."""
    if "ACCESS1_ACCESS" not in records.counter_names or not len(records):
        return []
    out = [_table(records, "ACCESS", files)]
    if "STRIDE1_STRIDE" in records.counter_names:
        out.append(_table(records, "STRIDE", files))
    return out


@cache
def _columns(names: tuple[str, ...], table: str, place: int) -> tuple[int, ...]:
    """The columns of a value in its place: the value itself, then lengths and strides where the module has them."""
    first = names.index(f"{table}{place}_{table}")
    more = [names.index(name) for part in DIMENSIONS if (name := f"{table}{place}_{part}") in names]
    return (first, *more)


def _table(records: RecordColumns, table: str, files: int) -> PairTable:
    names, counters = records.counter_names, records.counters
    keys = np.stack([counters[:, list(_columns(names, table, place))] for place in PLACES], axis=1)
    counts = np.stack([records.column(f"{table}{place}_COUNT") for place in PLACES], axis=1)
    full = (counts > 0).all(axis=1)
    least = np.where(full, np.minimum(counts.min(axis=1), MOST), 0)
    kept = (counts > 0) & (keys[:, :, 0] >= 0)
    rows, _ = np.nonzero(kept)
    absent = np.zeros(files, dtype=np.int64)
    np.add.at(absent, records.file, least)
    file, values, sums = _grouped(
        records.file[rows], keys[kept], np.stack([np.minimum(counts[kept], MOST), least[rows]], axis=1)
    )
    low = np.minimum(sums[:, 0], MOST)
    high = low + np.maximum(absent[file] - sums[:, 1], 0)
    reduced = np.zeros(files, dtype=bool)
    reduced[records.file[records.ranks < 0]] = True
    listed = np.zeros(files, dtype=np.int64)
    np.add.at(listed, file, low)
    calls = _calls(records, files)
    return PairTable(records.module, table, file, values, low, high, absent, calls, listed, reduced)


def _calls(records: RecordColumns, files: int) -> IntArray:
    """int64[files], reads and writes."""
    calls = np.zeros(files, dtype=np.int64)
    for direction in Direction:
        for name in operation_names(records.module, direction):
            np.add.at(calls, records.file, np.clip(records.column(name), 0, MOST))
    return calls


def _grouped(file: IntArray, keys: IntArray, amounts: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """(file, key, sums of the amounts) of each distinct pair, sorted."""
    order, first = groups(file, keys)
    if not len(order):
        return file, keys, amounts
    return file[order][first], keys[order][first], np.add.reduceat(amounts[order], first, axis=0)


def groups(file: IntArray, keys: IntArray) -> tuple[IntArray, IntArray]:
    """(an order of the pairs by file and key, the place in it at which each distinct pair begins)."""
    columns = [*(keys[:, column] for column in reversed(range(keys.shape[1]))), file]
    order = np.lexsort(columns).astype(np.int64)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    return order, np.flatnonzero(new).astype(np.int64)
