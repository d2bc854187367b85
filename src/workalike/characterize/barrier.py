"""Whether the dumps of a family begin with a barrier, by the first calls of ranks with their own files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.characterize.events import Event
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import MODULE_OF_LEVEL, FloatArray, ModuleFacts
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
    """float64[ranks], seconds since the job's start: each rank's first open, or first access in part of a file's calls.

    A stream's descriptor, through which C++ writes, has opens without times: then it is the first access.
    """
    access = "READ" if event.directions[0] is Direction.READ else "WRITE"
    kinds = (access,) if event.parts > 1 else ("OPEN", access)
    first: dict[int, float] = {}
    for data in event.files:
        facts = data.file.modules.get(MODULE_OF_LEVEL[data.level])
        if facts is None or (facts.ranks < 0).any():
            return np.zeros(0)
        stamps = _first_known(facts, [f"F_{kind}_START_TIMESTAMP" for kind in kinds], len(facts.ranks))
        for rank, stamp in zip(facts.ranks.tolist(), stamps.tolist(), strict=True):
            if 0 < stamp <= latest_stamp(run_time):
                first[rank] = min(first.get(rank, stamp), stamp)
    return np.array(list(first.values()), dtype=np.float64)


def _first_known(facts: ModuleFacts, names: Sequence[str], records: int) -> FloatArray:
    """float64[records], of each record the first of some stamps that it has; 0 without any."""
    out = np.zeros(records)
    for name in names:
        if facts.has(name):
            out = np.where(out > 0, out, facts.fcolumn(name))
    return out
