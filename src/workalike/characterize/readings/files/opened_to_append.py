"""One file that grows, and that each dump opens."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.dumps_of_one_file import in_dumps
from workalike.characterize.readings.reading import MAX_PASSES, Case, Reading
from workalike.facts.times import closed_interval
from workalike.workload.model import Family, Lifetime, SharingMode


def applies(case: Case) -> bool:
    dumps, rest = divmod(case.opens, case.members)
    one_file = len(case.evidence.files) == 1
    return case.family.lifetime is Lifetime.APPENDED and one_file and not rest and dumps <= MAX_PASSES


def candidates(case: Case) -> Iterator[Family]:
    idle = closed_interval(case.evidence.files[0], case.family.counted_at, case.evidence.job.run_time)
    single = case.family.sharing.mode is SharingMode.ROOT
    dumps = case.opens // case.members
    for changes in in_dumps(case.family, case.opens, dumps, case.members, single, idle):
        yield from valid(case.family, **changes | {"lifetime": Lifetime.APPENDED})


READING = Reading(
    id="opened-to-append",
    sentence="files: one file that each dump opens to append to it (the predicted counters fit better)",
    evidence="Fewer writes follow the one before than in a file that stays open: one less for each open.",
    rank=40,
    candidates=candidates,
    off=("CONSEC_WRITES",),
    applies=applies,
)
