"""The other direction first: reads before writes, or writes before reads."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import changed
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Content, Family


def candidates(case: Case) -> Iterator[Family]:
    yield from changed(case.family, other_order)


def other_order(content: Content) -> Content | None:
    """The streams of the second direction before those of the first; None where there is one direction."""
    directions = [stream.direction for stream in content.streams]
    if len(set(directions)) < 2:
        return None
    streams = [s for s in content.streams if s.direction is not directions[0]]
    streams += [s for s in content.streams if s.direction is directions[0]]
    return content.model_copy(update={"streams": streams})


READING = Reading(
    id="order",
    sentence="operations: the other direction first (the predicted counters fit better)",
    evidence="How often a rank goes from reads to writes and back.",
    rank=120,
    candidates=candidates,
    off=("RW_SWITCHES",),
    alternative=3,
)
