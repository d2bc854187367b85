"""Size distributions: histogram, common sizes and exact bytes -> operations of each size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from workalike.darshan.bins import BIN_ENDS, bin_of
from workalike.plan.scale import split_even

BIN_BOUNDS = (*BIN_ENDS, 2**62)
USUAL_MOST = 10 * 2**30
"""Bytes of an operation in the open bin, for sharing out what is not known."""
MOST_SUBSETS_OF = 8

Pair = tuple[int, int]


def lower_bound(index: int) -> int:
    return 0 if index == 0 else BIN_BOUNDS[index - 1] + 1


def solve_sizes(bins: Sequence[int], common: Sequence[Pair], total_bytes: int) -> list[Pair]:
    """(operations, size) pairs with the bins' counts and exactly `total_bytes`.

    Args:
        bins: ten counts of one direction.
        common: (size, count) of the common sizes, of both directions together.
        total_bytes: of this direction.

    Known sizes fill their bins first, most frequent first, never so many of one that what is left could not be
    solved: the table of common sizes mixes reads and writes (docs/reference/darshan-meaning.md#strides-and-common-sizes). What is left of each bin gets sizes within
    its bounds such that the bytes are exact (docs/reference/reading-counters.md#size-histogram). Counters that contradict each other keep
    their operations and bytes and give up the bins.
    """
    left = [max(0, int(n)) for n in bins]
    if not is_solvable(left, total_bytes):
        return _scaled(left, total_bytes)
    offered = _offered(left, common)
    known = _taken(left, offered, total_bytes)
    if sum(count for count, _ in known) < min(sum(left), sum(count for count, _ in offered)):
        known = _exact_subset(left, offered, total_bytes) or _two_sizes(left, offered, total_bytes) or known
    for count, size in known:
        left[bin_of(size)] -= count
    return known + _fill(left, total_bytes - sum(count * size for count, size in known))


def is_solvable(bins: Sequence[int], total_bytes: int) -> bool:
    """Whether sizes within the bins' bounds can add up to the bytes."""
    least = sum(count * lower_bound(i) for i, count in enumerate(bins))
    most = sum(count * BIN_BOUNDS[i] for i, count in enumerate(bins))
    return least <= total_bytes <= most


def _offered(bins: Sequence[int], common: Sequence[Pair]) -> list[Pair]:
    """Common sizes as (operations, size), at most as many as their bin has, most frequent first."""
    pairs = [(min(count, bins[bin_of(size)]), size) for size, count in common]
    return sorted((p for p in pairs if p[0] > 0), key=lambda p: (-p[0], p[1]))


def _taken(bins: Sequence[int], offered: Sequence[Pair], total_bytes: int) -> list[Pair]:
    """As many of each size as leave something that can be solved."""
    left = list(bins)
    rest = total_bytes
    least = sum(count * lower_bound(i) for i, count in enumerate(left))
    most = sum(count * BIN_BOUNDS[i] for i, count in enumerate(left))
    taken = []
    for count, size in offered:
        index = bin_of(size)
        low, high = lower_bound(index), BIN_BOUNDS[index]
        used = min(count, left[index])
        if size > low:
            used = min(used, (rest - least) // (size - low))
        if size < high:
            used = min(used, (most - rest) // (high - size))
        if used > 0:
            taken.append((used, size))
            left[index] -= used
            rest -= used * size
            least -= used * low
            most -= used * high
    return taken


def _exact_subset(bins: Sequence[int], offered: Sequence[Pair], total_bytes: int) -> list[Pair] | None:
    """The sizes that are this direction's: those that fill all bins and move all bytes, if there are such."""
    if len(offered) > MOST_SUBSETS_OF:
        return None
    operations = sum(bins)
    for number in range(1, len(offered)):
        for some in combinations(offered, number):
            if sum(c for c, _ in some) != operations or sum(c * s for c, s in some) != total_bytes:
                continue
            filled = [0] * len(bins)
            for count, size in some:
                filled[bin_of(size)] += count
            if filled == list(bins):
                return list(some)
    return None


def _two_sizes(bins: Sequence[int], offered: Sequence[Pair], total_bytes: int) -> list[Pair] | None:
    """Two common sizes that fill the bin of most bytes, in the one proportion that the bytes allow.

    The other bins are small change: where they have a common size it fills them, else any size within their bounds.
    """
    main = max((i for i, count in enumerate(bins) if count), default=0)
    inside = [(count, size) for count, size in offered if bin_of(size) == main]
    others = [i for i, count in enumerate(bins) if count and i != main]
    least = sum(bins[i] * lower_bound(i) for i in others)
    most = sum(bins[i] * BIN_BOUNDS[i] for i in others)
    operations = bins[main]
    for (many, large), (few, small) in combinations(sorted(inside, key=lambda p: -p[1]), 2):
        # total - most <= x large + (operations - x) small <= total - least
        low = -((operations * small - (total_bytes - most)) // (large - small))
        high = (total_bytes - least - operations * small) // (large - small)
        if low == high and 0 <= low <= many and 0 <= operations - low <= few:
            return [(count, size) for count, size in ((low, large), (operations - low, small)) if count]
    return None


def _fill(left: Sequence[int], rest: int) -> list[Pair]:
    """Spread `rest` bytes over the open bins, each within its bounds, in proportion to the room that they have."""
    open_bins = [i for i, count in enumerate(left) if count]
    spare = rest - sum(left[i] * lower_bound(i) for i in open_bins)
    rooms = {i: left[i] * (min(BIN_BOUNDS[i], USUAL_MOST) - lower_bound(i)) for i in open_bins}
    pairs: list[Pair] = []
    for place, index in enumerate(open_bins):
        count, low = left[index], lower_bound(index)
        weight = sum(rooms[i] for i in open_bins[place:])
        share = spare * rooms[index] // weight if weight else 0
        share = min(share, count * (BIN_BOUNDS[index] - low))
        if index == open_bins[-1]:
            share = spare
        spare -= share
        pairs += split_even(count * low + share, count)
    return pairs


def _scaled(left: Sequence[int], total_bytes: int) -> list[Pair]:
    """Keep operations and bytes, give up the bins."""
    return split_even(total_bytes, sum(left))
