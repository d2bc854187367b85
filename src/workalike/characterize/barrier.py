"""Whether the dumps of a family begin with a barrier, by the first calls of ranks with their own files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.characterize.events import Event
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import MODULE_OF_LEVEL, FloatArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Sharing, SharingMode


def begins_with_barrier(events: Sequence[Event], sharing: Sharing, run_time: float) -> bool:
    """Whether the first calls of all ranks are close together in every dump, for a family with files per rank.

    They are compared with the time that the ranks have gone on by themselves: since the dump before began, or since the
    job's start. Ranks that work alike for long arrive apart unless something holds them together.

    The reduced record of a shared file does not have the start of each rank, and a collective open synchronises the
    ranks anyway.
    """
    if sharing.mode is not SharingMode.PER_RANK or not events:
        return False
    last = 0.0
    for event in events:
        starts = _first_calls(event, run_time)
        if not _begin_together(starts, last):
            return False
        last = float(starts.max())
    return True


def _begin_together(starts: FloatArray, last: float) -> bool:
    """Whether starts (float64[ranks], seconds) differ little beside the time since `last`."""
    if len(starts) < 2 or starts.min() <= last:
        return False
    return float(np.ptp(starts)) <= THRESHOLDS.barrier_spread * (float(starts.min()) - last)


def _first_calls(event: Event, run_time: float) -> FloatArray:
    """float64[ranks], seconds since the job's start: each rank's first open, or first access in part of a file's calls."""
    kind = "OPEN"
    if event.parts > 1:
        kind = "READ" if event.directions[0] is Direction.READ else "WRITE"
    first: dict[int, float] = {}
    for data in event.files:
        facts = data.file.modules.get(MODULE_OF_LEVEL[data.level])
        name = f"F_{kind}_START_TIMESTAMP"
        if facts is None or not facts.has(name) or (facts.ranks < 0).any():
            return np.zeros(0)
        for rank, stamp in zip(facts.ranks.tolist(), facts.fcolumn(name).tolist(), strict=True):
            if 0 < stamp <= latest_stamp(run_time):
                first[rank] = min(first.get(rank, stamp), stamp)
    return np.array(list(first.values()), dtype=np.float64)
