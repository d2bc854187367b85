"""Operations of a direction in another pattern."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from workalike.characterize.readings.changes import changed, placed
from workalike.characterize.readings.reading import OFFSETS, Case, Reading
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    for direction, pattern in product(case.misplaced, case.patterns):
        yield from changed(case.family, partial(placed, direction=direction, pattern=pattern))


READING = Reading(
    id="placed",
    sentence="offsets: another pattern (the predicted counters fit better)",
    evidence="How many operations follow the one before, or go back, and the largest offset.",
    rank=100,
    candidates=candidates,
    off=OFFSETS,
    alternative=0,
)
