"""Skew of a plan: which ranks begin the reads or writes of a family's dumps later than others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.plan.plan_schema import PlanSkew, PlanSkews
from workalike.workload import units
from workalike.workload.schedule import Schedule, Skew


def skew_at(schedule: Schedule, old: int, new: int) -> PlanSkews | None:
    """The late ranks of a family's dumps at `new` ranks, of `old` ones; None without any."""
    reads, writes = (
        None if window is None else _scaled(window.skew, old, new)
        for window in (schedule.reads, schedule.writes)
    )
    return PlanSkews(reads=reads, writes=writes) if reads or writes else None


def _scaled(groups: Sequence[Skew], old: int, new: int) -> list[PlanSkew] | None:
    """The groups of `old` ranks at `new` ranks; None without any.

    A rank that stands for several begins as the first of them does.
    """
    delay = np.zeros(old if groups else 0)
    for group in groups:
        for first, last, step in group.ranks or [(0, old - 1, 1)]:
            delay[first : last + 1 : step] = group.delay
    if not delay.any():
        return None
    scaled = delay[np.arange(new, dtype=np.int64) * old // new]
    return [
        PlanSkew(ranks=units.ranges_of_array(np.flatnonzero(scaled == seconds)), delay_s=seconds)
        for seconds in np.unique(scaled[scaled > 0]).tolist()
    ] or None
