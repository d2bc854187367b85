"""Records -> access streams: operations, sizes, ranks and where in the file they land."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from workalike.characterize.calls import filled_calls, split_collective, whole_calls
from workalike.characterize.facts import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.characterize.moved import (
    Moved,
    Pair,
    bytes_name,
    collective_of,
    few_sizes,
    merged,
    moved_by,
    moved_by_rows,
    operations_of,
)
from workalike.characterize.placement import Placement
from workalike.characterize.sharing import effective_writers, root_of
from workalike.characterize.traced import Trace, contiguous_runs, moved_in_trace, placement_in_trace
from workalike.plan.scale import split_even
from workalike.workload import units
from workalike.workload.model import MAX_REPEATS, Assumption, Direction, Entry, Level, Pattern, Stream

MAX_CLUSTERS = 64
MAX_SIZES = 24
SMALL = 10240
CONSECUTIVE = 0.8
SEQUENTIAL = 0.5
SHARED_BY_ALL = 0.8
EVEN = 1.25
ALTERNATES = 0.5
NEAR = 1.02

Ranges = list[tuple[int, int, int]] | None


def build_streams(
    files: Sequence[FileFacts],
    level: Level,
    direction: Direction,
    nprocs: int,
    traced: Sequence[Trace] | None = None,
) -> tuple[list[Stream], list[Assumption]]:
    """The streams of one direction of a dump.

    Complete traces of the files (or of a part of their operations) tell exactly who moved what where. Otherwise
    records of single ranks are clustered by what they moved; a reduced record stands for all ranks, save what the
    variance says to be one rank's.
    """
    parts = [f.modules[MODULE_OF_LEVEL[level]] for f in files if MODULE_OF_LEVEL[level] in f.modules]
    parts = [p for p in parts if operations_of(p, direction) or p.total(bytes_name(direction))]
    if not parts:
        return [], []
    placement = place_of(files, level, direction)
    if traced:
        return _traced_streams(traced, parts, direction, nprocs, placement)
    if direction is Direction.READ and _modifies(files, level):
        over = _reads_over_writes(files, level, nprocs, parts)
        if over is not None:
            return over, [Assumption.PLACEMENT]
    streams: list[Stream] = []
    assumed: list[Assumption] = [Assumption.PLACEMENT]
    for part in parts:
        for facts, first, members in _reduced_parts(part, nprocs):
            some, why = _reduced_streams(facts, direction, members, placement)
            streams += some if members == nprocs else [_of_log(stream, first, members) for stream in some]
            assumed += why
    single = [p if (p.ranks >= 0).all() else p.rows(np.flatnonzero(p.ranks >= 0)) for p in parts]
    single = [p for p in single if len(p.ranks)]
    by_rank = _moved_by_rank(single, direction)
    shared = any(len(facts.ranks) > 1 for facts in single)
    streams += _streams_of_ranks(by_rank, direction, nprocs, placement, len(single), shared)
    if direction is Direction.READ and len(files) == 1 and any(p.total("BYTES_WRITTEN") for p in parts):
        streams = _inside(streams, _largest_read(files[0]), nprocs)
    return streams, list(dict.fromkeys(assumed))


def _reads_over_writes(
    files: Sequence[FileFacts], level: Level, nprocs: int, parts: Sequence[ModuleFacts]
) -> list[Stream] | None:
    """Reads of a read-modify-write: whole repetitions of the writes' stream, then what is left of the reads.

    Reads at the growing end of the file return nothing: they are fewer than the writes, which ones no counter tells.
    None when the writes are not repetitions of one stream.
    """
    writes, _ = build_streams(files, level, Direction.WRITE, nprocs)
    main = max(writes, key=lambda s: s.repeat * sum(e.count * e.size for e in s.sizes), default=None)
    if main is None or main.repeat == 1 or main.collective:
        return None
    moved = [moved_by(facts, Direction.READ) for facts in parts]
    empty = sum(count for m in moved for count, size in m.pairs if size <= SMALL)
    few = sum(count * size for m in moved for count, size in m.pairs if size <= SMALL)
    operations = sum(m.operations for m in moved) - empty
    n = nprocs if main.ranks is None else units.count_ranks(main.ranks)
    once = sum(e.total(n) * e.size for e in main.sizes)
    each = sum(e.total(n) for e in main.sizes)
    total = sum(m.bytes for m in moved) - few
    whole = min(total // once, operations // each, main.repeat)
    rest = split_even(total - whole * once, operations - whole * each)
    streams = (
        [main.model_copy(update={"direction": Direction.READ, "repeat": whole, "base": None})]
        if whole
        else []
    )
    for pairs in (rest, split_even(few, empty)):
        if pairs:
            entries = [Entry(count=count, size=size) for count, size in pairs]
            streams.append(
                main.model_copy(
                    update={"direction": Direction.READ, "repeat": 1, "base": None, "sizes": entries}
                )
            )
    return streams


def _largest_read(file: FileFacts) -> int:
    """One past the largest byte read, 0 where no module tells."""
    return max(
        (m.largest("MAX_BYTE_READ") + 1 for n, m in file.modules.items() if n in ("POSIX", "STDIO")),
        default=0,
    )


def _inside(streams: list[Stream], extent: int, nprocs: int) -> list[Stream]:
    """Reads beyond the largest byte that was read are reads again from the start (a header read twice).

    An input is made as long as the replica reads; what the run itself has written ends where it ends.
    """
    out: list[Stream] = []
    end = 0
    for stream in streams:
        if (
            stream.collective
            or stream.base is not None
            or stream.repeat > 1
            or stream.pattern not in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED)
        ):
            return streams
        n = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
        kept: list[Pair] = []
        again: list[Pair] = []
        for count, size in ((e.total(n), e.size) for e in stream.sizes):
            fit = count if size == 0 else min(count, max(0, extent - end) // size)
            end += fit * size
            kept += [(fit, size)] if fit else []
            again += [(count - fit, size)] if count - fit else []
        for pairs, base in ((kept, None), (again, 0)):
            if pairs:
                entries = [Entry(count=count, size=size) for count, size in pairs]
                out.append(stream.model_copy(update={"sizes": entries, "base": base}))
    return out if extent > 1 else streams


def _traced_streams(
    traced: Sequence[Trace],
    parts: Sequence[ModuleFacts],
    direction: Direction,
    nprocs: int,
    placement: Placement,
) -> tuple[list[Stream], list[Assumption]]:
    """Streams of traced files, one or one a rank; `placement` (of the counters) holds where the trace has no offsets."""
    calls = _calls_of_ranks(parts, direction, nprocs)
    runs = contiguous_runs(traced[0]) if len(traced) == 1 and not any(calls.values()) else None
    if runs is not None:
        rank = int(traced[0].ranks[0])
        return [_run(base, pairs, direction, rank, nprocs) for base, pairs in runs], []
    # Of a part of the operations (one state) the same part is collective.
    part = Fraction(sum(map(len, traced)), max(1, sum(operations_of(facts, direction) for facts in parts)))
    by_rank: dict[int, Moved] = {}
    for trace in traced:
        for rank, pairs in moved_in_trace(trace).items():
            known = by_rank[rank].pairs if rank in by_rank else []
            by_rank[rank] = Moved(merged(known + pairs), 0)
    for rank, moved in by_rank.items():
        moved.collective_calls = min(moved.operations, round(calls.get(rank, calls.get(-1, 0)) * part))
        moved.pairs = few_sizes(moved.pairs, MAX_SIZES)
    places = {placement_in_trace(trace) for trace in traced}
    known_place = places.pop() if len(places) == 1 else None
    shared = any(len(set(trace.ranks.tolist())) > 1 for trace in traced)
    streams = _streams_of_ranks(by_rank, direction, nprocs, known_place or placement, len(traced), shared)
    return streams, [] if known_place is not None else [Assumption.PLACEMENT]


def _calls_of_ranks(parts: Sequence[ModuleFacts], direction: Direction, nprocs: int) -> dict[int, int]:
    """Collective calls of each rank; -1 stands for every rank of a reduced record."""
    calls: dict[int, int] = defaultdict(int)
    for facts in parts:
        for row, rank in enumerate(facts.ranks.tolist()):
            found = collective_of(facts.rows(np.array([row])), direction)
            calls[rank] += found if rank >= 0 else -(-found // nprocs)
    return calls


def _run(base: int, pairs: list[Pair], direction: Direction, rank: int, nprocs: int) -> Stream:
    """A contiguous run of one rank at its place in the file."""
    ranges: Ranges = [(rank, rank, 1)] if nprocs > 1 else None
    stream = _stream(few_sizes(pairs, MAX_SIZES), direction, Placement(Pattern.CONTIGUOUS), ranges, False)
    return stream.model_copy(update={"base": base})


def _reduced_parts(facts: ModuleFacts, nprocs: int) -> Iterator[tuple[ModuleFacts, int, int]]:
    """The reduced records with the ranks that they stand for: (records, first rank, number of ranks).

    All ranks of the job, or those of one log where the job has several.
    """
    rows = np.flatnonzero(facts.ranks < 0)
    if not len(rows):
        return
    if facts.scope is None:
        yield facts.rows(rows), 0, nprocs
        return
    for first, members in np.unique(facts.scope[rows], axis=0).tolist():
        yield facts.rows(rows[(facts.scope[rows] == [first, members]).all(axis=1)]), first, members


def _of_log(stream: Stream, first: int, members: int) -> Stream:
    """A stream of one log's ranks in the ranks of the whole job."""
    inside = stream.ranks or [(0, members - 1, 1)]
    return stream.model_copy(update={"ranks": [(a + first, b + first, step) for a, b, step in inside]})


