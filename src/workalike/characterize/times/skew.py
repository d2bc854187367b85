"""Which ranks begin their part in the dumps of a family later than others (docs/workload-format.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.facts.records import FloatArray, IntArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload import units
from workalike.workload.schedule import Skew
from workalike.workload.units import round_time


def skew_of(starts: FloatArray, ranks: IntArray, run_time: float) -> list[Skew]:
    """The groups of ranks that begin late in every dump; none where they begin together, or late in some dumps only.

    Args:
        starts: float64[dumps, ranks], the start of each rank's first access in each dump, in seconds.
        ranks: int64[ranks], which ranks these are, ascending.
        run_time: of the job, in seconds.
    """
    if not len(starts) or len(ranks) < 2:
        return []
    late = starts - starts.min(axis=1, keepdims=True)
    usual = np.median(late, axis=0)
    noise = np.median(np.abs(late - usual), axis=0)
    least = max(THRESHOLDS.skew_share * run_time, THRESHOLDS.skew_least)
    always = (late.min(axis=0) > least) & (usual > THRESHOLDS.skew_noise * noise)
    if not always.any():
        return []
    return _groups(ranks[always], usual[always], max(least, float(usual.max()) / THRESHOLDS.skew_groups))


def skew_at_edges(
    starts: dict[int, float], ends: dict[int, float], dumps: tuple[int, int], run_time: float
) -> list[Skew]:
    """The groups of ranks that begin late in the first of some dumps, or end late in the last one.

    Args:
        starts: of each rank's first access of all, in seconds.
        ends: of each rank's last access of all.
        dumps: the numbers of the first and the last dump.
        run_time: of the job, in seconds.
    """
    ranks = np.array(sorted(starts), dtype=np.int64)
    out: list[Skew] = []
    for dump, moments in zip(dumps, (starts, ends), strict=True):
        row = np.array([[moments[rank] for rank in ranks.tolist()]])
        out += [late.model_copy(update={"dump": dump}) for late in skew_of(row, ranks, run_time)]
    return out


def delays_of(groups: Sequence[Skew]) -> dict[int, float]:
    """The delay of each rank of some groups, in seconds."""
    return {
        rank: group.delay
        for group in groups
        for first, last, step in group.ranks or ()
        for rank in range(first, last + 1, step)
    }


def _groups(ranks: IntArray, late: FloatArray, width: float) -> list[Skew]:
    """Ranks whose delays differ by at most `width` seconds together; none where they would be too many to read."""
    order = np.argsort(late, kind="stable")
    groups: list[list[int]] = []
    begin = -np.inf
    for place in order.tolist():
        if late[place] - begin > width:
            groups.append([])
            begin = late[place]
        groups[-1].append(place)
    out = [
        Skew(
            ranks=units.ranges_of_array(np.sort(ranks[group])), delay=round_time(float(late[group].mean()), 4)
        )
        for group in groups
    ]
    return out if sum(len(late.ranks or ()) for late in out) <= THRESHOLDS.skew_ranges else []
