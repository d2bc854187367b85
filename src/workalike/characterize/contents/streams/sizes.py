"""Size distributions: a histogram, common sizes and exact bytes -> operations by size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from itertools import combinations, islice

from workalike.darshan.bins import BIN_ENDS, bin_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even

BIN_BOUNDS = (*BIN_ENDS, 2**62)

MOST_COMMON = 4
"""Common sizes of a record."""

Pair = tuple[int, int]


def lower_bound(index: int) -> int:
    return 0 if index == 0 else BIN_BOUNDS[index - 1] + 1


def solve_sizes(
    bins: Sequence[int],
    common: Sequence[Pair],
    total_bytes: int,
    *,
    of_one_rank: bool = False,
    named: Sequence[Pair] | None = None,
    largest: int | None = None,
) -> list[Pair]:
    """Pairs (operations, size) with the counts of the bins and exactly `total_bytes`.

    Args:
        bins: the ten counts of one direction.
        common: (size, count) of the common sizes, over both directions.
        total_bytes: the bytes of this direction.
        of_one_rank: the counters are those of one rank, not of many that were reduced to one record.
        named: (size, count) of all sizes that the record names, where `common` are those of this direction alone.
        largest: the most bytes of an operation, if known.

    Common sizes fill their bins first, the most frequent first, as far as the rest can still be solved: the table of
    common sizes mixes reads and writes (docs/reference/darshan-meaning.md#strides-and-common-sizes). The other
    operations of a bin get sizes in its bounds that make the bytes exact (docs/reference/reading-counters.md#size-histogram).
    Where counters contradict each other, operations and bytes are kept and the bins are not.
    """
    left = [max(0, int(n)) for n in bins]
    ends = BIN_BOUNDS if largest is None else _ends(largest)
    if not is_solvable(left, total_bytes, largest):
        return _scaled(left, total_bytes)
    offered = _offered(left, common)
    known = _taken(left, offered, total_bytes, ends)
    if sum(count for count, _ in known) < min(sum(left), sum(count for count, _ in offered)):
        exact = _exact_subset(left, offered, total_bytes) or _two_sizes(left, offered, total_bytes, ends)
        known = exact or known
    for count, size in known:
        left[bin_of(size)] -= count
    others = _fill(left, total_bytes - sum(count * size for count, size in known), ends)
    of_record = common if named is None else named
    if of_one_rank and len(of_record) == MOST_COMMON:
        others = _rarer(others, of_record, ends)
    return known + others


def is_solvable(bins: Sequence[int], total_bytes: int, largest: int | None = None) -> bool:
    """Whether sizes within the bins' bounds, and none above the largest, can add up to the bytes."""
    ends = BIN_BOUNDS if largest is None else _ends(largest)
    if any(count and ends[i] < lower_bound(i) for i, count in enumerate(bins)):
        return False
    least = sum(count * lower_bound(i) for i, count in enumerate(bins))
    most = sum(count * ends[i] for i, count in enumerate(bins))
    return least <= total_bytes <= most


def _ends(largest: int) -> tuple[int, ...]:
    """The largest size of each bin, where no operation is larger than `largest`."""
    return tuple(min(end, largest) for end in BIN_BOUNDS)


def _offered(bins: Sequence[int], common: Sequence[Pair]) -> list[Pair]:
    """Common sizes as (operations, size), at most as many as their bin has, most frequent first."""
    pairs = [(min(count, bins[bin_of(size)]), size) for size, count in common]
    return sorted((p for p in pairs if p[0] > 0), key=lambda p: (-p[0], p[1]))


def _taken(bins: Sequence[int], offered: Sequence[Pair], total_bytes: int, ends: Sequence[int]) -> list[Pair]:
    """As many of each size as possible while the rest can still be solved."""
    left = list(bins)
    rest = total_bytes
    least = sum(count * lower_bound(i) for i, count in enumerate(left))
    most = sum(count * ends[i] for i, count in enumerate(left))
    taken = []
    for count, size in offered:
        index = bin_of(size)
        low, high = lower_bound(index), ends[index]
        used = min(count, left[index])
        if size > low:
            used = min(used, (rest - least) // (size - low))
        if size > high:
            used = 0
        elif size < high:
            used = min(used, (most - rest) // (high - size))
        if used > 0:
            taken.append((used, size))
            left[index] -= used
            rest -= used * size
            least -= used * low
            most -= used * high
    return taken


def _exact_subset(bins: Sequence[int], offered: Sequence[Pair], total_bytes: int) -> list[Pair] | None:
    """The common sizes that fill all bins and move all bytes, so that they are this direction's; None without any."""
    if len(offered) > THRESHOLDS.subsets_most:
        return None
    operations = sum(bins)
    for number in range(1, len(offered)):
        for subset in combinations(offered, number):
            if sum(c for c, _ in subset) != operations or sum(c * s for c, s in subset) != total_bytes:
                continue
            filled = [0] * len(bins)
            for count, size in subset:
                filled[bin_of(size)] += count
            if filled == list(bins):
                return list(subset)
    return None


def _two_sizes(
    bins: Sequence[int], offered: Sequence[Pair], total_bytes: int, ends: Sequence[int]
) -> list[Pair] | None:
    """Two common sizes that fill the highest bin, in the only proportion that the bytes allow.

    The other bins have few bytes: any size within their bounds does for them.
    """
    main = max((i for i, count in enumerate(bins) if count), default=0)
    in_main = [(count, size) for count, size in offered if bin_of(size) == main]
    others = [i for i, count in enumerate(bins) if count and i != main]
    least = sum(bins[i] * lower_bound(i) for i in others)
    most = sum(bins[i] * ends[i] for i in others)
    operations = bins[main]
    for (large_count, large), (small_count, small) in combinations(sorted(in_main, key=lambda p: -p[1]), 2):
        # total - most <= x large + (operations - x) small <= total - least
        low = -((operations * small - (total_bytes - most)) // (large - small))
        high = (total_bytes - least - operations * small) // (large - small)
        if low == high and 0 <= low <= large_count and 0 <= operations - low <= small_count:
            return [(count, size) for count, size in ((low, large), (operations - low, small)) if count]
    return None


def _fill(left: Sequence[int], rest: int, ends: Sequence[int]) -> list[Pair]:
    """Spread `rest` bytes over the bins that are not full, within their bounds, in proportion to their room."""
    open_bins = [i for i, count in enumerate(left) if count]
    spare = rest - sum(left[i] * lower_bound(i) for i in open_bins)
    rooms = {i: left[i] * (min(ends[i], THRESHOLDS.open_bin_most) - lower_bound(i)) for i in open_bins}
    pairs: list[Pair] = []
    for place, index in enumerate(open_bins):
        count, low = left[index], lower_bound(index)
        weight = sum(rooms[i] for i in open_bins[place:])
        share = spare * rooms[index] // weight if weight else 0
        share = min(share, count * (ends[index] - low))
        if index == open_bins[-1]:
            share = spare
        spare -= share
        pairs += split_even(count * low + share, count)
    return pairs


def _rarer(others: Sequence[Pair], common: Sequence[Pair], ends: Sequence[int]) -> list[Pair]:
    """Operations of unknown sizes in so many sizes that none of them belongs among the most frequent.

    Of sizes that are equally frequent, the larger ones are among these.
    """
    least = min(count for _, count in common)
    smallest = min(size for size, count in common if count == least)
    known = [size for size, _ in common]
    of_bin: dict[int, list[Pair]] = defaultdict(list)
    for count, size in others:
        of_bin[bin_of(size)].append((count, size))
    out: list[Pair] = []
    for pairs in of_bin.values():
        if all(count < least or (count == least and size < smallest) for count, size in pairs):
            out += pairs
            continue
        operations, total = sum(count for count, _ in pairs), sum(count * size for count, size in pairs)
        out += spread(operations, total, known, max(1, least - 1), ends)
    return out


def spread(
    operations: int, total: int, known: Container[int], most: int, ends: Sequence[int] = BIN_BOUNDS
) -> list[Pair]:
    """(operations, size) with `total` bytes in all, in sizes of one bin of which none is more frequent than `most`.

    The sizes are near the mean and not in `known`. Where there is no room for them, they are one or two.
    """
    mean = total // operations
    low, high = lower_bound(bin_of(mean)), ends[bin_of(mean)]
    number = -(-operations // most)
    if number > min(THRESHOLDS.spread_most, high - low):
        return split_even(total, operations)
    each, rest = divmod(operations, number)
    counts = [each + (place < rest) for place in range(number)]
    for centre in range(mean, max(low, mean - number) - 1, -1):
        sizes = _free_sizes(centre, number, known, low, high - 1)
        short = total - sum(count * size for count, size in zip(counts, sizes, strict=False))
        if len(sizes) == number and 0 <= short < operations:
            return _raised(list(zip(counts, sizes, strict=True)), short)
    return split_even(total, operations)


def _free_sizes(centre: int, number: int, known: Container[int], low: int, high: int) -> list[int]:
    """Sizes around the centre, ascending, such that neither they nor the next larger ones are known."""
    near = (
        centre + sign * distance for distance in range(high - low + 1) for sign in (-1, 1)[distance == 0 :]
    )
    free = (size for size in near if low <= size <= high and size not in known and size + 1 not in known)
    return sorted(islice(free, number))


def _raised(pairs: list[Pair], short: int) -> list[Pair]:
    """The pairs with so many bytes more: the largest operations have one byte more each."""
    out: list[Pair] = []
    for count, size in reversed(pairs):
        raised = min(count, short)
        short -= raised
        out += [(n, s) for n, s in ((raised, size + 1), (count - raised, size)) if n]
    return out[::-1]


def _scaled(left: Sequence[int], total_bytes: int) -> list[Pair]:
    """The operations and bytes in nearly equal sizes, without regard to the bins."""
    return split_even(total_bytes, sum(left))
