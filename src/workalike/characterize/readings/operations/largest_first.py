"""Operations by size, the largest first: those that reach the end of the file come last."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import changed, largest_first
from workalike.characterize.readings.reading import OFFSETS, Case, Reading
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    yield from changed(case.family, largest_first)


READING = Reading(
    id="largest-first",
    sentence="operations: the largest first, those that reach the end of the file last (the predicted counters fit better)",
    evidence="What lies at multiples of the alignment, and where the last operation ends.",
    rank=70,
    candidates=candidates,
    off=(*OFFSETS, "FILE_NOT_ALIGNED", "ACCESS"),
)
