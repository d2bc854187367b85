"""Skew of a plan: which ranks begin the reads or writes of a family's dumps later than others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workalike.plan.plan_schema import PlanSkew, PlanSkews
from workalike.workload import units
from workalike.workload.quantities import RankRanges
from workalike.workload.schedule import Schedule, Skew

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]


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
    of_dumps: dict[int | None, list[Skew]] = {}
    for group in groups:
        of_dumps.setdefault(group.dump, []).append(group)
    return [late for dump, own in of_dumps.items() for late in _of_dump(own, dump, old, new)] or None


def _of_dump(groups: Sequence[Skew], dump: int | None, old: int, new: int) -> list[PlanSkew]:
    # No delay in one dump counts, too: instead of that in every dump.
    import numpy as np

    late = [
        (group.ranks or [(0, old - 1, 1)], group.delay)
        for group in groups
        if dump is not None or group.delay > 0
    ]
    if late and old != new:
        late = _of_ranks(late, np.arange(new, dtype=np.int64) * old // new)
    return [PlanSkew(ranks=ranks, delay_s=delay, dump=dump) for ranks, delay in late]


def _of_ranks(
    late: Sequence[tuple[RankRanges, float]], stands_for: IntArray
) -> list[tuple[RankRanges, float]]:
    """The named ranks of those that stand for others, ascending; one group for each delay."""
    import numpy as np

    delays = np.full(len(stands_for), -1.0)
    for ranks, delay in late:
        for first, last, step in ranks:
            begin, end = np.searchsorted(stands_for, (first, last + 1))
            named = (stands_for[begin:end] - first) % step == 0
            delays[begin:end][named] = delay
    return [
        (units.ranges_of_array(np.flatnonzero(delays == delay)), delay)
        for delay in np.unique(delays[delays >= 0]).tolist()
    ]
