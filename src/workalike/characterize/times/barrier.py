"""Whether the dumps of a family begin with a barrier, by the first calls of ranks with their own files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.characterize.grouping.events import Event
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

    A stream's descriptor, through which C++ writes, has opens without times: where no open has one, it is the first
    access.
    """
    access = "READ" if event.directions[:1] == (Direction.READ,) else "WRITE"
    records = [data.file.modules.get(MODULE_OF_LEVEL[data.level]) for data in event.files]
    known = [facts for facts in records if facts is not None and not (facts.ranks < 0).any()]
    if not records or len(known) < len(records):
        return np.zeros(0)
    found = np.zeros(0)
    for kind in (access,) if event.parts > 1 else ("OPEN", access):
        found = found if len(found) else _first_stamps(known, f"F_{kind}_START_TIMESTAMP", run_time)
    return found


def _first_stamps(records: Sequence[ModuleFacts], name: str, run_time: float) -> FloatArray:
    """float64[ranks], the first stamp of each rank that has one which can be true."""
    first: dict[int, float] = {}
    for facts in records:
        if not facts.has(name):
            continue
        for rank, stamp in zip(facts.ranks.tolist(), facts.fcolumn(name).tolist(), strict=True):
            if 0 < stamp <= latest_stamp(run_time):
                first[rank] = min(first.get(rank, stamp), stamp)
    return np.array(list(first.values()), dtype=np.float64)
