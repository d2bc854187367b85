"""One file that stays open, and that each dump overwrites, not a longer one."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Family, Lifetime, SharingMode


def applies(case: Case) -> bool:
    if case.family.lifetime is not Lifetime.APPENDED or case.family.schedule.dumps < 2:
        return False
    single = case.family.sharing.mode is SharingMode.ROOT
    return case.opens == len(case.evidence.files) * (1 if single else case.members)


def candidates(case: Case) -> Iterator[Family]:
    yield from valid(case.family, lifetime=Lifetime.OVERWRITTEN)


READING = Reading(
    id="overwritten",
    sentence="files: one file that stays open and is overwritten by each dump (the predicted counters fit better)",
    evidence="Each rank opens the file once, and its largest offset is that of one dump, not of all.",
    rank=10,
    candidates=candidates,
    off=("MAX_BYTE", "OPENS", "SEEKS"),
    applies=applies,
    alternative=4,
)
