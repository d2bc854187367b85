"""Where the streams of a dump begin in the file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from workalike.plan.plan_schema import PlanStream
from workalike.workload.words import Direction


def place_behind(streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool]) -> None:
    """Each stream without a place of its own (`free`) begins behind the earlier ones of its direction."""
    _place(streams, lengths, free, set())


def place_streams(
    streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool], held: int
) -> None:
    """As `place_behind`, but reads stay inside what the file holds, where it holds anything.

    Reads longer than what was written are reads again. The shortest ones begin at the start of the file, until
    the others fit (headers are read by several ranks, or several times); when they never fit, the file was longer
    before the run than what the run wrote, and nothing is moved.

    Args:
        lengths: bytes of a file that each stream spans.
        held: bytes that the file has from earlier dumps.
    """
    place_behind(streams, lengths, free)
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
        place_behind(streams, lengths, free)


def _place(
    streams: Sequence[PlanStream], lengths: Sequence[int], free: Sequence[bool], again: set[int]
) -> None:
    behind = dict.fromkeys(Direction, 0)
    for i, (stream, length) in enumerate(zip(streams, lengths, strict=True)):
        if i in again:
            stream.base = 0
            continue
        if free[i]:
            stream.base = behind[stream.direction]
        behind[stream.direction] = max(behind[stream.direction], stream.base + length)


def _end(streams: Sequence[PlanStream], lengths: Sequence[int], direction: Direction) -> int:
    """One past the last byte that streams of one direction touch."""
    ends = (s.base + n for s, n in zip(streams, lengths, strict=True) if s.direction is direction)
    return max(ends, default=0)
