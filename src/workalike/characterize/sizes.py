"""Size distributions: histogram, common sizes and exact bytes -> operations of each size."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.plan.scale import split_even

# Upper bounds of Darshan's ten bins, inclusive (facts A5); the last is open.
BIN_BOUNDS = (100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824, 2**62)

Pair = tuple[int, int]


def bin_of(size: int) -> int:
    """Index of the histogram bin of one operation."""
    return next(i for i, bound in enumerate(BIN_BOUNDS) if size <= bound)


def lower_bound(index: int) -> int:
    return 0 if index == 0 else BIN_BOUNDS[index - 1] + 1


def solve_sizes(bins: Sequence[int], common: Sequence[Pair], total_bytes: int) -> list[Pair]:
    """(operations, size) pairs with the bins' counts and exactly `total_bytes`.

    Args:
        bins: ten counts of one direction.
        common: (size, count) of the four common sizes, of both directions together.
        total_bytes: of this direction.

    Known sizes fill their bins first, most frequent first; what is left of each bin gets sizes within
    its bounds such that the bytes are exact (facts B, "Size histogram").
    """
    left = [max(0, int(n)) for n in bins]
    known: list[Pair] = []
    for size, count in sorted(common, key=lambda c: -c[1]):
        index = bin_of(size)
        used = min(count, left[index])
        if used > 0 and size * used <= total_bytes:
            known.append((used, size))
            left[index] -= used
    rest = total_bytes - sum(count * size for count, size in known)
    open_bins = [i for i, count in enumerate(left) if count]
    least = sum(left[i] * lower_bound(i) for i in open_bins)
    most = sum(left[i] * BIN_BOUNDS[i] for i in open_bins)
    if not open_bins:
        return _absorb(known, rest)
    if not least <= rest <= most:
        # The common sizes of the other direction took a place here: solve without them.
        return solve_sizes(bins, [], total_bytes) if known else _scaled(left, total_bytes)
    return known + _fill(left, open_bins, rest, least)


def _fill(left: Sequence[int], open_bins: Sequence[int], rest: int, least: int) -> list[Pair]:
    """Spread `rest` bytes over the open bins, each within its bounds, largest bins last."""
    spare = rest - least
    pairs: list[Pair] = []
    for index in open_bins:
        count, low = left[index], lower_bound(index)
        room = count * (BIN_BOUNDS[index] - low)
        weight = sum(left[i] * (min(BIN_BOUNDS[i], 10 * 2**30) - lower_bound(i)) for i in open_bins if i >= index)
        own = count * (min(BIN_BOUNDS[index], 10 * 2**30) - low)
        share = min(room, spare * own // weight) if weight else 0
        if index == open_bins[-1]:
            share = spare
        spare -= share
        pairs += split_even(count * low + share, count)
    return pairs


def _absorb(known: list[Pair], rest: int) -> list[Pair]:
    """No bin is open, yet bytes differ (a lossy reduction): the largest pair takes the difference."""
    if not known or rest == 0:
        return known
    big = max(range(len(known)), key=lambda i: known[i][0] * known[i][1])
    count, size = known[big]
    return known[:big] + split_even(max(0, count * size + rest), count) + known[big + 1 :]


def _scaled(left: Sequence[int], total_bytes: int) -> list[Pair]:
    """Counters that contradict each other: keep operations and bytes, give up the bins."""
    return split_even(total_bytes, sum(left))
