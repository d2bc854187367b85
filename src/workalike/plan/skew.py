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
    dumps = dict.fromkeys(group.dump for group in groups)
    of_dumps = [(dump, [group for group in groups if group.dump == dump]) for dump in dumps]
    return [late for dump, own in of_dumps for late in _of_dump(own, dump, old, new)] or None


def _of_dump(groups: Sequence[Skew], dump: int | None, old: int, new: int) -> list[PlanSkew]:
    delay = np.full(old, -1.0)
    for group in groups:
        for first, last, step in group.ranks or [(0, old - 1, 1)]:
            delay[first : last + 1 : step] = group.delay
    scaled = delay[np.arange(new, dtype=np.int64) * old // new]
    # No delay in one dump counts, too: instead of that in every dump.
    named = scaled > 0 if dump is None else scaled >= 0
    return [
        PlanSkew(ranks=units.ranges_of_array(np.flatnonzero(scaled == seconds)), delay_s=seconds, dump=dump)
        for seconds in np.unique(scaled[named]).tolist()
    ]
