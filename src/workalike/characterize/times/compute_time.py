"""Compute time between the operations of a dump (docs/reference/reading-counters.md#compute-time)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from workalike.characterize.grouping.events import Event
from workalike.facts.lives import Lives
from workalike.facts.records import MODULE_OF_LEVEL, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import seconds_of

TIMERS = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")


def compute_times(events: Sequence[Event], nprocs: int, lives: Lives | None = None) -> float | list[float]:
    """Seconds of each dump: its span less the I/O time of the busiest rank. It is one number where all are equal.

    Where a file is written in one event and read in another, each event has the timer of its direction. The timer of
    metadata counts in both. A process computes nothing before its start and after its end.
    """
    found = [_compute_time(event, nprocs, lives) for event in events]
    return found[0] if len(set(found)) == 1 else found


def _compute_time(event: Event, nprocs: int, lives: Lives | None) -> float:
    span = event.interval.end - event.interval.start if lives is None else _longest_part(event, lives)
    if span <= 0:
        return 0.0
    timers = timers_of(event)
    busy = 0.0
    for data in event.files:
        facts = data.file.modules.get(MODULE_OF_LEVEL[data.level])
        if facts is None:
            return 0.0
        busy = max(busy, _busy(facts, nprocs, timers))
    idle = span - busy
    return round(idle, 6) if busy > 0 and idle > THRESHOLDS.compute_least * span else 0.0


def _longest_part(event: Event, lives: Lives) -> float:
    """Seconds of an event in which the rank lives that does so longest; all of it for a record of several ranks."""
    parts = []
    for data in event.files:
        facts = data.file.modules.get(MODULE_OF_LEVEL[data.level])
        for rank in facts.ranks.tolist() if facts is not None else ():
            part = lives.alive_in(rank, event.interval)
            parts.append(part.end - part.start)
    return max(parts, default=event.interval.end - event.interval.start)


def timers_of(event: Event) -> tuple[str, ...]:
    """The timers of an event's directions, and the timer of metadata."""
    if event.parts == 1:
        return TIMERS
    return (*(f"F_{direction.value.upper()}_TIME" for direction in event.directions), "F_META_TIME")


def _busy(facts: ModuleFacts, nprocs: int, timers: Sequence[str]) -> float:
    """I/O seconds of the busiest rank by some timers. A reduced record has the slowest rank's sum of all timers."""
    spent, whole = seconds_of(facts, timers), seconds_of(facts, TIMERS)
    reduced = facts.ranks < 0
    if reduced.any():
        slowest = np.nan_to_num(facts.fcolumn("F_SLOWEST_RANK_TIME"), posinf=0.0, neginf=0.0)
        share = np.divide(spent, whole, out=np.zeros_like(spent), where=whole > 0)
        # Without its slowest rank's time a reduced record has only the mean of the ranks.
        spent = np.where(reduced, np.where(slowest > 0, share * slowest, spent / max(1, nprocs)), spent)
    by_rank: dict[int, float] = defaultdict(float)
    for rank, seconds in zip(facts.ranks.tolist(), spent.tolist(), strict=True):
        by_rank[rank] += seconds
    return max(by_rank.values(), default=0.0)
