"""The ranks' operations at random over all of a file, where too few follow each other for regions of their own.

Chance explains the predicted counters of both readings. Of n operations in random order within a region of n places,
one follows the one before on average, whatever n is; over the whole file fewer do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from workalike.characterize.readings.changes import changed
from workalike.characterize.readings.reading import Case, Reading, Taken
from workalike.facts.counters import kind_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload import units
from workalike.workload.model import Assumption, Content, Direction, Family, Pattern


def applies(case: Case) -> bool:
    # Where a trace shows the placement, nothing is assumed of it.
    return Pattern.SHUFFLED in case.patterns and Assumption.PLACEMENT in case.family.assumed


def candidates(case: Case) -> Iterator[Family]:
    directions = [direction for direction in Direction if too_few_follow(case, direction)]

    def shuffled(content: Content) -> Content:
        streams = [
            stream.model_copy(update={"pattern": Pattern.SHUFFLED})
            if stream.direction in directions
            else stream
            for stream in content.streams
        ]
        return content.model_copy(update={"streams": streams})

    yield from changed(case.family, shuffled)


def too_few_follow(case: Case, direction: Direction) -> bool:
    """Whether fewer operations of a direction follow each other than at random within regions of ranks."""
    expected = 0.0
    for dump in range(case.family.schedule.dumps):
        content = case.family.content_of(dump)
        for stream in (s for s in content.streams if s.direction is direction):
            if stream.pattern is not Pattern.RANDOM:
                return False
            ranks = case.members if stream.ranks is None else units.count_ranks(stream.ranks)
            operations = sum(entry.total(ranks) for entry in stream.sizes)
            if operations > ranks:
                expected += ranks * (1 - ranks / operations) * stream.repeat * content.passes
    found = case.evidence.determined.get(f"CONSEC_{kind_of(direction)}S", 0)
    return found < expected - THRESHOLDS.shuffled_deviations * math.sqrt(expected)


READING = Reading(
    id="shuffled",
    sentence="offsets: another pattern (the predicted counters fit better)",
    evidence="Fewer operations follow the one before than at random within a region of each rank.",
    rank=300,
    candidates=candidates,
    applies=applies,
    taken=Taken.AT_LAST,
)
