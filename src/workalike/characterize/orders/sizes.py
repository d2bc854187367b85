"""The sizes of the operations of one record, so that each common size is of one direction.

The table of common sizes does not say of which direction a size is. Of all ways to share them out, one is taken that the
histograms and the bytes of both directions allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from workalike.characterize.contents.streams.sizes import Pair, is_solvable, solve_sizes
from workalike.darshan.bins import bin_of
from workalike.facts.counters import ACCESSES, COUNTS, bytes_name, histogram_names
from workalike.facts.records import ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction

Sizes = dict[Direction, list[int]]


def sizes_of(facts: ModuleFacts, row: int, module: str, reach: Mapping[Direction, int]) -> Sizes | None:
    """The sizes in bytes of all operations of each direction, the largest first; None where no way is found.

    None, too, of more operations than an order is made of: a damaged log has other numbers here than elsewhere. No size is
    larger than the reach of its direction: bytes up to the last one that was accessed.
    """
    common = [
        (int(facts.column(size)[row]), int(facts.column(count)[row]))
        for size, count in zip(ACCESSES, COUNTS, strict=True)
    ]
    bins = {
        d: [max(0, int(facts.column(name)[row])) for name in histogram_names(module, d)] for d in Direction
    }
    if sum(map(sum, bins.values())) > THRESHOLDS.orders_most:
        return None
    moved = {d: max(0, int(facts.column(bytes_name(d))[row])) for d in Direction}
    named = [(size, count) for size, count in common if size > 0 and count > 0]
    for shares in _shares(named, bins, moved):
        found = {
            d: _listed(solve_sizes(bins[d], shares[d], moved[d], of_one_rank=True, named=named))
            for d in Direction
        }
        if all(max(sizes, default=0) <= reach[d] for d, sizes in found.items()):
            return found
    return None


def _shares(
    common: Sequence[Pair], bins: Mapping[Direction, Sequence[int]], moved: Mapping[Direction, int]
) -> Iterator[dict[Direction, list[Pair]]]:
    """The (size, count) of each direction as they may be.

    Each size is of one direction, or of both: as many as there can be of one, and the rest of the other.
    """
    read, write = Direction
    for owners in product((*Direction, *((d, d) for d in Direction)), repeat=len(common)):
        shares: dict[Direction, list[Pair]] = {direction: [] for direction in Direction}
        for (size, count), owner in zip(common, owners, strict=True):
            first = owner if isinstance(owner, Direction) else owner[0]
            most = count if isinstance(owner, Direction) else min(count - 1, bins[first][bin_of(size)])
            shares[first].append((size, most))
            shares[write if first is read else read].append((size, count - most))
        known = {d: [(size, count) for size, count in pairs if count] for d, pairs in shares.items()}
        if all(_is_possible(bins[d], known[d], moved[d]) for d in Direction):
            yield known


def _is_possible(bins: Sequence[int], common: Sequence[Pair], moved: int) -> bool:
    """Whether a direction can have all of these common sizes, and other ones for the rest."""
    left = list(bins)
    for size, count in common:
        left[bin_of(size)] -= count
        moved -= size * count
    return min(left) >= 0 and moved >= 0 and is_solvable(left, moved)


def _listed(pairs: Sequence[Pair]) -> list[int]:
    return [size for count, size in sorted(pairs, key=lambda pair: -pair[1]) for _ in range(count)]
