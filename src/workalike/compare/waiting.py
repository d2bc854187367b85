"""Waiting in collective calls: the time in MPI-IO calls beyond the POSIX calls below them.

What is left is waiting for other ranks, exchange of data between them, and the library's own work; a log does not tell
them apart. It is known where a log has both levels of every file that is opened or accessed collectively.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workalike.compare.record_times import times_in
from workalike.compare.timers import timers_of
from workalike.facts.records import FileFacts

COLLECTIVE = ("COLL_OPENS", "COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")
NO_POSIX = "the log has no POSIX calls below collective MPI-IO calls"
NO_LOG = "the engine's record times no calls below its own; a log of the run (--capture) does"
NOT_PERFORMED = "the run performed nothing"
NO_TIMERS = "a workload has no timers"


@dataclass(frozen=True)
class Waiting:
    """Rank-seconds of waiting, or None and the reason. Without collective calls nobody waits in them."""

    seconds: float | None = 0.0
    reason: str = ""

    def __add__(self, other: Waiting) -> Waiting:
        if self.seconds is None or other.seconds is None:
            return self if self.seconds is None else other
        return Waiting(self.seconds + other.seconds)


def waiting_in(files: Iterable[FileFacts], run_time: float) -> Waiting:
    """The waiting in collective calls on some files of a log."""
    waited = Waiting()
    for file in files:
        above, below = file.modules.get("MPI-IO"), file.modules.get("POSIX")
        if above is None or not any(above.totals(COLLECTIVE)):
            continue
        if below is None:
            return Waiting(None, NO_POSIX)
        waited += Waiting(max(0.0, _inside(file, "MPI-IO", run_time) - _inside(file, "POSIX", run_time)))
    return waited


def _inside(file: FileFacts, module: str, run_time: float) -> float:
    records = times_in([file], module)
    return sum(timers_of(records, run_time).values()) if records else 0.0
