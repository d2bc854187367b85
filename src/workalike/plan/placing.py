"""Decides where the streams of a dump begin in the file."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from workalike.plan.plan_schema import PlanStream
from workalike.workload.words import Direction

Bounds = tuple[int, float]
ALL: Bounds = (0, math.inf)


def place_after(
    streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool], *, own_files: bool = False
) -> None:
    """Each stream without a place of its own (`free`) begins after the earlier ones of its direction.

    Args:
        streams: of a dump, in order; their `base` is set.
        lengths: bytes of a file that each stream spans.
        free: streams that are placed here.
        own_files: each rank has a file of its own, so that streams of other ranks lie elsewhere.
    """
    _place(streams, lengths, free, set(), own_files)


def place_streams(
    streams: Sequence[PlanStream],
    lengths: Sequence[int],
    free: Sequence[bool],
    held: int,
    *,
    own_files: bool = False,
) -> None:
    """As `place_after`, but keep reads inside the bytes that the file holds, if it holds any.

    If reads exceed what was written, some bytes are read repeatedly, such as headers by several ranks. So the shortest
    reads are moved to the start of the file until the others fit. If they never fit, the file was longer before the run
    than what the run wrote, and nothing is moved.

    Args:
        streams: the dump's streams, whose `base` is set.
        lengths: bytes of a file that each stream spans.
        free: whether each stream may be placed anywhere.
        held: bytes that the file has from earlier dumps.
    """
    place_after(streams, lengths, free, own_files=own_files)
    room = max(held, _end(streams, lengths, Direction.WRITE))
    reads = [i for i, stream in enumerate(streams) if stream.direction is Direction.READ and free[i]]
    shortest_first = sorted(reads, key=lambda i: lengths[i])

    def fits(moved: int) -> bool:
        _place(streams, lengths, free, set(shortest_first[:moved]), own_files)
        return _end(streams, lengths, Direction.READ) <= room

    if not room or not reads or fits(0):
        return
    fewest = bisect_left(range(len(reads) + 1), True, key=fits)
    if fewest > len(reads) or not fits(fewest):
        place_after(streams, lengths, free, own_files=own_files)


def _place(
    streams: Sequence[PlanStream],
    lengths: Sequence[int],
    free: Sequence[bool],
    at_start: set[int],
    own_files: bool,
) -> None:
    ends: dict[tuple[Direction, Bounds], int] = {}
    for i, (stream, length) in enumerate(zip(streams, lengths, strict=True)):
        if i in at_start:
            stream.base = 0
            continue
        bounds = _bounds(stream) if own_files else ALL
        if free[i]:
            stream.base = max(
                (
                    end
                    for (d, other), end in ends.items()
                    if d is stream.direction and _overlap(bounds, other)
                ),
                default=0,
            )
        key = (stream.direction, bounds)
        ends[key] = max(ends.get(key, 0), stream.base + length)


def _bounds(stream: PlanStream) -> Bounds:
    """The first and last rank of a stream."""
    return ALL if stream.ranks == "all" else (stream.ranks[0][0], stream.ranks[-1][1])


def _overlap(first: Bounds, second: Bounds) -> bool:
    """Whether streams within these ranks may be in the same file."""
    return first[0] <= second[1] and second[0] <= first[1]


def _end(streams: Sequence[PlanStream], lengths: Sequence[int], direction: Direction) -> int:
    """One past the last byte that streams of one direction touch."""
    ends = (s.base + n for s, n in zip(streams, lengths, strict=True) if s.direction is direction)
    return max(ends, default=0)
