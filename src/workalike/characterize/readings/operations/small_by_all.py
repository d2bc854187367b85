"""What rank 0 was taken to do alone, done by all ranks in turn."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import changed
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Content, Family, Pattern, SharingMode, Stream


def applies(case: Case) -> bool:
    return case.family.sharing.mode is not SharingMode.ROOT and case.nprocs > 1


def candidates(case: Case) -> Iterator[Family]:
    yield from changed(case.family, small_by_all)


def small_by_all(content: Content) -> Content:
    def by_all(stream: Stream) -> Stream:
        if stream.ranks != [(0, 0, 1)]:
            return stream
        return stream.model_copy(update={"ranks": None, "pattern": Pattern.INTERLEAVED})

    return content.model_copy(update={"streams": [by_all(stream) for stream in content.streams]})


READING = Reading(
    id="small-by-all",
    sentence="ranks: small operations of all ranks, not of rank 0 (the predicted counters fit better)",
    evidence="How often the four most frequent sizes occur. Each rank has a table of its own for them.",
    rank=160,
    candidates=candidates,
    off=("ACCESS",),
    applies=applies,
)
