"""One file, or one of each rank, that is opened anew for each of several dumps."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.dumps_of_one_file import families_opened_anew
from workalike.characterize.readings.reading import Case, Reading
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    counts = {case.opens // case.members} if case.opens % case.members == 0 else set()
    counts = {n for n in counts if n <= THRESHOLDS.synthesis_opened} | set(case.passes)
    for changes in families_opened_anew(case, sorted(counts)):
        yield from valid(case.family, **changes)


READING = Reading(
    id="opened-anew",
    sentence="files: one file that each open begins anew (the predicted counters fit better)",
    evidence="Opens are several times those of one dump, and the bytes several times the largest offset.",
    rank=30,
    candidates=candidates,
    off=("MAX_BYTE", "OPENS", "SEEKS"),
    applies=lambda case: case.is_one_file,
    alternative=6,
)
