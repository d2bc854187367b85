"""Streams from what each rank is known to have moved, by records of single ranks or by a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from workalike.characterize.contents.streams.bytes_by_size import Moved, merged, moved_by_rows
from workalike.characterize.contents.streams.collective_calls import (
    filled_calls,
    split_collective,
    whole_calls,
)
from workalike.characterize.contents.streams.stream_parts import make_stream, near_equal_merged, placed
from workalike.facts.counters import Pair
from workalike.facts.placement import CONTIGUOUS, Placement
from workalike.facts.records import ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload import units
from workalike.workload.content import entry_texts
from workalike.workload.model import Direction, Entry, Pattern, Stream
from workalike.workload.quantities import MAX_REPEATS


def streams_of_ranks(
    by_rank: dict[int, Moved],
    direction: Direction,
    nprocs: int,
    placement: Placement,
    files: int,
    shared: bool,
) -> list[Stream]:
    """Streams of what each rank moved, in `files` files. `shared` says whether any file has several ranks."""
    joint: list[Stream] = []
    if shared and any(m.collective_calls for m in by_rank.values()):
        joint, by_rank = _joint_calls(by_rank, direction, nprocs, placement, files == 1)
    if placement.pattern is Pattern.INTERLEAVED and (len(by_rank) > 1 or joint):
        even = _even_streams(by_rank, direction, nprocs, placement, joint)
        if even is not None:
            return even
    clusters: dict[tuple[tuple[Pair, ...], int], list[int]] = defaultdict(list)
    for rank, moved in by_rank.items():
        clusters[(tuple(moved.pairs), moved.collective_calls)].append(rank)
    limited = _limit_clusters(clusters)
    streams = joint
    everyone = sum(len(ranks) for _, _, ranks in limited) == nprocs
    for pairs, calls, ranks in limited:
        ranges = None if len(limited) == 1 and everyone else units.ranges_of(sorted(ranks))
        for part, collective in zip(split_collective(pairs, calls), (True, False), strict=True):
            if part:
                streams += placed(part, direction, placement, ranges, collective, len(ranks))
    return streams


def moved_by_rank(parts: Sequence[ModuleFacts], direction: Direction) -> dict[int, Moved]:
    """What each rank moved, over all files. Ranks that moved nothing are left out."""
    by_rank: dict[int, Moved] = {}
    for rank, moved in _moved_of_rows(parts, direction):
        known = by_rank.get(rank)
        if known is not None:
            moved = Moved(merged(known.pairs + moved.pairs), known.collective_calls + moved.collective_calls)
        by_rank[rank] = moved
    return {rank: Moved(merged(m.pairs), m.collective_calls) for rank, m in by_rank.items() if m.pairs}


def _moved_of_rows(parts: Sequence[ModuleFacts], direction: Direction) -> Iterator[tuple[int, Moved]]:
    if not parts:
        return
    if any(part.sizes for part in parts):  # a side file's sizes are those of one file
        for part in parts:
            yield from zip(part.ranks.tolist(), moved_by_rows(part, direction), strict=True)
        return
    joined = replace(
        parts[0],
        ids=np.concatenate([p.ids for p in parts]),
        ranks=np.concatenate([p.ranks for p in parts]),
        counters=np.concatenate([p.counters for p in parts]),
        fcounters=np.concatenate([p.fcounters for p in parts]),
        scope=None,
    )
    yield from zip(joined.ranks.tolist(), moved_by_rows(joined, direction), strict=True)


def _joint_calls(
    by_rank: dict[int, Moved], direction: Direction, nprocs: int, placement: Placement, one_file: bool
) -> tuple[list[Stream], dict[int, Moved]]:
    """The collective operations of all ranks as one stream, and the independent operations of each rank.

    A stream deals its operations to all ranks in turn, so a call may have several sizes. With several files each entry
    is dealt on its own, so there the sizes are cut into whole calls.
    """
    split = {rank: split_collective(moved.pairs, moved.collective_calls) for rank, moved in by_rank.items()}
    ranks = sorted(rank for rank, (collective, _) in split.items() if any(size for _, size in collective))
    calls = max(moved.collective_calls for moved in by_rank.values())
    pairs = merged([pair for rank in ranks for pair in split[rank][0]])
    independent_ops = {rank: Moved(independent, 0) for rank, (_, independent) in split.items() if independent}
    members = max(1, len(ranks))
    ranges = None if len(ranks) == nprocs or not ranks else units.ranges_of(ranks)
    own = _own_sizes([split[rank][0] for rank in ranks], calls)
    if one_file and own is not None and placement.pattern is Pattern.INTERLEAVED:
        stream = make_stream(own, direction, placement, ranges, True)
        sizes = [Entry(count=count, size=size) for count, size in own]  # in the order of the ranks
        return [stream.model_copy(update={"repeat": calls, "sizes": sizes})], independent_ops
    if one_file:
        entries = filled_calls(near_equal_merged(pairs, members), calls * members)
    else:
        entries, left = whole_calls(pairs, calls, members)
        if left:
            known = independent_ops[ranks[0]].pairs if ranks[0] in independent_ops else []
            independent_ops[ranks[0]] = Moved(merged(left + known), 0)
    return placed(entries, direction, placement, ranges, True, members), independent_ops


def _own_sizes(by_rank: Sequence[Sequence[Pair]], calls: int) -> list[Pair] | None:
    """The operations of one call, rank by rank, where each rank has a size of its own in all calls; else None."""
    if any(len(pairs) != 1 or pairs[0][0] != calls for pairs in by_rank):
        return None
    runs = [(sum(1 for _ in run), size) for size, run in groupby(pairs[0][1] for pairs in by_rank)]
    few = len(runs) <= THRESHOLDS.sizes_listed and len(runs) * calls <= THRESHOLDS.sizes_repeated
    return runs if len(runs) > 1 and few and calls <= MAX_REPEATS else None


def _even_streams(
    by_rank: dict[int, Moved], direction: Direction, nprocs: int, placement: Placement, joint: list[Stream]
) -> list[Stream] | None:
    """One stream for ranks that share a file in nearly equal parts, so that their order in the file is kept.

    Small operations of some ranks (headers) are streams of their own; they come first, then the collective streams
    `joint`. None when the largest part exceeds the smallest by more than a threshold allows.
    """
    large = {
        rank: [p for p in moved.pairs if p[1] > THRESHOLDS.small_operation] for rank, moved in by_rank.items()
    }
    bytes_of = {rank: sum(c * s for c, s in pairs) for rank, pairs in large.items() if pairs}
    if not bytes_of and not joint:
        return None
    if bytes_of and max(bytes_of.values()) > THRESHOLDS.ranks_even * min(bytes_of.values()):
        return None
    streams: list[Stream] = []
    for rank, moved in by_rank.items():
        small = [p for p in moved.pairs if p[1] <= THRESHOLDS.small_operation]
        if small:
            streams.append(make_stream(small, direction, CONTIGUOUS, [(rank, rank, 1)], False))
    streams = _merge_same_small(streams) + joint
    ranks = sorted(bytes_of)
    pairs = near_equal_merged(merged([p for rank in ranks for p in large[rank]]), len(ranks))
    ranges = None if len(ranks) == nprocs else units.ranges_of(ranks)
    return streams + (placed(pairs, direction, placement, ranges, False, len(ranks)) if pairs else [])


def _merge_same_small(streams: list[Stream]) -> list[Stream]:
    """Equal small streams of different ranks become one stream of all these ranks."""
    groups: dict[str, list[Stream]] = defaultdict(list)
    for stream in streams:
        groups[" ".join(entry_texts(stream.sizes))].append(stream)
    out = []
    for same in groups.values():
        ranks = sorted(r[0] for s in same for r in (s.ranks or []))
        sizes = [Entry(count=e.count * len(same), size=e.size) for e in same[0].sizes]
        out.append(same[0].model_copy(update={"ranks": units.ranges_of(ranks), "sizes": sizes}))
    return out


def _limit_clusters(
    clusters: dict[tuple[tuple[Pair, ...], int], list[int]],
) -> list[tuple[list[Pair], int, list[int]]]:
    """(pairs summed over a cluster's ranks, collective calls, ranks), with clusters of similar bytes joined if too many."""
    items = [
        (_times(pairs, len(ranks)), calls * len(ranks), ranks, sum(c * s for c, s in pairs))
        for (pairs, calls), ranks in clusters.items()
    ]
    items.sort(key=lambda item: (item[3], min(item[2])))
    if len(items) > THRESHOLDS.clusters_most:
        per = -(-len(items) // THRESHOLDS.clusters_most)
        items = [_union(items[i : i + per]) for i in range(0, len(items), per)]
    return [(pairs, calls, ranks) for pairs, calls, ranks, _ in sorted(items, key=lambda item: min(item[2]))]


def _union(
    items: Sequence[tuple[list[Pair], int, list[int], int]],
) -> tuple[list[Pair], int, list[int], int]:
    pairs = merged([p for item in items for p in item[0]])
    return pairs, sum(i[1] for i in items), [r for i in items for r in i[2]], items[0][3]


def _times(pairs: Sequence[Pair], n: int) -> list[Pair]:
    return [(count * n, size) for count, size in pairs]
