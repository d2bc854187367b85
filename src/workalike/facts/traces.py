"""Streams by the trace (DXT) of a file: exactly which rank moved which sizes where. Only complete traces are used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from workalike.darshan import DxtTable
from workalike.facts.counters import Pair, bytes_name, operations_of
from workalike.facts.jobs import JobFacts, Member
from workalike.facts.placement import Order, Placement, placed
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, IntArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Level

DXT_OF_LEVEL = {
    Level.POSIX: "DXT_POSIX",
    Level.MPIIO: "DXT_MPIIO",
    Level.H5D: "DXT_MPIIO",
    Level.PNETCDF: "DXT_MPIIO",
}


@dataclass(frozen=True)
class Trace:
    """The operations of one file in one direction, in order of their start, as arrays [operations].

    Offsets and lengths are in bytes, times in seconds since the job's start, ranks are those of the job.
    """

    ranks: IntArray
    offsets: IntArray
    lengths: IntArray
    starts: FloatArray
    ends: FloatArray
    offsets_known: bool = True
    viewed: npt.NDArray[np.bool_] | None = None
    """Which operations went through a file view or pointer, where offsets are those of the level below."""

    def __len__(self) -> int:
        return len(self.ranks)

    def part(self, first: int, last: int) -> Trace:
        """The operations from `first` to `last`, without `last`."""
        which = slice(first, last)
        return Trace(
            self.ranks[which],
            self.offsets[which],
            self.lengths[which],
            self.starts[which],
            self.ends[which],
            self.offsets_known,
            None if self.viewed is None else self.viewed[which],
        )

    def by_rank(self) -> Iterator[tuple[int, IntArray, IntArray]]:
        """(rank, offsets, lengths) of each rank, in order of time."""
        order = np.argsort(self.ranks, kind="stable")
        bounds = np.flatnonzero(np.diff(self.ranks[order])) + 1
        for rows in np.split(order, bounds) if len(order) else []:
            yield int(self.ranks[rows[0]]), self.offsets[rows], self.lengths[rows]


@dataclass
class Traces:
    """The traces of a job's logs, by file. Without `use` there are none."""

    job: JobFacts
    use: bool = True
    _index: dict[tuple[int, str], dict[int, list[int]]] = field(default_factory=dict)

    def of_file(self, file: FileFacts, level: Level, direction: Direction) -> Trace | None:
        """The file's trace at a level; None unless it is complete, that is, has the counters' operations and bytes."""
        module = DXT_OF_LEVEL.get(level)
        facts = file.modules.get(MODULE_OF_LEVEL[level])
        if not self.use or module is None or facts is None:
            return None
        parts: list[tuple[Member, DxtTable, int]] = []
        for number, member in enumerate(self.job.members):
            table = member.log.dxt(module)
            if table is not None:
                parts += [(member, table, row) for row in self._rows(number, module, table, file.record_id)]
        trace = _collected(parts, direction)
        if trace is None or len(trace) != operations_of(facts, direction):
            return None
        if int(trace.lengths.sum()) != facts.total(bytes_name(direction)):
            return None
        latest = latest_stamp(self.job.run_time)
        stamps = np.concatenate([trace.starts, trace.ends])
        if not ((stamps >= 0) & (stamps <= latest)).all():
            return None
        if level is Level.MPIIO and (facts.total("VIEWS") or not trace.offsets_known):
            below = self.of_file(file, Level.POSIX, direction)
            trace = replace(trace, offsets_known=False)
            return trace if below is None else placed_by(trace, below)
        return trace

    def of_files(self, files: list[FileFacts], level: Level, direction: Direction) -> list[Trace] | None:
        """The traces of all files with data in this direction; None unless all are complete."""
        found = []
        for file in files:
            facts = file.modules.get(MODULE_OF_LEVEL[level])
            if facts is None or not (operations_of(facts, direction) or facts.total(bytes_name(direction))):
                continue
            trace = self.of_file(file, level, direction)
            if trace is None:
                return None
            found.append(trace)
        return found or None

    def nodes(self) -> int | None:
        """The number of nodes; None unless the traces name the host of every rank."""
        hosts: dict[int, bytes] = {}
        for member in self.job.members if self.use else []:
            for module in ("DXT_POSIX", "DXT_MPIIO"):
                table = member.log.dxt(module)
                if table is not None:
                    ranks = (table.ranks + member.first_rank).tolist()
                    hosts.update(zip(ranks, table.hostnames.tolist(), strict=True))
        return len(set(hosts.values())) if len(hosts) == self.job.nprocs else None

    def _rows(self, number: int, module: str, table: DxtTable, record_id: int) -> list[int]:
        known = self._index.get((number, module))
        if known is None:
            known = defaultdict(list)
            for row, found in enumerate(table.ids.tolist()):
                known[found].append(row)
            self._index[number, module] = known
        return known.get(record_id, [])


