"""Several passes over the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workalike.characterize.readings.changes import changed, in_passes, largest_first
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Content, Family


def candidates(case: Case) -> Iterator[Family]:
    for passes in case.passes:
        yield from changed(case.family, partial(in_passes, passes=passes))
        yield from changed(case.family, partial(_to_the_end, passes=passes))


def _to_the_end(content: Content, passes: int) -> Content | None:
    """Passes that each end with what is left of the file, and with a read at its end."""
    found = in_passes(content, passes)
    return None if found is None else largest_first(found)


READING = Reading(
    id="passes",
    sentence="operations: several passes over the same bytes (the predicted counters fit better)",
    evidence="The bytes are several times the largest offset.",
    rank=60,
    candidates=candidates,
    alternative=2,
)
