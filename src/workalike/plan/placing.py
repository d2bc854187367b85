"""Decides where the streams of a dump begin in the file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from workalike.plan.plan_schema import PlanStream
from workalike.workload.words import Direction


def place_after(streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool]) -> None:
    """Let each stream without a stated place (`free`) begin after the earlier streams of its direction."""
    _place(streams, lengths, free, set())


def place_streams(
    streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool], held: int
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
    place_after(streams, lengths, free)
    room = max(held, _end(streams, lengths, Direction.WRITE))
    reads = [i for i, stream in enumerate(streams) if stream.direction is Direction.READ and free[i]]
    shortest_first = sorted(reads, key=lambda i: lengths[i])

    def fits(moved: int) -> bool:
        _place(streams, lengths, free, set(shortest_first[:moved]))
        return _end(streams, lengths, Direction.READ) <= room

    if not room or not reads or fits(0):
        return
    fewest = bisect_left(range(len(reads) + 1), True, key=fits)
    if fewest > len(reads) or not fits(fewest):
        place_after(streams, lengths, free)


def _place(
    streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool], at_start: set[int]
) -> None:
    ends = dict.fromkeys(Direction, 0)
    for i, (stream, length) in enumerate(zip(streams, lengths, strict=True)):
        if i in at_start:
            stream.base = 0
            continue
        if free[i]:
            stream.base = ends[stream.direction]
        ends[stream.direction] = max(ends[stream.direction], stream.base + length)


def _end(streams: Sequence[PlanStream], lengths: Sequence[int], direction: Direction) -> int:
    """One past the last byte that streams of one direction touch."""
    ends = (s.base + n for s, n in zip(streams, lengths, strict=True) if s.direction is direction)
    return max(ends, default=0)
