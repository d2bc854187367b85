"""Several passes over the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workalike.characterize.readings.changes import changed, in_passes
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    for passes in case.passes:
        yield from changed(case.family, partial(in_passes, passes=passes))


READING = Reading(
    id="passes",
    sentence="operations: several passes over the same bytes (the predicted counters fit better)",
    evidence="The bytes are several times the largest offset.",
    rank=60,
    candidates=candidates,
    alternative=2,
)
