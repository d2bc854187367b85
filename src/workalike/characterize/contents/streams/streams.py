"""Records -> access streams: operations, sizes, ranks and placement in the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from workalike.characterize.contents.streams.bytes_by_size import Moved, few_sizes, merged, moved_by
from workalike.characterize.contents.streams.collective_calls import filled_calls, split_collective
from workalike.characterize.contents.streams.rank_streams import moved_by_rank, streams_of_ranks
from workalike.characterize.contents.streams.repeated_access import (
    length_accessed,
    reads_over_writes,
    within_extent,
)
from workalike.characterize.contents.streams.stream_parts import (
    Ranges,
    make_stream,
    near_equal_merged,
    placed,
    spread_ranks,
)
from workalike.characterize.contents.streams.two_phase import place_of_calls
from workalike.characterize.grouping.sharing import effective_writers, root_of, shared_alike
from workalike.facts.counters import Pair, bytes_name, collective_of, operations_of
from workalike.facts.placement import CONTIGUOUS, Placement, modifies, place_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.traces import Trace, contiguous_runs, moved_in_trace, placement_in_trace
from workalike.predict.determined import PLACES
from workalike.workload import units
from workalike.workload.model import Assumption, Direction, Level, Stream


def build_streams(
    files: Sequence[FileFacts],
    level: Level,
    direction: Direction,
    nprocs: int,
    traced: Sequence[Trace] | None = None,
) -> tuple[list[Stream], list[Assumption]]:
    """The streams of one direction of a dump.

    Complete traces of the files (or of a part of their operations) show exactly which rank moved what where. Without
    them, ranks are clustered by their own records. A reduced record stands for all ranks, unless its variance shows a
    single one.
    """
    parts = [f.modules[MODULE_OF_LEVEL[level]] for f in files if MODULE_OF_LEVEL[level] in f.modules]
    parts = [p for p in parts if operations_of(p, direction) or p.total(bytes_name(direction))]
    if not parts:
        return [], []
    of_calls = place_of_calls(files, level, direction, nprocs)
    placement = of_calls or place_of(files, level, direction)
    if traced:
        return _traced_streams(traced, parts, direction, nprocs, placement)
    if direction is Direction.READ and of_calls is None and modifies(files, level):
        writes, _ = build_streams(files, level, Direction.WRITE, nprocs)
        repeated = reads_over_writes(writes, parts, nprocs)
        if repeated is not None:
            return repeated, [Assumption.PLACEMENT]
    streams: list[Stream] = []
    assumed: list[Assumption] = [Assumption.PLACEMENT]
    for part in parts:
        for facts, first, members in _reduced_parts(part, nprocs):
            reduced, assumptions = _reduced_streams(facts, direction, members, placement)
            streams += reduced if members == nprocs else [_in_job(s, first, members) for s in reduced]
            assumed += assumptions
    single = [p if (p.ranks >= 0).all() else p.rows(np.flatnonzero(p.ranks >= 0)) for p in parts]
    single = [p for p in single if len(p.ranks)]
    by_rank = moved_by_rank(single, direction)
    shared = any(len(facts.ranks) > 1 for facts in single)
    streams += streams_of_ranks(by_rank, direction, nprocs, placement, len(single), shared)
    if len(files) == 1:
        both = all(any(p.total(bytes_name(d)) for p in parts) for d in Direction)
        extent = length_accessed(files[0], direction)
        moved = sum(p.total(bytes_name(direction)) for p in parts)
        if both if direction is Direction.READ else moved > THRESHOLDS.rewritten * extent:
            together = any(collective_of(p, d) for p in parts for d in Direction)
            streams = within_extent(streams, extent, nprocs, repetitions=together)
    return streams, list(dict.fromkeys(assumed))


def _traced_streams(
    traced: Sequence[Trace],
    parts: Sequence[ModuleFacts],
    direction: Direction,
    nprocs: int,
    placement: Placement,
) -> tuple[list[Stream], list[Assumption]]:
    """Streams of traced files: one file, or one per rank. `placement` is by counters, for traces without offsets."""
    calls = calls_of_ranks(parts, direction, nprocs)
    runs = contiguous_runs(traced[0]) if len(traced) == 1 and not any(calls.values()) else None
    if runs is not None:
        rank = int(traced[0].ranks[0])
        return [_run(base, pairs, direction, rank, nprocs) for base, pairs in runs], []
    # Where the traces are of one state only, the same share of collective calls is taken.
    share = Fraction(sum(map(len, traced)), max(1, sum(operations_of(facts, direction) for facts in parts)))
    by_rank: dict[int, Moved] = {}
    for trace in traced:
        for rank, pairs in moved_in_trace(trace).items():
            known = by_rank[rank].pairs if rank in by_rank else []
            by_rank[rank] = Moved(merged(known + pairs), 0)
    for rank, moved in by_rank.items():
        moved.collective_calls = min(moved.operations, round(calls.get(rank, calls.get(-1, 0)) * share))
        moved.pairs = few_sizes(moved.pairs, THRESHOLDS.sizes_most)
    places = {placement_in_trace(trace) for trace in traced}
    known_place = places.pop() if len(places) == 1 else None
    shared = any(len(set(trace.ranks.tolist())) > 1 for trace in traced)
    streams = streams_of_ranks(by_rank, direction, nprocs, known_place or placement, len(traced), shared)
    return streams, [] if known_place is not None else [Assumption.PLACEMENT]


def calls_of_ranks(parts: Sequence[ModuleFacts], direction: Direction, nprocs: int) -> dict[int, int]:
    """Collective calls of each rank; -1 stands for each rank of a reduced record."""
    calls: dict[int, int] = defaultdict(int)
    for facts in parts:
        for row, rank in enumerate(facts.ranks.tolist()):
            found = collective_of(facts.rows(np.array([row])), direction)
            calls[rank] += found if rank >= 0 else -(-found // nprocs)
    return calls


def _run(base: int, pairs: list[Pair], direction: Direction, rank: int, nprocs: int) -> Stream:
    """The stream of a contiguous run of one rank, at its offset in the file."""
    ranges: Ranges = [(rank, rank, 1)] if nprocs > 1 else None
    stream = make_stream(few_sizes(pairs, THRESHOLDS.sizes_most), direction, CONTIGUOUS, ranges, False)
    return stream.model_copy(update={"base": base})


def _reduced_parts(facts: ModuleFacts, nprocs: int) -> Iterator[tuple[ModuleFacts, int, int]]:
    """The reduced records and the ranks that they stand for: (records, first rank, number of ranks).

    These are all ranks of the job, or those of one log where the job has several logs.
    """
    rows = np.flatnonzero(facts.ranks < 0)
    if not len(rows):
        return
    if facts.scope is None:
        yield facts.rows(rows), 0, nprocs
        return
    for first, members in np.unique(facts.scope[rows], axis=0).tolist():
        yield facts.rows(rows[(facts.scope[rows] == [first, members]).all(axis=1)]), first, members


def _in_job(stream: Stream, first: int, members: int) -> Stream:
    """A stream of one log's ranks, with their numbers in the whole job."""
    ranges = stream.ranks or [(0, members - 1, 1)]
    return stream.model_copy(update={"ranks": [(a + first, b + first, step) for a, b, step in ranges]})


