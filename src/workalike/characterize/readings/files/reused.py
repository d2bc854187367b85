"""One file that each dump opens anew, not one that grows."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Family, Lifetime


def applies(case: Case) -> bool:
    return case.family.lifetime is Lifetime.APPENDED and case.family.schedule.dumps > 1


def candidates(case: Case) -> Iterator[Family]:
    yield from valid(case.family, lifetime=Lifetime.REUSED)


READING = Reading(
    id="reused",
    sentence="files: one file that is opened anew for each dump (the predicted counters fit better)",
    evidence="There is an open of each rank for each dump, and the largest offset is that of one dump.",
    rank=20,
    candidates=candidates,
    off=("MAX_BYTE", "OPENS", "SEEKS"),
    applies=applies,
    alternative=5,
)