@dataclass(frozen=True)
class _Offsets:
    """What the POSIX counters of a dump's files say of offsets, one direction."""

    files: int
    ranks: int  # accessing ranks, over all files
    operations: int
    moved: int
    consecutive: int
    sequential: int
    extent: int  # of the largest file


def place_of(files: Sequence[FileFacts], level: Level, direction: Direction) -> Placement:
    """Pattern from the share of consecutive and sequential operations (facts B, "Strides").

    A rank's operations fall into as many contiguous pieces as it has operations that do not follow the one before:
    one piece is a region of its own, a piece an operation is round-robin, between them lie segments.
    """
    if direction is Direction.READ and _modifies(files, level):
        return place_of(files, level, Direction.WRITE)
    seen = _offsets(files, level, direction)
    if seen is None or seen.operations <= 2 * seen.files:
        return Placement(Pattern.CONTIGUOUS)
    one_rank = seen.ranks <= seen.files
    covers = seen.moved >= 0.9 * seen.extent * seen.files
    if direction is Direction.READ and not one_rank and seen.moved > 1.5 * seen.extent * seen.files:
        return Placement(Pattern.REPLICATED)
    if seen.consecutive >= CONSECUTIVE * seen.operations and one_rank:
        return Placement(Pattern.CONTIGUOUS)
    if seen.sequential < SEQUENTIAL * seen.operations:
        return Placement(Pattern.RANDOM)
    if one_rank:
        if covers:
            return Placement(Pattern.CONTIGUOUS)
        return Placement(Pattern.STRIDED, stride=max(1, seen.extent * seen.files // seen.operations))
    pieces = max(1.0, (seen.operations - seen.consecutive) / seen.ranks)
    return Placement(Pattern.INTERLEAVED, pieces_per_rank=pieces)


def _modifies(files: Sequence[FileFacts], level: Level) -> bool:
    """Read-modify-write: reads and writes alternate, so what is read lies where it is then written."""
    if level is Level.STDIO:
        return False
    posix = [f.modules["POSIX"] for f in files if "POSIX" in f.modules]
    reads, writes = (sum(p.total(kind) for p in posix) for kind in ("READS", "WRITES"))
    switches = sum(p.total("RW_SWITCHES") for p in posix)
    shared = any((p.ranks < 0).any() or len(p.ranks) > 1 for p in posix)
    return shared and 0.9 * writes <= reads <= writes and switches >= ALTERNATES * (reads + writes)


def _offsets(files: Sequence[FileFacts], level: Level, direction: Direction) -> _Offsets | None:
    posix = [f.modules["POSIX"] for f in files if "POSIX" in f.modules and level is not Level.STDIO]
    kind = "READS" if direction is Direction.READ else "WRITES"
    size = "BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN"
    largest = "MAX_BYTE_READ" if direction is Direction.READ else "MAX_BYTE_WRITTEN"
    posix = [p for p in posix if p.total(kind)]
    if not posix:
        return None
    return _Offsets(
        files=len(posix),
        ranks=sum(_accessing_ranks(p, kind, nprocs=files[0].nprocs) for p in posix),
        operations=sum(p.total(kind) for p in posix),
        moved=sum(p.total(size) for p in posix),
        consecutive=sum(p.total(f"CONSEC_{kind}") for p in posix),
        sequential=sum(p.total(f"SEQ_{kind}") for p in posix),
        extent=max(p.largest(largest) for p in posix) + 1,
    )


def _accessing_ranks(posix: ModuleFacts, kind: str, nprocs: int) -> int:
    if (posix.ranks < 0).any():
        return nprocs
    return len(set(posix.ranks[posix.column(kind) > 0].tolist()))


def _reduced_streams(
    facts: ModuleFacts, direction: Direction, nprocs: int, placement: Placement
) -> tuple[list[Stream], list[Assumption]]:
    moved = moved_by(facts, direction)
    both = facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN")
    root = root_of(facts, nprocs, both)
    assumed = [Assumption.SIZES] if len(moved.pairs) > 4 else []
    if root is not None:
        # What one rank moved alone; the other ranks of a collective call join with zero bytes.
        ranges: Ranges = [(root, root, 1)]
        return [_stream(moved.pairs, direction, Placement(_alone(placement.pattern)), ranges, False)], assumed
    independent_few, rest = _split_few(moved, nprocs)
    streams = []
    if independent_few:
        streams.append(_stream(independent_few, direction, Placement(Pattern.CONTIGUOUS), [(0, 0, 1)], False))
        assumed.append(Assumption.RANK_SHARES)
    if not rest:
        return streams, assumed
    writers = effective_writers(facts, nprocs, both)
    ranges = None
    if moved.collective_calls == 0 and writers < SHARED_BY_ALL * nprocs:
        ranges = _spread_ranks(max(1, round(writers)), nprocs)
        assumed.append(Assumption.RANK_SHARES)
    together, alone = split_collective(rest, moved.collective_calls)
    if together:
        calls = -(-moved.collective_calls // nprocs)
        streams += _joint_stream(together, calls, writers, nprocs, direction, placement)
    members = nprocs if ranges is None else units.count_ranks(ranges)
    if alone:
        streams += _placed(alone, direction, placement, ranges, False, members)
    return streams, assumed


def _joint_stream(
    pairs: list[Pair], calls: int, writers: float, nprocs: int, direction: Direction, placement: Placement
) -> list[Stream]:
    """Collective operations of all ranks, of which few have data where the variance says so."""
    data = sum(count for count, size in pairs if size)
    active = max(round(writers), -(-data // calls), 1)
    ranges = _spread_ranks(active, nprocs) if active < SHARED_BY_ALL * nprocs else None
    members = nprocs if ranges is None else units.count_ranks(ranges)
    entries = filled_calls(_near_equal_merged(pairs, members), calls * members)
    return _placed(entries, direction, placement, ranges, True, members)


def _split_few(moved: Moved, nprocs: int) -> tuple[list[Pair], list[Pair]]:
    """Small operations fewer than the ranks are one rank's: headers and metadata, written by rank 0."""
    if nprocs <= 1 or moved.operations < nprocs:
        return [], moved.pairs
    few, rest = [], []
    independent = moved.operations - moved.collective_calls
    for count, size in moved.pairs:
        empty_join = size == 0 and moved.collective_calls > 0
        if size <= SMALL and count < nprocs and count <= independent and not empty_join:
            few.append((count, size))
            independent -= count
        else:
            rest.append((count, size))
    return (few, rest) if rest else ([], moved.pairs)


def _spread_ranks(count: int, nprocs: int) -> Ranges:
    if count >= nprocs:
        return None
    return units.ranges_of(sorted({i * nprocs // count for i in range(count)}))


def _streams_of_ranks(
    by_rank: dict[int, Moved],
    direction: Direction,
    nprocs: int,
    placement: Placement,
    files: int,
    shared: bool,
) -> list[Stream]:
    """Streams of what each rank is known to have moved, in `files` files, of which some are `shared`."""
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
    few = _limit_clusters(clusters)
    streams = joint
    everyone = sum(len(ranks) for _, _, ranks in few) == nprocs
    for pairs, calls, ranks in few:
        ranges = None if len(few) == 1 and everyone else units.ranges_of(sorted(ranks))
        for some, together in zip(split_collective(pairs, calls), (True, False), strict=True):
            if some:
                streams += _placed(some, direction, placement, ranges, together, len(ranks))
    return streams


def _moved_by_rank(parts: Sequence[ModuleFacts], direction: Direction) -> dict[int, Moved]:
    """What each rank moved, over all files; ranks that moved nothing are left out."""
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
    together = replace(
        parts[0],
        ids=np.concatenate([p.ids for p in parts]),
        ranks=np.concatenate([p.ranks for p in parts]),
        counters=np.concatenate([p.counters for p in parts]),
        fcounters=np.concatenate([p.fcounters for p in parts]),
        scope=None,
    )
    yield from zip(together.ranks.tolist(), moved_by_rows(together, direction), strict=True)


def _joint_calls(
    by_rank: dict[int, Moved], direction: Direction, nprocs: int, placement: Placement, one_file: bool
) -> tuple[list[Stream], dict[int, Moved]]:
    """The collective operations of all ranks as one stream, and what each rank did by itself.

    A stream deals its operations to all ranks in turn, so a call may hold several sizes; of several files each entry
    is dealt apart, so there the sizes are cut into whole calls.
    """
    apart = {rank: split_collective(moved.pairs, moved.collective_calls) for rank, moved in by_rank.items()}
    ranks = sorted(rank for rank, (together, _) in apart.items() if any(size for _, size in together))
    calls = max(moved.collective_calls for moved in by_rank.values())
    pairs = merged([pair for rank in ranks for pair in apart[rank][0]])
    alone = {rank: Moved(independent, 0) for rank, (_, independent) in apart.items() if independent}
    members = max(1, len(ranks))
    if one_file:
        entries = filled_calls(_near_equal_merged(pairs, members), calls * members)
    else:
        entries, left = whole_calls(pairs, calls, members)
        if left:
            known = alone[ranks[0]].pairs if ranks[0] in alone else []
            alone[ranks[0]] = Moved(merged(left + known), 0)
    ranges = None if len(ranks) == nprocs or not ranks else units.ranges_of(ranks)
    return _placed(entries, direction, placement, ranges, True, members), alone


def _even_streams(
    by_rank: dict[int, Moved], direction: Direction, nprocs: int, placement: Placement, joint: list[Stream]
) -> list[Stream] | None:
    """Ranks that share a file in (nearly) equal parts are one stream, so that their order in the file is kept.

    Small operations that only some ranks have (headers) are streams of their own before it and before the `joint`
    collective ones. None when the parts differ by more than a few per cent.
    """
    large = {rank: [p for p in moved.pairs if p[1] > SMALL] for rank, moved in by_rank.items()}
    bytes_of = {rank: sum(c * s for c, s in pairs) for rank, pairs in large.items() if pairs}
    if not bytes_of and not joint:
        return None
    if bytes_of and max(bytes_of.values()) > EVEN * min(bytes_of.values()):
        return None
    streams: list[Stream] = []
    for rank, moved in by_rank.items():
        small = [p for p in moved.pairs if p[1] <= SMALL]
        if small:
            alone = Placement(Pattern.CONTIGUOUS)
            streams.append(_stream(small, direction, alone, [(rank, rank, 1)], False))
    streams = _merge_same_small(streams) + joint
    ranks = sorted(bytes_of)
    pairs = _near_equal_merged(merged([p for rank in ranks for p in large[rank]]), len(ranks))
    ranges = None if len(ranks) == nprocs else units.ranges_of(ranks)
    return streams + (_placed(pairs, direction, placement, ranges, False, len(ranks)) if pairs else [])


def _merge_same_small(streams: list[Stream]) -> list[Stream]:
    """Equal small streams of different ranks become one of their set of ranks."""
    groups: dict[str, list[Stream]] = defaultdict(list)
    for stream in streams:
        groups[" ".join(e.text() for e in stream.sizes)].append(stream)
    out = []
    for same in groups.values():
        ranks = sorted(r[0] for s in same for r in (s.ranks or []))
        sizes = [Entry(count=e.count * len(same), size=e.size) for e in same[0].sizes]
        out.append(same[0].model_copy(update={"ranks": units.ranges_of(ranks), "sizes": sizes}))
    return out


def _near_equal_merged(pairs: list[Pair], members: int) -> list[Pair]:
    """Sizes within a few per cent of each other become one size (two neighbouring ones, to keep the bytes).

    In a library's dataset the ranks' pieces differ a little; as sizes of their own they would not interleave.
    """
    out: list[Pair] = []
    group: list[Pair] = []
    for count, size in [*sorted(pairs, key=lambda p: p[1]), (0, 0)]:
        if group and (size == 0 or size > NEAR * group[0][1]):
            if len(group) > 2 and all(c % members for c, _ in group):
                out += split_even(sum(c * s for c, s in group), sum(c for c, _ in group))
            else:
                out += group
            group = []
        if count:
            group.append((count, size))
    return out


def _placed(
    pairs: Sequence[Pair],
    direction: Direction,
    placement: Placement,
    ranges: Ranges,
    collective: bool,
    members: int,
) -> list[Stream]:
    """A stream laid out as the placement says; segments become repetitions of a contiguous stream."""
    operations = sum(count for count, _ in pairs)
    if not operations:
        return []
    segments = round(placement.pieces_per_rank)
    per_rank = operations / max(1, members)
    if placement.pattern is not Pattern.INTERLEAVED or collective or segments >= 0.75 * per_rank:
        return [_stream(pairs, direction, placement, ranges, collective)]
    segmented = Placement(Pattern.CONTIGUOUS)
    if segments <= 1:
        return [_stream(pairs, direction, segmented, ranges, collective)]
    segments = min(segments, MAX_REPEATS)
    once = [(count // segments, size) for count, size in pairs if count >= segments]
    rest = [(count % segments, size) for count, size in pairs if count % segments]
    streams = (
        [_stream(once, direction, segmented, ranges, collective).model_copy(update={"repeat": segments})]
        if once
        else []
    )
    if rest:
        streams.append(_stream(rest, direction, segmented, ranges, collective))
    return streams


def _limit_clusters(
    clusters: dict[tuple[tuple[Pair, ...], int], list[int]],
) -> list[tuple[list[Pair], int, list[int]]]:
    """(pairs summed over the cluster's ranks, collective calls, ranks); at most MAX_CLUSTERS, by bytes."""
    items = [
        (_times(pairs, len(ranks)), calls * len(ranks), ranks, sum(c * s for c, s in pairs))
        for (pairs, calls), ranks in clusters.items()
    ]
    items.sort(key=lambda item: (item[3], min(item[2])))
    if len(items) > MAX_CLUSTERS:
        per = -(-len(items) // MAX_CLUSTERS)
        items = [_union(items[i : i + per]) for i in range(0, len(items), per)]
    return [(pairs, calls, ranks) for pairs, calls, ranks, _ in sorted(items, key=lambda item: min(item[2]))]


def _union(
    items: Sequence[tuple[list[Pair], int, list[int], int]],
) -> tuple[list[Pair], int, list[int], int]:
    pairs = merged([p for item in items for p in item[0]])
    return pairs, sum(i[1] for i in items), [r for i in items for r in i[2]], items[0][3]


def _times(pairs: Sequence[Pair], n: int) -> list[Pair]:
    return [(count * n, size) for count, size in pairs]


def _alone(pattern: Pattern) -> Pattern:
    return Pattern.CONTIGUOUS if pattern is Pattern.INTERLEAVED else pattern


def _stream(
    pairs: Sequence[Pair], direction: Direction, placement: Placement, ranges: Ranges, collective: bool
) -> Stream:
    if placement.pattern is Pattern.INTERLEAVED:
        # The counters do not tell the order of rounds; the main variables usually come first.
        pairs = sorted(pairs, key=lambda p: -p[0])
    sizes = [Entry(count=count, size=size) for count, size in pairs if count]
    return Stream(
        direction=direction,
        sizes=sizes,
        pattern=placement.pattern,
        ranks=ranges,
        collective=collective,
        stride=max(placement.stride, max(e.size for e in sizes))
        if placement.pattern is Pattern.STRIDED
        else 0,
    )
