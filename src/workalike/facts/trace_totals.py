"""Traces (DXT) that disagree with the counters of their files: a trace has every operation, or it is not used.

A trace may also end early, since DXT stops to trace where a process has used its memory up
(docs/reference/darshan-meaning.md#limits-and-partial-modules). Files without a trace are no disagreement: DXT may trace
chosen files and ranks only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from workalike.darshan import DxtTable, Log, RecordTable
from workalike.facts.columns import DIRECTIONS
from workalike.facts.counters import bytes_name, operation_names
from workalike.facts.plausible import plausible
from workalike.facts.records import IntArray, exact_sum
from workalike.facts.thresholds import THRESHOLDS
from workalike.text import plural
from workalike.workload.words import Direction

FIRST_ROOM = 64
"""Operations that DXT makes room for at first; the room doubles."""

COUNTED_BY = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}


@dataclass
class _Differences:
    """Files whose traces differ, and what the first one has."""

    first: str = ""
    files: set[int] = field(default_factory=set)

    def add(self, record_id: int, difference: str) -> None:
        self.first = self.first or difference
        self.files.add(record_id)


def trace_differences(logs: Sequence[Log]) -> list[str]:
    """A line for each trace module of a job that disagrees with the counters, and for each that ended early.

    Modules that are marked as partial are expected to have fewer operations, and give no line for that.
    """
    lines = []
    for module, counted_by in COUNTED_BY.items():
        disagree, ended = _Differences(), _Differences()
        for log in logs:
            trace, counters = log.dxt(module), log.records(counted_by)
            if trace is None or counters is None:
                continue
            full = _is_full(trace)
            for record_id, fewer, difference in _differing(trace, counters):
                if not fewer:
                    disagree.add(record_id, difference)
                elif not log.modules[module].partial:
                    (ended if full else disagree).add(record_id, difference)
        lines += [
            f"module {module}: {what}{found.first} (first of {plural(len(found.files), 'file')}): "
            "such a trace is not used"
            for what, found in (("", disagree), ("ended early: ", ended))
            if found.files
        ]
    return lines


def _differing(trace: DxtTable, counters: RecordTable) -> Iterator[tuple[int, bool, str]]:
    """(record id, whether the trace has fewer operations and bytes, the difference) by file and direction."""
    ids, place = np.unique(trace.ids, return_inverse=True)
    for direction in DIRECTIONS:
        traced = _traced(trace, direction, place, len(ids))
        counted = _counted(counters, direction, ids)
        measured = (counted >= 0).all(axis=1)
        for row in np.flatnonzero(measured & (traced != counted).any(axis=1)).tolist():
            yield (
                int(ids[row]),
                bool((traced[row] <= counted[row]).all()),
                _difference(direction, traced[row].tolist(), counted[row].tolist(), counters.module),
            )


def _difference(direction: Direction, traced: list[int], counted: list[int], module: str) -> str:
    if traced[0] != counted[0]:
        return f"DXT has {plural(traced[0], direction.value)}, {module} counts {counted[0]:,}"
    return f"DXT has {traced[1]:,} bytes by {direction.value}s, {module} counts {counted[1]:,}"


def _traced(trace: DxtTable, direction: Direction, place: IntArray, files: int) -> IntArray:
    """int64[files, 2], operations and bytes; `place` int64[records] is the file of each record."""
    operations = trace.write_counts if direction is Direction.WRITE else trace.read_counts
    found = np.zeros((files, 2), dtype=np.int64)
    np.add.at(found[:, 0], place, operations)
    moved = [0] * files
    for record in np.flatnonzero(operations).tolist():
        writes, reads = trace.segments(record)
        segments = writes if direction is Direction.WRITE else reads
        moved[place[record]] += exact_sum(segments["length"])
    found[:, 1] = [
        min(size, THRESHOLDS.plausible_else) for size in moved
    ]  # a damaged trace may have any lengths
    return found


def _counted(table: RecordTable, direction: Direction, ids: np.ndarray) -> IntArray:
    """int64[files, 2], operations and bytes; -1 where they were not measured, or the file has no counters."""
    counters, _ = plausible(table.counters, table.counter_names)
    names = [operation_names(table.module, direction), [bytes_name(direction)]]
    which = np.flatnonzero(np.isin(table.ids, ids))
    place = np.searchsorted(ids, table.ids[which])
    found = np.full((len(ids), 2), -1, dtype=np.int64)
    found[place] = 0
    for number, of_amount in enumerate(names):
        columns = counters[which][:, [table.counter_names.index(name) for name in of_amount]]
        np.add.at(found[:, number], place, columns.sum(axis=1))
        found[place[(columns < 0).any(axis=1)], number] = -1
    return found


def _is_full(trace: DxtTable) -> bool:
    """Whether a process has used up its memory for traces: room doubles for each file and direction."""
    room = np.zeros(len(trace), dtype=np.float64)
    for counts in (trace.write_counts, trace.read_counts):
        doubled = np.exp2(np.ceil(np.log2(np.maximum(counts, FIRST_ROOM))))
        room += np.where(counts > 0, doubled, 0)
    _, place = np.unique(trace.ranks, return_inverse=True)
    return bool((np.bincount(place, weights=room) >= THRESHOLDS.trace_room).any())
