"""Passes over a file as dumps of it, where each rank opens it for each pass, or for each direction of a pass.

Opens that serve no data are less plausible than opens that do.
"""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.dumps_of_one_file import families_opened_anew
from workalike.characterize.readings.reading import Case, Reading, Taken
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    counts = [n for n in case.passes if case.opens in (n * case.members, 2 * n * case.members)]
    for changes in families_opened_anew(case, counts):
        yield from valid(case.family, **changes)


READING = Reading(
    id="opened-for-passes",
    sentence="files: one file that each open begins anew (the predicted counters fit better)",
    evidence="As many opens of each rank as passes over the file's bytes, or twice as many.",
    rank=2,
    candidates=candidates,
    applies=lambda case: case.is_one_file and case.family.schedule.dumps == 1,
    taken=Taken.PREFERRED,
)
