"""Pairs of accesses of two ranks that touch the same byte, at least one of them a write."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from workalike.diagnose.conflicts.events import Accesses

MOST_PAIRS = 100_000


def overlapping(accesses: Accesses) -> Iterator[tuple[int, int]]:
    """Index pairs of overlapping accesses.

    Empty accesses overlap nothing. Of a file with no overlap between ranks no pair is looked at.
    """
    rows = np.flatnonzero(accesses["end"] > accesses["offset"])
    rows = rows[np.lexsort((accesses["offset"][rows], accesses["file"][rows]))]
    for group in _chains(accesses, rows):
        active: list[int] = []
        for row in group.tolist():
            one = accesses[row]
            active = [other for other in active if accesses["end"][other] > one["offset"]]
            for other in active:
                if accesses["rank"][other] != one["rank"] and (one["write"] or accesses["write"][other]):
                    yield other, row
            active.append(row)


def _chains(accesses: Accesses, rows: np.ndarray) -> list[np.ndarray]:
    """Runs of accesses that reach into each other, of several ranks and with a write."""
    if not len(rows):
        return []
    file, start, end = (accesses[name][rows] for name in ("file", "offset", "end"))
    new_file = np.concatenate([[True], file[1:] != file[:-1]])
    reach = end.copy()
    bounds = [*np.flatnonzero(new_file).tolist(), len(rows)]
    for first, last in itertools.pairwise(bounds):
        np.maximum.accumulate(end[first:last], out=reach[first:last])
    cut = new_file | np.concatenate([[True], start[1:] >= reach[:-1]])
    firsts = np.flatnonzero(cut)
    ranks = accesses["rank"][rows]
    several = np.minimum.reduceat(ranks, firsts) < np.maximum.reduceat(ranks, firsts)
    written = np.logical_or.reduceat(accesses["write"][rows], firsts)
    lasts = np.append(firsts[1:], len(rows))
    return [rows[firsts[at] : lasts[at]] for at in np.flatnonzero(several & written)]
