"""Several pieces of the file in each call of MPI-IO."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workalike.characterize.readings.changes import changed
from workalike.characterize.readings.reading import Case, Reading
from workalike.facts.counters import bytes_name, kind_of
from workalike.predict.determined import RULES
from workalike.workload.model import Content, Direction, Family, Pattern, Stream


def candidates(case: Case) -> Iterator[Family]:
    for direction, pieces in pieces_of(case):
        for pattern in (Pattern.INTERLEAVED, Pattern.CONTIGUOUS):
            yield from changed(
                case.family, partial(in_pieces, direction=direction, pieces=pieces, pattern=pattern)
            )


def pieces_of(case: Case) -> Iterator[tuple[Direction, int]]:
    """Calls of POSIX for each call of MPI-IO, where both move the same bytes: the library did not sieve."""
    logs = case.evidence.logs
    above, below = (RULES[module].determined(logs[module].counters) for module in ("MPI-IO", "POSIX"))
    for direction in Direction:
        moved = bytes_name(direction)
        calls = f"{kind_of(direction)}S"
        made, needed = above.get(calls, 0), below.get(calls, 0)
        if made and needed > made and needed % made == 0 and above[moved] == below.get(moved):
            yield direction, needed // made


def in_pieces(content: Content, direction: Direction, pieces: int, pattern: Pattern) -> Content | None:
    """Each independent operation of a direction in so many pieces; None where that cannot be."""

    def cut(stream: Stream) -> Stream:
        if stream.direction is not direction:
            return stream
        return stream.model_copy(update={"pieces": pieces, "pattern": pattern})

    for stream in content.streams:
        if stream.direction is direction and (
            stream.collective
            or stream.mixed
            or stream.pieces > 1
            or stream.pattern not in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED)
            or any(entry.size % pieces for entry in stream.sizes)
        ):
            return None
    return content.model_copy(update={"streams": [cut(stream) for stream in content.streams]})


READING = Reading(
    id="pieces",
    sentence="operations: several pieces of the file in each call (the predicted counters fit better)",
    evidence="There are several times as many calls of POSIX as of MPI-IO, and both move the same bytes.",
    rank=50,
    candidates=candidates,
    applies=lambda case: case.evidence.module == "MPI-IO",
)
