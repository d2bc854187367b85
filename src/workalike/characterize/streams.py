"""Records -> access streams: operations, sizes, ranks and where in the file they land."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.facts import MODULE_OF_LEVEL, FileFacts, IntArray, ModuleFacts
from workalike.characterize.sharing import effective_writers, root_of
from workalike.characterize.sizes import solve_sizes
from workalike.plan.scale import split_even
from workalike.workload import units
from workalike.workload.model import MAX_REPEATS, Assumption, Direction, Entry, Level, Pattern, Stream

BINS = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
MAX_CLUSTERS = 64
SMALL = 10240
CONSECUTIVE = 0.8
SEQUENTIAL = 0.5
SHARED_BY_ALL = 0.8
EVEN = 1.1
NEAR = 1.02

Pair = tuple[int, int]
Ranges = list[tuple[int, int, int]] | None


@dataclass
class Moved:
    """What a set of records moved in one direction."""

    pairs: list[Pair]
    collective_calls: int  # summed over ranks

    @property
    def operations(self) -> int:
        return sum(count for count, _ in self.pairs)

    @property
    def bytes(self) -> int:
        return sum(count * size for count, size in self.pairs)


def operations_of(facts: ModuleFacts, direction: Direction) -> int:
    """Read or write calls of a module, all kinds."""
    kind = "READS" if direction is Direction.READ else "WRITES"
    if facts.module == "MPI-IO":
        return sum(facts.total(f"{how}_{kind}") for how in ("INDEP", "COLL", "SPLIT", "NB"))
    if facts.module == "PNETCDF_VAR":
        return sum(facts.total(f"{how}_{kind}") for how in ("INDEP", "COLL", "NB"))
    return facts.total(kind)


def collective_of(facts: ModuleFacts, direction: Direction) -> int:
    kind = "READS" if direction is Direction.READ else "WRITES"
    if facts.module == "H5D":
        collective = facts.column("USE_MPIIO_COLLECTIVE") > 0
        return int(facts.column(kind)[collective].clip(min=0).sum())
    if facts.module in ("MPI-IO", "PNETCDF_VAR"):
        return facts.total(f"COLL_{kind}") + facts.total(f"SPLIT_{kind}")
    return 0


def moved_by(facts: ModuleFacts, direction: Direction) -> Moved:
    """Sizes solved from the records' histograms and common sizes; STDIO has only operations and bytes."""
    kind = "READ" if direction is Direction.READ else "WRITE"
    total = facts.total("BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN")
    operations = operations_of(facts, direction)
    if facts.module == "STDIO":
        return Moved(split_even(total, operations), 0)
    infix = "" if facts.module == "POSIX" else "_AGG"
    bins = [facts.total(f"SIZE_{kind}{infix}_{name}") for name in BINS]
    if sum(bins) != operations and operations:
        bins = bins if sum(bins) else [0] * 10
    if not sum(bins):
        return Moved(split_even(total, operations), collective_of(facts, direction))
    pairs = solve_sizes(bins, common_sizes(facts), total)
    return Moved(pairs, collective_of(facts, direction))


def common_sizes(facts: ModuleFacts) -> list[Pair]:
    """(size, count) summed over the records."""
    counts: dict[int, int] = defaultdict(int)
    for i in range(1, 5):
        values, times = facts.column(f"ACCESS{i}_ACCESS"), facts.column(f"ACCESS{i}_COUNT")
        for size, count in zip(values.tolist(), times.tolist(), strict=True):
            if count > 0 and size >= 0:
                counts[size] += count
    return sorted(counts.items())


def rows_of(facts: ModuleFacts, rows: IntArray) -> ModuleFacts:
    """Some records of a module's facts."""
    return ModuleFacts(
        facts.module,
        facts.ids[rows],
        facts.ranks[rows],
        facts.counters[rows],
        facts.fcounters[rows],
        facts.counter_names,
        facts.fcounter_names,
        facts.partial,
    )


def build_streams(
    files: Sequence[FileFacts], level: Level, direction: Direction, nprocs: int
) -> tuple[list[Stream], list[Assumption]]:
    """The streams of one direction of a dump.

    Records of single ranks are clustered by what they moved; a reduced record stands for all ranks, save
    what the variance says to be one rank's.
    """
    parts = [f.modules[MODULE_OF_LEVEL[level]] for f in files if MODULE_OF_LEVEL[level] in f.modules]
    parts = [p for p in parts if operations_of(p, direction)]
    if not parts:
        return [], []
    placement = place_of(files, level, direction)
    reduced = [rows_of(p, np.flatnonzero(p.ranks < 0)) for p in parts]
    single = [rows_of(p, np.flatnonzero(p.ranks >= 0)) for p in parts]
    streams: list[Stream] = []
    assumed: list[Assumption] = [Assumption.PLACEMENT]
    for facts in reduced:
        if len(facts.ranks) and operations_of(facts, direction):
            some, why = _reduced_streams(facts, direction, nprocs, placement)
            streams += some
            assumed += why
    streams += _single_rank_streams(single, direction, nprocs, placement)
    return streams, list(dict.fromkeys(assumed))


@dataclass(frozen=True)
class Placement:
    """Where operations land, from the lowest level's counters of the same files."""

    pattern: Pattern
    stride: int = 0
    pieces_per_rank: float = 1.0  # separate contiguous pieces of a rank, in the interleaved case


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
    collective, independent = _split_collective(rest, moved.collective_calls)
    members = nprocs if ranges is None else units.count_ranks(ranges)
    for pairs, together in ((collective, True), (independent, False)):
        if pairs:
            streams += _placed(pairs, direction, placement, ranges, together, members)
    return streams, assumed


