"""Access streams from operations by size: their ranks, layout and segments."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.facts.counters import Pair
from workalike.facts.placement import CONTIGUOUS, Placement
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even
from workalike.workload import units
from workalike.workload.model import MAX_OPERATION_BYTES, MAX_REPEATS, Direction, Entry, Pattern, Stream

Ranges = list[tuple[int, int, int]] | None


def make_stream(
    pairs: Sequence[Pair], direction: Direction, placement: Placement, ranges: Ranges, collective: bool
) -> Stream:
    if placement.pattern is Pattern.INTERLEAVED:
        # The counters do not show the order of rounds; the main variables usually come first.
        pairs = sorted(pairs, key=lambda p: -p[0])
    sizes = [Entry(count=count, size=size) for count, size in pairs if count]
    return Stream(
        direction=direction,
        sizes=sizes,
        pattern=placement.pattern,
        ranks=ranges,
        collective=collective,
        stride=min(MAX_OPERATION_BYTES, max(placement.stride, *(e.size for e in sizes)))
        if placement.pattern is Pattern.STRIDED
        else _round(placement, sizes),
    )


def _round(placement: Placement, sizes: Sequence[Entry]) -> int:
    """The distance of the rounds of interleaved operations, where these have one size."""
    fits = len(sizes) == 1 and sizes[0].size <= placement.stride <= MAX_OPERATION_BYTES
    return placement.stride if placement.pattern is Pattern.INTERLEAVED and fits else 0


def placed(
    pairs: Sequence[Pair],
    direction: Direction,
    placement: Placement,
    ranges: Ranges,
    collective: bool,
    members: int,
) -> list[Stream]:
    """Streams with the layout of the placement. Segments become repetitions of a contiguous stream."""
    operations = sum(count for count, _ in pairs)
    if not operations:
        return []
    segments = round(placement.pieces_per_rank)
    per_rank = operations / max(1, members)
    if (
        placement.pattern is not Pattern.INTERLEAVED
        or collective
        or segments >= THRESHOLDS.segments_interleaved * per_rank
    ):
        return [make_stream(pairs, direction, placement, ranges, collective)]
    if segments <= 1:
        return [make_stream(pairs, direction, CONTIGUOUS, ranges, collective)]
    segments = min(segments, MAX_REPEATS)
    per_segment = [(count // segments, size) for count, size in pairs if count >= segments]
    rest = [(count % segments, size) for count, size in pairs if count % segments]
    streams = (
        [
            make_stream(per_segment, direction, CONTIGUOUS, ranges, collective).model_copy(
                update={"repeat": segments}
            )
        ]
        if per_segment
        else []
    )
    if rest:
        streams.append(make_stream(rest, direction, CONTIGUOUS, ranges, collective))
    return streams


def near_equal_merged(pairs: list[Pair], members: int) -> list[Pair]:
    """The pairs, with sizes within a few per cent of each other made one size, or two adjacent ones to keep the bytes.

    The ranks' pieces of a library's dataset differ slightly in size; as different sizes they would not interleave.
    """
    out: list[Pair] = []
    group: list[Pair] = []
    for count, size in [*sorted(pairs, key=lambda p: p[1]), (0, 0)]:
        if group and (size == 0 or size > THRESHOLDS.near_sizes * group[0][1]):
            if len(group) > 2 and all(c % members for c, _ in group):
                out += split_even(sum(c * s for c, s in group), sum(c for c, _ in group))
            else:
                out += group
            group = []
        if count:
            group.append((count, size))
    return out


def spread_ranks(count: int, nprocs: int) -> Ranges:
    """`count` ranks at even distances; None for all ranks."""
    if count >= nprocs:
        return None
    return units.ranges_of(sorted({i * nprocs // count for i in range(count)}))
