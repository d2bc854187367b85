"""Operations of several sizes in turn, not all of one size first."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import changed
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Content, Family


def candidates(case: Case) -> Iterator[Family]:
    yield from changed(case.family, in_turn)


def in_turn(content: Content) -> Content:
    streams = [
        stream.model_copy(update={"mixed": True}) if len(stream.sizes) > 1 and stream.pieces == 1 else stream
        for stream in content.streams
    ]
    return content.model_copy(update={"streams": streams})


READING = Reading(
    id="in-turn",
    sentence="operations: several sizes in turn (the predicted counters fit better)",
    evidence="How many operations begin at multiples of the alignment.",
    rank=90,
    candidates=candidates,
    off=("FILE_NOT_ALIGNED",),
)
