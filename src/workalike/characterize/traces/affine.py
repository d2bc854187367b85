"""Rules read off a dump's operations: offsets that are affine in the rank and in the number of the call.

Ranks that make the same calls (directions and lengths) are one cluster. In a cluster, call k of rank number i lies at
a_k + i x b_k. Calls whose a_k are in arithmetic progression, with the same b_k, are one stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from workalike.facts.placement import Order, Placement, placed
from workalike.facts.records import IntArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload import units
from workalike.workload.model import MAX_REPEATS, Content, Direction, Entry, Stream
from workalike.workload.operation_table import OperationTable


@dataclass(frozen=True)
class Run:
    """`count` calls of `size` bytes at base + k x step + i x shift, for call k of the cluster's rank number i."""

    write: bool
    size: int
    count: int
    base: int
    step: int
    shift: int

    def same_shape(self, other: Run) -> bool:
        return (self.write, self.size, self.count, self.step, self.shift) == (
            other.write,
            other.size,
            other.count,
            other.step,
            other.shift,
        )


def affine_content(
    rows: OperationTable,
    before: Content,
    *,
    members: Sequence[int],
    own_files: bool,
    collective: bool,
) -> Content | None:
    """The content with streams that give these rows; None where no few streams do.

    Args:
        rows: the operations of a dump in order of time.
        before: the dump's content, of which the calls that move no data are kept.
        members: the ranks of the family, ascending.
        own_files: each rank has a file of its own.
        collective: all operations are collective calls.
    """
    clusters = _clusters(rows)
    if clusters is None or (collective and len(clusters) > 1):
        return None
    streams: list[Stream] = []
    passes = 1
    for ranks, writes, lengths, offsets in clusters:
        runs = _runs(writes, lengths, offsets, THRESHOLDS.affine_streams * MAX_REPEATS)
        if runs is None:
            return None
        if len(clusters) == 1:
            passes = _passes(runs)
            runs = runs[: len(runs) // passes]
        ranges = None if len(ranks) == len(members) else units.ranges_of(ranks.tolist())
        for run, repeat in _repeated(runs, len(ranks)):
            stream = _stream(run, repeat, 1 if own_files else len(ranks), len(ranks))
            if stream is None or len(streams) == THRESHOLDS.affine_streams:
                return None
            streams.append(stream.model_copy(update={"ranks": ranges, "collective": collective}))
    return before.model_copy(update={"streams": streams, "passes": passes})


Cluster = tuple[IntArray, npt.NDArray[np.bool_], IntArray, IntArray]
"""Ranks [n], and of each call whether it writes, its length [calls], and the offsets [n, calls]."""


def _clusters(rows: OperationTable) -> list[Cluster] | None:
    """Ranks that make the same calls; None where there are too many kinds of them.

    Where a rank makes further calls before or after those of most ranks (headers), these are clusters of their own.
    """
    sorted_rows = rows.by_rank()
    firsts = np.flatnonzero(np.diff(sorted_rows.ranks, prepend=-1))
    bounds = [*firsts.tolist(), len(rows)]
    kinds: dict[bytes, list[slice]] = {}
    for first, last in pairwise(bounds):
        part = slice(first, last)
        kinds.setdefault(_kind(sorted_rows, part), []).append(part)
        if len(kinds) > THRESHOLDS.affine_clusters:
            return None
    common = max(kinds, key=lambda kind: len(kinds[kind]))
    calls = kinds[common][0].stop - kinds[common][0].start
    before: list[list[slice]] = []
    after: list[list[slice]] = []
    for kind in [kind for kind in kinds if kind != common]:
        head = [slice(part.start, part.start + calls) for part in kinds[kind]]
        tail = [slice(part.stop - calls, part.stop) for part in kinds[kind]]
        extra = kinds[kind][0].stop - kinds[kind][0].start - calls
        if extra > 0 and _kind(sorted_rows, tail[0]) == common:
            before.append([slice(part.start, part.stop - calls) for part in kinds.pop(kind)])
            kinds[common] += tail
        elif extra > 0 and _kind(sorted_rows, head[0]) == common:
            after.append([slice(part.start + calls, part.stop) for part in kinds.pop(kind)])
            kinds[common] += head
    return [_cluster(sorted_rows, parts) for parts in (*before, *kinds.values(), *after)]


def _kind(rows: OperationTable, part: slice) -> bytes:
    """The directions and lengths of calls."""
    return rows.writes[part].tobytes() + rows.lengths[part].tobytes()


def _cluster(rows: OperationTable, parts: list[slice]) -> Cluster:
    parts = sorted(parts, key=lambda part: part.start)
    offsets = np.stack([rows.offsets[part] for part in parts])
    return rows.ranks[[p.start for p in parts]], rows.writes[parts[0]], rows.lengths[parts[0]], offsets


def _runs(writes: npt.NDArray[np.bool_], lengths: IntArray, offsets: IntArray, most: int) -> list[Run] | None:
    """The runs of a cluster's calls; None where offsets are not affine in the rank, or runs are too many."""
    ranks, calls = offsets.shape
    base = offsets[0]
    shift = offsets[1] - base if ranks > 1 else np.zeros_like(base)
    if not np.array_equal(offsets, base + np.arange(ranks)[:, None] * shift):
        return None
    # A call goes on with a run where it is as the one before; runs of unequal distances end at the second call.
    alike = np.zeros(calls, dtype=bool)
    alike[1:] = (writes[1:] == writes[:-1]) & (lengths[1:] == lengths[:-1]) & (shift[1:] == shift[:-1])
    steps = np.diff(base, prepend=base[0])
    runs: list[Run] = []
    at = 0
    ends = np.flatnonzero(~alike)  # every call that cannot go on with the one before
    turns = np.flatnonzero(np.diff(steps) != 0) + 1  # calls whose step is not that of the call before
    while at < calls:
        if len(runs) == most:
            return None
        limit = _next(ends, at, calls)
        step = int(steps[at + 1]) if at + 1 < limit else 0
        last = min(limit, _next(turns, at + 1, calls)) if at + 1 < limit else at + 1
        runs.append(Run(bool(writes[at]), int(lengths[at]), last - at, int(base[at]), step, int(shift[at])))
        at = last
    return runs


def _next(places: npt.NDArray[np.intp], after: int, end: int) -> int:
    """The first of the ascending places that is larger than `after`; `end` without one."""
    at = int(np.searchsorted(places, after, side="right"))
    return int(places[at]) if at < len(places) else end


def _passes(runs: Sequence[Run]) -> int:
    """How often the same runs follow each other."""
    for length in range(1, len(runs) // 2 + 1):
        count, rest = divmod(len(runs), length)
        if rest == 0 and 1 < count <= MAX_REPEATS and list(runs) == list(runs[:length]) * count:
            return count
    return 1


def _repeated(runs: Sequence[Run], ranks: int) -> Iterator[tuple[Run, int]]:
    """(run, repetitions): runs of the same shape that follow each other in the file are repetitions of one."""
    at = 0
    while at < len(runs):
        run = runs[at]
        region = ranks * run.count * run.size
        repeat = 1
        while (
            at + repeat < len(runs)
            and repeat < MAX_REPEATS
            and runs[at + repeat].same_shape(run)
            and runs[at + repeat].base == run.base + repeat * region
        ):
            repeat += 1
        yield run, repeat
        at += repeat


def _stream(run: Run, repeat: int, sharing: int, ranks: int) -> Stream | None:
    """The stream of a run, with all of its ranks; None if no pattern has these offsets.

    `sharing` is the number of its ranks in one file, `ranks` the number of all.
    """
    placement = _placement(run, sharing)
    if placement is None or (sharing == 1 and ranks > 1 and run.shift != 0):
        return None
    if repeat > 1 and not placement.repeats:
        return None
    return Stream(
        direction=Direction.WRITE if run.write else Direction.READ,
        sizes=[Entry(count=run.count * ranks, size=run.size)],
        pattern=placement.pattern,
        base=run.base,
        stride=placement.stride,
        repeat=repeat,
    )


def _placement(run: Run, sharing: int) -> Placement | None:
    """The placement of a run of `sharing` ranks of a file; None if no pattern has exactly these offsets."""
    dense = run.count == 1 or run.step == run.size
    in_turn = sharing > 1 and run.step == sharing * run.size and run.shift == run.size
    order = Order(
        one_rank=not in_turn,
        one_place=run.count > 1 and run.step == 0 and not dense and (sharing == 1 or run.shift == 0),
        all_access_all=sharing > 1 and run.shift == 0 and dense,
        follow=dense and (sharing == 1 or run.shift == run.count * run.size),
        stride=max(1, run.step if run.count > 1 else run.shift),
    )
    spread = run.count > 1 and run.step >= run.size and (sharing == 1 or run.shift == run.count * run.step)
    apart = run.count == 1 and run.shift >= run.size
    known = order.one_place or order.all_access_all or order.follow or in_turn or spread or apart
    return placed(order) if known else None