def _collected(parts: list[tuple[Member, DxtTable, int]], direction: Direction) -> Trace | None:
    """All ranks' operations in order of time; None without any, or with impossible values."""
    ranks: list[IntArray] = []
    segments: list[npt.NDArray[np.void]] = []
    shifts: list[FloatArray] = []
    total = 0
    for member, table, row in parts:
        writes, reads = table.segments(row)
        found = writes if direction is Direction.WRITE else reads
        total += len(found)
        if total > THRESHOLDS.trace_most:
            return None
        ranks.append(np.full(len(found), int(table.ranks[row]) + member.first_rank))
        shifts.append(np.full(len(found), member.shift_s))
        segments.append(found)
    if not total:
        return None
    offsets, lengths, starts, ends = (
        np.concatenate([part[name] for part in segments]) for name in ("offset", "length", "start", "end")
    )
    shift = np.concatenate(shifts)
    times = np.isfinite(starts) & np.isfinite(ends)
    if (
        not times.all()
        or (lengths < 0).any()
        or (lengths > THRESHOLDS.plausible_bytes).any()
        or (offsets > THRESHOLDS.plausible_extent).any()
    ):
        return None
    order = np.argsort(starts + shift, kind="stable")
    known = all(table.offsets_valid for _, table, _ in parts) and bool((offsets >= 0).all())
    trace = Trace(
        np.concatenate(ranks)[order],
        offsets[order],
        lengths[order],
        (starts + shift)[order],
        (ends + shift)[order],
        known,
    )
    if known and direction is Direction.WRITE and parts[0][1].module == "DXT_MPIIO" and overlaps(trace):
        # Through a file view a segment has only the offset of its first piece, so segments seem to overlap.
        return replace(trace, offsets_known=False)
    return trace


def placed_by(trace: Trace, below: Trace) -> Trace:
    """The trace with the offsets of the level below, where each rank made the same calls there in the same order.

    A file view and a file pointer hide where a call is in the file; the calls of POSIX have it, unless a damaged log
    lacks it there, too.
    """
    if not below.offsets_known:
        return trace
    offsets = trace.offsets.copy()
    calls = {rank: (places, lengths) for rank, places, lengths in below.by_rank()}
    for rank, _, lengths in trace.by_rank():
        places, moved = calls.pop(rank, (lengths[:0], lengths[:0]))
        if not np.array_equal(lengths, moved):
            return trace
        offsets[trace.ranks == rank] = places
    return (
        trace
        if calls
        else replace(trace, offsets=offsets, offsets_known=True, viewed=offsets != trace.offsets)
    )


def covered(offsets: IntArray, lengths: IntArray) -> int:
    """Bytes of the file that at least one operation accesses."""
    order = np.argsort(offsets, kind="stable")
    first, last = offsets[order], (offsets + lengths)[order]
    reach = np.maximum.accumulate(last)
    before = np.concatenate([[first[0]], reach[:-1]])
    return int(np.clip(last - np.maximum(first, before), 0, None).sum())


