"""Rank sets under a change of the number of ranks (design, "Scaling": `subset` keeps its share)."""

from __future__ import annotations

from workalike.plan.model import Ranges
from workalike.workload import units

RangeList = list[tuple[int, int, int]]


def scale_ranges(ranges: RangeList | None, old: int, new: int) -> Ranges:
    """The ranks of a set at `new` ranks: the same share, at least one, spread as before."""
    if ranges is None:
        return "all"
    if old == new:
        return list(ranges)
    members = [r for first, last, step in ranges for r in range(first, last + 1, step)]
    wanted = max(1, round(len(members) * new / old))
    chosen = sorted({members[i * len(members) // wanted] * new // old for i in range(wanted)})
    taken = set(chosen)
    for rank in range(new):
        if len(taken) >= min(wanted, new):
            break
        taken.add(rank)
    return units.ranges_of(sorted(taken))


def count(ranges: Ranges, ranks: int) -> int:
    """How many ranks a resolved set has."""
    return ranks if ranges == "all" else units.count_ranks(list(ranges))
