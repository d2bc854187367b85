"""Operations of a direction in another pattern, in several passes: each change alone may fit no better."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from workalike.characterize.readings.changes import changed, in_passes, placed
from workalike.characterize.readings.reading import OFFSETS, Case, Reading
from workalike.workload.model import Content, Direction, Family, Pattern


def candidates(case: Case) -> Iterator[Family]:
    for direction, pattern, passes in product(case.misplaced, case.patterns, case.passes):
        yield from changed(
            case.family, partial(placed_in_passes, direction=direction, pattern=pattern, passes=passes)
        )


def placed_in_passes(content: Content, direction: Direction, pattern: Pattern, passes: int) -> Content | None:
    divided = in_passes(content, passes)
    return None if divided is None else placed(divided, direction, pattern)


READING = Reading(
    id="placed-in-passes",
    sentence="operations: several passes over the same bytes (the predicted counters fit better)",
    evidence="The bytes are several times the largest offset, and few operations follow the one before.",
    rank=110,
    candidates=candidates,
    off=OFFSETS,
    alternative=2,
)
