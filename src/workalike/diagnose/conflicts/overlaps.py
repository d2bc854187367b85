"""Pairs of accesses of two ranks that touch the same byte, at least one of them a write."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workalike.diagnose.conflicts.events import Accesses
from workalike.facts.records import BoolArray, IntArray

MOST_PAIRS = 100_000


def overlapping(accesses: Accesses) -> Iterator[tuple[int, int]]:
    """Index pairs of overlapping accesses, the one that begins earlier in the file first.

    Empty accesses overlap nothing. In the order of offsets, an access overlaps those after it that begin before it
    ends: a contiguous range. So the time is that of a sort, and of the pairs that are asked for.
    """
    rows = np.flatnonzero(accesses["end"] > accesses["offset"])
    rows = rows[np.lexsort((accesses["offset"][rows], accesses["file"][rows]))]
    if not len(rows):
        return
    rank, write = accesses["rank"][rows], accesses["write"][rows]
    ends = _range_ends(*(accesses[name][rows] for name in ("file", "offset", "end")))
    writes = np.flatnonzero(write)
    for row in np.flatnonzero(_has_pair(rank, write, ends)).tolist():
        if write[row]:
            others = np.arange(row + 1, ends[row])
        else:  # of a read, only the writes
            others = writes[np.searchsorted(writes, row) : np.searchsorted(writes, ends[row])]
        for other in others[rank[others] != rank[row]].tolist():
            yield int(rows[row]), int(rows[other])


def _range_ends(file: IntArray, start: IntArray, end: IntArray) -> IntArray:
    """For each access the place of the first one after it that begins at its end or later, or is of another file."""
    values, places = np.unique(np.concatenate([start, end]), return_inverse=True)
    starts, ends = places.reshape(-1)[: len(start)], places.reshape(-1)[len(start) :]
    number = np.cumsum(np.concatenate([[False], file[1:] != file[:-1]])) * (len(values) + 1)
    return np.asarray(np.searchsorted(number + starts, number + ends), dtype=np.int64)


def _has_pair(rank: IntArray, write: BoolArray, ends: IntArray) -> BoolArray:
    """Which accesses overlap one after them of another rank, where one of the two writes."""
    rows = np.arange(len(rank))
    out = np.asarray(write & (_next_of_another_rank(rank) < ends))
    places = np.flatnonzero(write)
    if not len(places):
        return out
    of_write = np.append(_next_of_another_rank(rank[places]), len(places))
    writes = np.append(places, len(rank))  # its last one stands for "none"
    first = np.searchsorted(places, rows, side="right")
    same = rank[np.minimum(writes[first], len(rank) - 1)] == rank
    wanted = np.where(same, of_write[first], first)
    return np.asarray(out | (writes[wanted] < ends))


def _next_of_another_rank(rank: IntArray) -> IntArray:
    """For each access the place of the next one of another rank, or the number of accesses."""
    changes = np.append(np.flatnonzero(rank[1:] != rank[:-1]) + 1, len(rank))
    return np.asarray(changes[np.searchsorted(changes, np.arange(len(rank)), side="right")], dtype=np.int64)
