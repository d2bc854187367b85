"""Which ranks begin their part in the dumps of a family later than others (docs/workload-format.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.facts.records import FloatArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload import units
from workalike.workload.rounding import round_time
from workalike.workload.schedule import Skew


def skew_of(first_starts: Sequence[dict[int, float]], members: int, run_time: float) -> list[Skew]:
    """The groups of ranks that begin late; none where they begin together, or anew in another order in each dump.

    `first_starts` has, for each dump, the start of each rank's first access in seconds. All members must have one: a
    dump without times of each tells nothing.
    """
    if members < 2 or not first_starts or any(len(starts) != members for starts in first_starts):
        return []
    ranks = np.array(sorted(first_starts[0]), dtype=np.int64)
    if any(starts.keys() != first_starts[0].keys() for starts in first_starts):
        return []
    late = np.array([[starts[rank] for rank in ranks.tolist()] for starts in first_starts])
    late -= late.min(axis=1, keepdims=True)
    usual = np.median(late, axis=0)
    usual -= usual.min()
    noise = float(np.median(np.abs(late - usual)))
    least = max(THRESHOLDS.skew_share * run_time, THRESHOLDS.skew_least)
    if float(usual.max()) <= max(least, THRESHOLDS.skew_noise * noise):
        return []
    return _groups(ranks, usual, max(least, float(usual.max()) / THRESHOLDS.skew_groups))


def delays_of(groups: Sequence[Skew]) -> dict[int, float]:
    """The delay of each rank of some groups, in seconds."""
    return {
        rank: group.delay
        for group in groups
        for first, last, step in group.ranks or ()
        for rank in range(first, last + 1, step)
    }


def _groups(ranks: np.ndarray, late: FloatArray, width: float) -> list[Skew]:
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
        for group in groups[1:]
    ]
    return out if sum(len(late.ranks or ()) for late in out) <= THRESHOLDS.skew_ranges else []