def _split_few(moved: Moved, nprocs: int) -> tuple[list[Pair], list[Pair]]:
    """Small operations fewer than the ranks are one rank's: headers and metadata, written by rank 0."""
    if nprocs <= 1 or moved.operations < nprocs:
        return [], moved.pairs
    few, rest = [], []
    independent = moved.operations - moved.collective_calls
    for count, size in moved.pairs:
        if size <= SMALL and count < nprocs and count <= independent:
            few.append((count, size))
            independent -= count
        else:
            rest.append((count, size))
    return (few, rest) if rest else ([], moved.pairs)


def _split_collective(pairs: list[Pair], collective_calls: int) -> tuple[list[Pair], list[Pair]]:
    """The largest sizes are the collective ones, as many operations as there were collective calls."""
    collective: list[Pair] = []
    independent: list[Pair] = []
    left = collective_calls
    for count, size in sorted(pairs, key=lambda p: -p[1]):
        together = min(count, left)
        left -= together
        if together:
            collective.append((together, size))
        if count - together:
            independent.append((count - together, size))
    return collective[::-1], independent[::-1]


def _spread_ranks(count: int, nprocs: int) -> Ranges:
    if count >= nprocs:
        return None
    return units.ranges_of(sorted({i * nprocs // count for i in range(count)}))


def _single_rank_streams(
    parts: Sequence[ModuleFacts], direction: Direction, nprocs: int, placement: Placement
) -> list[Stream]:
    by_rank: dict[int, Moved] = {}
    for facts in parts:
        for row, rank in enumerate(facts.ranks.tolist()):
            moved = moved_by(rows_of(facts, np.array([row])), direction)
            known = by_rank.get(rank, Moved([], 0))
            by_rank[rank] = Moved(_merged(known.pairs + moved.pairs), known.collective_calls + moved.collective_calls)
    by_rank = {rank: moved for rank, moved in by_rank.items() if moved.pairs}
    if placement.pattern is Pattern.INTERLEAVED and len(by_rank) > 1:
        even = _even_streams(by_rank, direction, nprocs, placement)
        if even is not None:
            return even
    clusters: dict[tuple[tuple[Pair, ...], int], list[int]] = defaultdict(list)
    for rank, moved in by_rank.items():
        clusters[(tuple(moved.pairs), moved.collective_calls)].append(rank)
    merged = _limit_clusters(clusters)
    streams = []
    everyone = sum(len(ranks) for _, _, ranks in merged) == nprocs
    for pairs, calls, ranks in merged:
        ranges = None if len(merged) == 1 and everyone else units.ranges_of(sorted(ranks))
        collective, independent = _split_collective(list(pairs), calls)
        for some, together in ((collective, True), (independent, False)):
            if some:
                streams += _placed(some, direction, placement, ranges, together, len(ranks))
    return streams


def _even_streams(
    by_rank: dict[int, Moved], direction: Direction, nprocs: int, placement: Placement
) -> list[Stream] | None:
    """Ranks that share a file in (nearly) equal parts are one stream, so that their order in the file is kept.

    Small operations that only some ranks have (headers) are streams of their own before it. None when the parts
    differ by more than a few per cent.
    """
    large = {rank: [p for p in moved.pairs if p[1] > SMALL] for rank, moved in by_rank.items()}
    bytes_of = {rank: sum(c * s for c, s in pairs) for rank, pairs in large.items() if pairs}
    if not bytes_of or max(bytes_of.values()) > EVEN * min(bytes_of.values()):
        return None
    streams: list[Stream] = []
    for rank, moved in by_rank.items():
        small = [p for p in moved.pairs if p[1] <= SMALL]
        if small:
            alone = Placement(Pattern.CONTIGUOUS)
            streams.append(_stream(small, direction, alone, [(rank, rank, 1)], False))
    streams = _merge_same_small(streams)
    ranks = sorted(bytes_of)
    pairs = _merged([p for rank in ranks for p in large[rank]])
    calls = min(sum(by_rank[rank].collective_calls for rank in ranks), sum(c for c, _ in pairs))
    ranges = None if len(ranks) == nprocs else units.ranges_of(ranks)
    collective, independent = _split_collective(_near_equal_merged(pairs, len(ranks)), calls)
    for some, together in ((collective, True), (independent, False)):
        if some:
            streams += _placed(some, direction, placement, ranges, together, len(ranks))
    return streams


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
    streams = [_stream(once, direction, segmented, ranges, collective).model_copy(update={"repeat": segments})] if once else []
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
    pairs = _merged([p for item in items for p in item[0]])
    return pairs, sum(i[1] for i in items), [r for i in items for r in i[2]], items[0][3]


def _times(pairs: Sequence[Pair], n: int) -> list[Pair]:
    return [(count * n, size) for count, size in pairs]


def _merged(pairs: Sequence[Pair]) -> list[Pair]:
    counts: dict[int, int] = defaultdict(int)
    for count, size in pairs:
        counts[size] += count
    return [(count, size) for size, count in sorted(counts.items())]


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
        stride=max(placement.stride, max(e.size for e in sizes)) if placement.pattern is Pattern.STRIDED else 0,
    )
