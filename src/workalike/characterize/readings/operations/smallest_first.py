"""Operations by size, the smallest first, as of a header."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import changed, smallest_first
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    yield from changed(case.family, smallest_first)


READING = Reading(
    id="smallest-first",
    sentence="operations: the smallest first, as of a header (the predicted counters fit better)",
    evidence="How many operations begin at multiples of the alignment.",
    rank=95,
    candidates=candidates,
    off=("FILE_NOT_ALIGNED",),
)
