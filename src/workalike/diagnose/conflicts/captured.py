"""The accesses and events of a log: from its trace (DXT), and from the side file of `profile --events`.

A file that was opened by MPI-IO is looked at on that level, where all its offsets are known; other files, and those
whose views hide the offsets, on the level of POSIX.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workalike.capture.event_list import EventList, FileCallRow, MessageRow
from workalike.darshan import Log
from workalike.darshan.dxt import DxtTable
from workalike.diagnose.conflicts.events import ACCESS, Accesses, FileCall, FileEvent, Flow, Message, Trace
from workalike.text import plural

LEVELS = {"DXT_MPIIO": "MPI-IO", "DXT_POSIX": "POSIX"}
MOST_SEGMENTS = 5_000_000


@dataclass
class Captured:
    """A trace whose files are numbers, and the record id of each."""

    trace: Trace
    ids: list[int]


def captured(log: Log, events: EventList | None, own: Callable[[int], bool]) -> Captured | None:
    """What a log has for the test of conflicts; None without a trace.

    `own` tells of a record id whether the file is the application's.
    """
    tables = {name: log.dxt(name) for name in LEVELS}
    gaps: list[str] = []
    parts: dict[str, Accesses] = {}
    for name, table in tables.items():
        if table is None:
            continue
        if table.total_segments > MOST_SEGMENTS:
            gaps.append(f"the trace has more than {MOST_SEGMENTS:,} segments")
            continue
        parts[name] = _accesses(table)
        if name in log.modules and log.modules[name].partial:
            gaps.append(f"the trace {name} lost segments")
    if not parts:
        return None
    gaps += _not_traced(log, own)
    upper_rows = parts.get("DXT_MPIIO", np.zeros(0, dtype=ACCESS))
    hidden = np.concatenate([upper_rows["file"][upper_rows["offset"] < 0], _with_views(log)])
    at_mpiio = np.setdiff1d(upper_rows["file"], hidden)
    chosen = []
    for name, rows in parts.items():
        upper = np.isin(rows["file"], at_mpiio)
        chosen.append(rows[upper if name == "DXT_MPIIO" else ~upper])
    every = np.concatenate(chosen)
    ids = [int(i) for i in np.unique(every["file"]) if own(int(i) & (2**64 - 1))]
    keep = np.isin(every["file"], ids)
    every = every[keep]
    every["file"] = np.searchsorted(np.array(ids, dtype=np.int64), every["file"])
    trace = Trace(log.job.nprocs, every, gaps=gaps)
    levels = {number: "MPI-IO" if i in at_mpiio else "POSIX" for number, i in enumerate(ids)}
    if events is not None:
        _add_events(trace, log, events, ids, levels)
    return Captured(trace, [i & (2**64 - 1) for i in ids])


def _not_traced(log: Log, own: Callable[[int], bool]) -> list[str]:
    """Accesses that no trace has: streams that several ranks write, and memory that is mapped to files."""
    gaps = []
    streams = log.records("STDIO")
    if streams is not None:
        writers: dict[int, set[int]] = defaultdict(set)
        for at in np.flatnonzero(streams["BYTES_WRITTEN"] > 0):
            if own(int(streams.ids[at])):
                writers[int(streams.ids[at])].add(int(streams.ranks[at]))
        shared = sum(len(ranks) > 1 or -1 in ranks for ranks in writers.values())
        if shared:
            gaps.append(f"{plural(shared, 'stream')} (STDIO) that several ranks use have no trace")
    files = log.records("POSIX")
    if files is not None:
        mapped = {int(i) for i in files.ids[files["MMAPS"] > 0] if own(int(i))}
        if mapped:
            gaps.append(
                f"{plural(len(mapped), 'file')} mapped into memory have no trace of what is done there"
            )
    return gaps


def _with_views(log: Log) -> npt.NDArray[np.int64]:
    """The record ids of files with a file view: their offsets are those within the view."""
    table = log.records("MPI-IO")
    if table is None:
        return np.zeros(0, dtype=np.int64)
    return np.unique(table.ids.view(np.int64)[table["VIEWS"] != 0])


def _accesses(table: DxtTable) -> Accesses:
    """`file` is the record id, as a signed number."""
    found = np.zeros(table.total_segments, dtype=ACCESS)
    at = 0
    for records, writes, segments in table.chunks():
        rows = found[at : at + len(records)]
        at += len(rows)
        rows["file"], rows["rank"] = table.ids.view(np.int64)[records], table.ranks[records]
        rows["write"] = writes
        rows["offset"] = segments["offset"]
        rows["end"] = segments["offset"] + segments["length"].clip(0)
        rows["start_s"], rows["end_s"] = segments["start"], segments["end"]
    return found


def _add_events(trace: Trace, log: Log, events: EventList, ids: list[int], levels: dict[int, str]) -> None:
    numbers = {i & (2**64 - 1): number for number, i in enumerate(ids)}
    by_name = {name: numbers[i] for i, name in log.names.items() if i in numbers}
    trace.file_events = [
        FileEvent(number, row.rank, FileCall(row.event), row.start, row.end)
        for row in events.file_calls
        if (number := by_name.get(row.file)) is not None and row.module == levels[number]
    ]
    unseen = sorted({row.rank for row in events.messages if row.flow == "unseen"})
    if unseen:
        trace.gaps.append(f"{len(unseen)} ranks made MPI calls that were not recorded")
    if not events.complete:
        trace.gaps.append("the job did not reach MPI_Finalize: its MPI calls are lost")
    inside = _within_mpiio(events.file_calls)
    trace.messages = [_message(row) for row in events.messages if row.flow != "unseen" and not inside(row)]


def _message(row: MessageRow) -> Message:
    return Message(row.rank, Flow(row.flow), row.comm, row.size, row.start, row.end, row.peer, row.tag)


def _within_mpiio(calls: Iterable[FileCallRow]) -> Callable[[MessageRow], bool]:
    """Whether an MPI call is part of an open, close or sync of MPI-IO: how one library does it, and no promise."""
    spans: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for call in calls:
        if call.module == "MPI-IO":
            spans[call.rank].append((call.start, call.end))
    for found in spans.values():
        found.sort()

    def inside(row: MessageRow) -> bool:
        calls_of_rank = spans.get(row.rank, [])
        at = bisect_right(calls_of_rank, (row.start, float("inf"))) - 1
        return at >= 0 and row.end <= calls_of_rank[at][1]

    return inside
