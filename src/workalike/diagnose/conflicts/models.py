"""Four consistency models, and whether two conflicting accesses are ordered as each of them asks.

After Wang, Snir and Mohror: "File System Semantics Requirements of HPC Applications" (HPDC 2021) and "Formal
Definitions and Performance Comparison of Consistency Models for Parallel File Systems" (TPDS 2024). A write is seen by
a later access of another rank

* under POSIX, if it happened before;
* under commit, if its rank synced or closed the file after it, and that happened before the access;
* under MPI-IO, if its rank synced or closed the file after it, and that happened before a sync or open by the other
  rank, which precedes the access;
* under session, if its rank closed the file after it, and that happened before an open by the other rank, which
  precedes the access.

So what is correct under a later model is correct under those before it. A read before a write must only happen before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import StrEnum

import numpy as np

from workalike.diagnose.conflicts.events import FileCall, FileEvent
from workalike.diagnose.conflicts.order import Order


class Model(StrEnum):
    """From the one that promises most to the one that promises least."""

    POSIX = "POSIX"
    COMMIT = "commit"
    MPI_IO = "MPI-IO"
    SESSION = "session"


MODELS = tuple(Model)
LEAVING = {FileCall.CLOSE, FileCall.SYNC}
ARRIVING = {FileCall.OPEN, FileCall.SYNC}


class FileEvents:
    """The opens, closes and syncs of each file and rank, by time."""

    def __init__(self, events: Iterable[FileEvent]) -> None:
        self._found: dict[tuple[int, int, FileCall], list[FileEvent]] = {}
        for event in sorted(events, key=lambda event: event.start):
            self._found.setdefault((event.file, event.rank, event.call), []).append(event)

    def first_after(self, file: int, rank: int, time: float, calls: set[FileCall]) -> FileEvent | None:
        """The first of some calls that began at `time` or later."""
        found = []
        for call in calls:
            events = self._found.get((file, rank, call), [])
            at = bisect_left(events, time, key=lambda event: event.start)
            found += events[at : at + 1]
        return min(found, key=lambda event: event.end, default=None)

    def last_before(self, file: int, rank: int, time: float, calls: set[FileCall]) -> FileEvent | None:
        """The last of some calls that had ended by `time`."""
        found = []
        for call in calls:
            events = self._found.get((file, rank, call), [])
            at = bisect_right(events, time, key=lambda event: event.end)
            found += events[max(at - 1, 0) : at]
        return max(found, key=lambda event: event.start, default=None)


def holding(first: np.void, second: np.void, order: Order, events: FileEvents) -> set[Model]:
    """The models under which two conflicting accesses (`events.ACCESS`) of two ranks are in order."""
    if not _before(order, first, second):
        if not _before(order, second, first):
            return set()
        first, second = second, first
    if not first["write"]:
        return set(MODELS)
    out = {Model.POSIX}
    file, rank, other = int(first["file"]), int(first["rank"]), int(second["rank"])
    written, begun = float(first["end_s"]), float(second["start_s"])
    committed = events.first_after(file, rank, written, LEAVING)
    if committed is not None and order.before(rank, committed.end, other, begun):
        out.add(Model.COMMIT)
    for model, leaving, arriving in (
        (Model.MPI_IO, LEAVING, ARRIVING),
        (Model.SESSION, {FileCall.CLOSE}, {FileCall.OPEN}),
    ):
        left = events.first_after(file, rank, written, leaving)
        arrived = events.last_before(file, other, begun, arriving)
        if left and arrived and order.before(rank, left.end, other, arrived.start):
            out.add(model)
    return out


def _before(order: Order, first: np.void, second: np.void) -> bool:
    return order.before(
        int(first["rank"]), float(first["end_s"]), int(second["rank"]), float(second["start_s"])
    )
