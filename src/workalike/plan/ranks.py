"""Rank sets under a change of the number of ranks (docs/reference/terms.md#scaling: `subset` keeps its share)."""

from __future__ import annotations

from workalike.plan.model import Ranges
from workalike.workload import units

RangeList = list[tuple[int, int, int]]


def scale_ranges(ranges: RangeList | None, old: int, new: int) -> Ranges:
    """The ranks of a family at `new` ranks: the same share, at least one, spread as before."""
    if ranges is None:
        return "all"
    if old == new:
        return list(ranges)
    members = _expand(ranges)
    return units.ranges_of(_spread(members, old, new, round(len(members) * new / old)))


def scale_one(rank: int, old: int, new: int) -> Ranges:
    """The one rank that stays one (`root`), at its place among the others."""
    place = rank * new // old
    return [(place, place, 1)]


def scale_within(
    part: RangeList | None, whole: RangeList | None, scaled: Ranges, old: int, new: int
) -> Ranges:
    """The ranks of a stream, inside its family.

    Args:
        part: the stream's ranks in the workload; None is all of the family's.
        whole: the family's ranks in the workload.
        scaled: the family's ranks in the plan.
        old: all ranks of the workload.
        new: all ranks of the plan.

    They keep their share and place among the members; a rank that is alone (it writes headers) stays alone.
    """
    if part is None or part == whole:
        return scaled
    if old == new:
        return list(part)
    before = None if whole is None else _expand(whole)
    after = None if scaled == "all" else _expand(list(scaled))
    count_before = old if before is None else len(before)
    count_after = new if after is None else len(after)
    index = {rank: i for i, rank in enumerate(before)} if before is not None else None
    places = [rank if index is None else index[rank] for rank in _expand(part)]
    wanted = 1 if len(places) == 1 else round(len(places) * count_after / count_before)
    chosen = _spread(places, count_before, count_after, wanted)
    return units.ranges_of(chosen if after is None else [after[i] for i in chosen])


def count(ranges: Ranges, ranks: int) -> int:
    """How many ranks a resolved set has."""
    return ranks if ranges == "all" else units.count_ranks(list(ranges))


def _expand(ranges: RangeList) -> list[int]:
    return [rank for first, last, step in ranges for rank in range(first, last + 1, step)]


def _spread(members: list[int], old: int, new: int, wanted: int) -> list[int]:
    """`wanted` of `new` ranks (at least one) that lie as `members` lie among `old` ones."""
    wanted = min(new, max(1, wanted))
    step = members[-1] - members[-2] if len(members) > 1 else 1
    after = [*members[1:], min(old, members[-1] + step)]
    chosen = set()
    for i in range(wanted):
        at, between = divmod(i * len(members), wanted)
        # Between two members of the old set lie as many of the new one, evenly.
        place = members[at] * wanted + between * (after[at] - members[at])
        chosen.add(min(new - 1, place * new // (old * wanted)))
    for rank in range(new):
        if len(chosen) >= wanted:
            break
        chosen.add(rank)
    return sorted(chosen)