def _reduced_streams(
    facts: ModuleFacts, direction: Direction, nprocs: int, placement: Placement
) -> tuple[list[Stream], list[Assumption]]:
    moved = moved_by(facts, direction)
    total = facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN")
    root = root_of(facts, nprocs, [direction])
    assumed = [Assumption.SIZES] if len(moved.pairs) > PLACES else []
    if root is not None:
        # One rank moved everything: in collective calls the other ranks join with zero bytes.
        ranges: Ranges = [(root, root, 1)]
        return [make_stream(moved.pairs, direction, placement.of_single_rank, ranges, False)], assumed
    metadata, rest = _split_metadata(moved, nprocs)
    streams = []
    if metadata:
        streams.append(make_stream(metadata, direction, CONTIGUOUS, [(0, 0, 1)], False))
        assumed.append(Assumption.RANK_SHARES)
    if not rest:
        return streams, assumed
    alike = shared_alike(facts, direction, nprocs)
    writers = float(nprocs) if alike else effective_writers(facts, nprocs, total)
    ranges = None
    if moved.collective_calls == 0 and writers < THRESHOLDS.active_all * nprocs:
        ranges = spread_ranks(max(1, round(writers)), nprocs)
        assumed.append(Assumption.RANK_SHARES)
    collective, independent = split_collective(rest, moved.collective_calls)
    if collective:
        calls = -(-moved.collective_calls // nprocs)
        streams += _joint_stream(collective, calls, writers, nprocs, direction, placement)
    members = nprocs if ranges is None else units.count_ranks(ranges)
    if independent:
        streams += placed(independent, direction, placement, ranges, False, members)
    return streams, assumed


def _joint_stream(
    pairs: list[Pair], calls: int, writers: float, nprocs: int, direction: Direction, placement: Placement
) -> list[Stream]:
    """The collective operations of all ranks; only some ranks have data where the variance shows it."""
    data = sum(count for count, size in pairs if size)
    active = max(round(writers), -(-data // calls), 1)
    ranges = spread_ranks(active, nprocs) if active < THRESHOLDS.active_all * nprocs else None
    members = nprocs if ranges is None else units.count_ranks(ranges)
    entries = filled_calls(near_equal_merged(pairs, members), calls * members)
    return placed(entries, direction, placement, ranges, True, members)


def _split_metadata(moved: Moved, nprocs: int) -> tuple[list[Pair], list[Pair]]:
    """(operations of rank 0, the others). Small operations, fewer than the ranks, are rank 0's headers and metadata."""
    if nprocs <= 1 or moved.operations < nprocs:
        return [], moved.pairs
    metadata, rest = [], []
    independent_left = moved.operations - moved.collective_calls
    for count, size in moved.pairs:
        empty_join = size == 0 and moved.collective_calls > 0
        if (
            size <= THRESHOLDS.small_operation
            and count < nprocs
            and count <= independent_left
            and not empty_join
        ):
            metadata.append((count, size))
            independent_left -= count
        else:
            rest.append((count, size))
    return (metadata, rest) if rest else ([], moved.pairs)