def overlaps(trace: Trace) -> bool:
    """Whether operations access the same bytes more than occasionally."""
    return int(trace.lengths.sum()) > THRESHOLDS.trace_overlap * covered(trace.offsets, trace.lengths)


def moved_in_trace(trace: Trace) -> dict[int, list[Pair]]:
    """Pairs (operations, size) of each rank."""
    out: dict[int, list[Pair]] = {}
    for rank, _, lengths in trace.by_rank():
        sizes, counts = np.unique(lengths, return_counts=True)
        out[rank] = list(zip(counts.tolist(), sizes.tolist(), strict=True))
    return out


def runs_of(offsets: IntArray, lengths: IntArray) -> IntArray:
    """int64[runs], the index of the first operation of each contiguous run."""
    follows = offsets[1:] == (offsets + lengths)[:-1]
    return np.concatenate([[0], np.flatnonzero(~follows) + 1])


def contiguous_runs(trace: Trace) -> list[tuple[int, list[Pair]]] | None:
    """(offset, operations by size) of each contiguous run of a single rank; None for several ranks or too many runs."""
    if not trace.offsets_known or len(set(trace.ranks.tolist())) != 1:
        return None
    firsts = runs_of(trace.offsets, trace.lengths)
    if len(firsts) > THRESHOLDS.trace_runs:
        return None
    out = []
    for first, last in zip(firsts.tolist(), [*firsts[1:].tolist(), len(trace)], strict=True):
        sizes, counts = np.unique(trace.lengths[first:last], return_counts=True)
        out.append((int(trace.offsets[first]), list(zip(counts.tolist(), sizes.tolist(), strict=True))))
    return out


def placement_in_trace(trace: Trace) -> Placement | None:
    """The pattern of a file's operations; None where the trace has no offsets."""
    if not trace.offsets_known or not len(trace):
        return None
    ranks = list(trace.by_rank())
    moved = int(trace.lengths.sum())
    union = covered(trace.offsets, trace.lengths)
    runs = sum(len(runs_of(offsets, lengths)) for _, offsets, lengths in ranks)
    span = int((trace.offsets + trace.lengths).max() - trace.offsets.min())
    same = len(trace) > 1 and (trace.offsets == trace.offsets[0]).all() and trace.lengths.any()
    return placed(
        Order(
            one_rank=len(ranks) == 1,
            one_place=bool(same),
            all_access_all=len(ranks) > 1 and moved > union and _same_region(ranks),
            follow=runs == len(ranks),
            forward=_forward_share(ranks) >= THRESHOLDS.trace_forward,
            dense=union >= THRESHOLDS.trace_dense * span,
            stride=_usual_stride(*ranks[0][1:], span),
            pieces_per_rank=runs / len(ranks),
        )
    )


def _usual_stride(offsets: IntArray, lengths: IntArray, span: int) -> int:
    """Bytes from one operation of a rank to the next: the usual ones, or the mean where operations would overlap."""
    longest = int(lengths.max())
    if len(offsets) < 2:
        return longest
    steps, counts = np.unique(np.diff(offsets), return_counts=True)
    usual = int(steps[counts.argmax()])
    return max(usual if usual >= longest else span // len(offsets), longest)


def _same_region(ranks: list[tuple[int, IntArray, IntArray]]) -> bool:
    """Whether nearly all ranks access the same part of the file."""
    regions = [(int(offsets.min()), int((offsets + lengths).max())) for _, offsets, lengths in ranks]
    usual = max(set(regions), key=regions.count)
    return regions.count(usual) >= THRESHOLDS.trace_alike * len(regions)


def _forward_share(ranks: list[tuple[int, IntArray, IntArray]]) -> float:
    """The share of the bytes in operations that begin at or after the end of the same rank's previous operation."""
    forward = sum(int(n[1:][o[1:] >= (o + n)[:-1]].sum()) for _, o, n in ranks)
    moved = sum(int(n[1:].sum()) for _, _, n in ranks)
    return forward / moved if moved else 1.0
