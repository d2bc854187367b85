"""The conflicts of a job's logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workalike.capture.event_list import read_events
from workalike.darshan import Log
from workalike.diagnose.conflicts.analysis import Conflicts, conflicts
from workalike.diagnose.conflicts.captured import captured

MOST_WITHOUT_EVENTS = 1000
"""Overlapping pairs that are looked at where their order cannot be known."""


@dataclass(frozen=True)
class JobConflicts:
    """What was found, and the record id of each file in it. `ordered`: calls that order ranks were recorded."""

    found: Conflicts
    ids: list[int]
    ordered: bool


def conflicts_of(logs: Sequence[Log], own: Callable[[int], bool], warnings: list[str]) -> JobConflicts | None:
    """The conflicts of a job; None where no trace tells who accessed what.

    A job of several logs has several programs, which no MPI call orders: it is not tested. `own` tells of a record id
    whether its file is the application's. `warnings` gets a line about events that cannot be used.
    """
    if len(logs) != 1 or logs[0].job.nprocs < 2 or not {"DXT_POSIX", "DXT_MPIIO"} & set(logs[0].modules):
        return None
    events = read_events(logs[0].path, logs[0].job.nprocs, warnings)
    traced = captured(logs[0], events, own)
    if traced is None:
        return None
    if events is None:
        return JobConflicts(conflicts(traced.trace, MOST_WITHOUT_EVENTS), traced.ids, ordered=False)
    return JobConflicts(conflicts(traced.trace), traced.ids, ordered=True)
