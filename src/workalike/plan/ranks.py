"""Scaling of rank sets to another number of ranks (docs/reference/terms.md#scaling: `subset` keeps its share).

A set may have a million ranks, and a plan a thousand sets, so no loop in Python goes over single ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from workalike.plan.plan_schema import Ranges
from workalike.workload import units

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

RangeList = list[tuple[int, int, int]]
RangeTuple = tuple[tuple[int, int, int], ...]
MOST_SEGMENTS = 64


def scale_ranges(ranges: RangeList | None, old: int, new: int) -> Ranges:
    """The ranks of a family at `new` ranks: the same share of them, at least one, with the same distribution."""
    if ranges is None:
        return "all"
    if old == new:
        return list(ranges)
    wanted = round(units.count_ranks(ranges) * new / old)
    return list(_scaled(tuple(ranges), ((0, old - 1, 1),), ((0, new - 1, 1),), wanted))


def scale_single(rank: int, old: int, new: int) -> Ranges:
    """A single rank (`root`), which stays single and at its relative place."""
    place = rank * new // old
    return [(place, place, 1)]


def scale_within(
    part: RangeList | None, whole: RangeList | None, scaled: Ranges, old: int, new: int
) -> Ranges:
    """The ranks of a stream within its family.

    They keep their share and place among the members. A single rank (such as one that writes headers) stays single.

    Args:
        part: the stream's ranks in the workload; None: all of the family's.
        whole: the family's ranks in the workload.
        scaled: the family's ranks in the plan.
        old: number of ranks of the workload.
        new: number of ranks of the plan.
    """
    if part is None or part == whole:
        return scaled
    if old == new:
        return list(part)
    before = ((0, old - 1, 1),) if whole is None else tuple(whole)
    after = ((0, new - 1, 1),) if scaled == "all" else tuple(scaled)
    members, count_before, count_after = (units.count_ranks(list(r)) for r in (part, before, after))
    wanted = 1 if members == 1 else round(members * count_after / count_before)
    return list(_scaled(tuple(part), before, after, wanted))


def count(ranges: Ranges, ranks: int) -> int:
    """The number of ranks of a resolved set."""
    return ranks if ranges == "all" else units.count_ranks(list(ranges))


@lru_cache(maxsize=4096)
def _scaled(part: RangeTuple, before: RangeTuple, after: RangeTuple, wanted: int) -> RangeTuple:
    """`wanted` members of `after`, distributed as `part` is among `before`."""
    import numpy as np

    old, new = units.count_ranks(list(before)), units.count_ranks(list(after))
    wanted = min(new, max(1, wanted))
    (first, last, step), (at, _, stride) = part[0], before[0]
    if len(part) == len(before) == len(after) == 1 and (step == stride or first == last):
        begin = (first - at) // stride
        segments = _block(begin, (last - first) // step + 1, old, new, wanted)
        if segments is not None:
            origin, _, spacing = after[0]
            return tuple(_ranges(origin, spacing, segments))
    places = _expand(part)
    if before != ((0, old - 1, 1),):
        places = np.searchsorted(_expand(before), places)
    chosen = _expand(after)[_spread(places, old, new, wanted)]
    return tuple(units.ranges_of_array(chosen))


def _block(begin: int, members: int, old: int, new: int, wanted: int) -> list[tuple[int, int]] | None:
    """The choice of `_spread` for adjacent members, as (first, last) segments; None if these would be many.

    The i-th chosen index is floor((begin x wanted + i x members) x new / (old x wanted)). As `wanted` is the members'
    share, rounded, the values ascend by one except at very few places.
    """

    def value(i: int) -> int:
        return (begin * wanted + i * members) * new // (old * wanted)

    first, last = value(0), value(wanted - 1)
    missing = wanted - (last - first + 1)
    if members * new >= old * wanted:  # values ascend by one or more
        if -missing > MOST_SEGMENTS or members * new >= 2 * old * wanted:
            return None
        segments = []
        i = 0
        while i < wanted:
            end = _last_of_segment(value, i, wanted)
            segments.append((value(i), value(end)))
            i = end + 1
        return segments
    # Values ascend by one or not at all: ranks from the first on replace the duplicates.
    if first >= missing:
        low = [(0, missing - 1)] if missing else []
        return [*low, (first, last)] if missing < first or not missing else [(0, last)]
    return [(0, last + missing - first)]


def _last_of_segment(value: Callable[[int], int], i: int, wanted: int) -> int:
    """The last index up to which values ascend by one, from index i on."""
    origin = value(i) - i
    low, high = i, wanted - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value(middle) - middle == origin else (low, middle - 1)
    return low


def _ranges(origin: int, step: int, segments: list[tuple[int, int]]) -> RangeList:
    """Segments of indices as ranges of the ranks origin, origin + step, ..."""
    runs: list[tuple[int, int]] = []
    before: int | None = None
    for first, last in segments:
        if before is not None:
            runs.append(((first - before) * step, 1))
        runs.append((step, last - first))
        before = last
    return units.ranges_of_runs(origin + step * segments[0][0], runs)


@lru_cache(maxsize=4)
def _expand(ranges: RangeTuple) -> Ints:
    import numpy as np

    parts = [np.arange(first, last + 1, step, dtype=np.int64) for first, last, step in ranges]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _spread(members: Ints, old: int, new: int, wanted: int) -> Ints:
    """`wanted` (at least one) of `new` ranks, ascending, distributed as `members` are among `old` ranks."""
    import numpy as np

    step = int(members[-1] - members[-2]) if len(members) > 1 else 1
    gaps = np.diff(members, append=min(old, int(members[-1]) + step))
    at, between = np.divmod(np.arange(wanted, dtype=np.int64) * len(members), wanted)
    # Chosen ranks are evenly spread between two members: (member + between x gap / wanted) x new / old. In this order,
    # all products stay within 64 bits.
    whole, rest = np.divmod(gaps[at] * new, wanted)
    places = (members[at] * new + between * whole + between * rest // wanted) // old
    chosen: Ints = np.minimum(new - 1, places)
    chosen = chosen[np.diff(chosen, prepend=-1) > 0]
    missing = wanted - len(chosen)
    if missing > 0:
        free = np.setdiff1d(np.arange(wanted, dtype=np.int64), chosen)
        chosen = np.union1d(chosen, free[:missing])
    return chosen
