"""All operations of a direction at the file's beginning: a state that is read again and again, or rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workalike.characterize.readings.changes import changed, placed
from workalike.characterize.readings.reading import OFFSETS, Case, Reading
from workalike.workload.model import Family, Pattern


def candidates(case: Case) -> Iterator[Family]:
    for direction in case.misplaced:
        yield from changed(case.family, partial(placed, direction=direction, pattern=Pattern.SAME))


READING = Reading(
    id="one-place",
    sentence="offsets: all at the file's beginning (the predicted counters fit better)",
    evidence="The largest offset is within one operation, and no operation goes forward.",
    rank=105,
    candidates=candidates,
    off=OFFSETS,
)
