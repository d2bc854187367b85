"""The sizes of the operations of one record, so that each common size is of one direction.

The table of common sizes does not say of which direction a size is. Of all ways to share them out, one is taken that the
histograms and the bytes of both directions allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product, zip_longest

from workalike.characterize.contents.streams.sizes import Pair, is_solvable, solve_sizes
from workalike.darshan.bins import bin_of
from workalike.facts.counters import ACCESSES, COUNTS, bytes_name, histogram_names
from workalike.facts.records import ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction

Sizes = dict[Direction, list[int]]


@dataclass(frozen=True)
class _Record:
    """What the operations of each direction are together: their histogram, their bytes, and the last byte."""

    bins: Mapping[Direction, Sequence[int]]
    moved: Mapping[Direction, int]
    reach: Mapping[Direction, int]

    def may_have(self, direction: Direction, common: Sequence[Pair]) -> bool:
        """Whether a direction can have all of these common sizes, and other ones for the rest."""
        left = list(self.bins[direction])
        rest = self.moved[direction]
        for size, count in common:
            left[bin_of(size)] -= count
            rest -= size * count
        return min(left) >= 0 and rest >= 0 and is_solvable(left, rest, self.reach[direction])


def sizes_of(
    facts: ModuleFacts, row: int, module: str, reach: Mapping[Direction, int], ways: int
) -> Iterator[Sizes]:
    """Each way that is found to give all operations of a direction their sizes in bytes, the largest first.

    None of more operations than an order is made of: a damaged log has other numbers here than elsewhere. No size is
    larger than the reach of its direction: bytes up to the last one that was accessed. `ways` is how many uneven shares
    of the common sizes are tried.
    """
    common = [
        (int(facts.column(size)[row]), int(facts.column(count)[row]))
        for size, count in zip(ACCESSES, COUNTS, strict=True)
    ]
    bins = {
        d: [max(0, int(facts.column(name)[row])) for name in histogram_names(module, d)] for d in Direction
    }
    if sum(map(sum, bins.values())) > THRESHOLDS.orders_most:
        return
    moved = {d: max(0, int(facts.column(bytes_name(d))[row])) for d in Direction}
    named = [(size, count) for size, count in common if size > 0 and count > 0]
    record = _Record(bins, moved, reach)
    for shares in chain(_shares(named, record), _uneven_shares(named, record, ways)):
        found = {
            d: _listed(
                solve_sizes(bins[d], shares[d], moved[d], of_one_rank=True, named=named, largest=reach[d])
            )
            for d in Direction
        }
        if all(max(sizes, default=0) <= reach[d] for d, sizes in found.items()):
            yield found


def _shares(common: Sequence[Pair], record: _Record) -> Iterator[dict[Direction, list[Pair]]]:
    """The (size, count) of each direction as they may be.

    Each size is of one direction, or of both: as many as there can be of one, and the rest of the other.
    """
    read, write = Direction
    for owners in product((*Direction, *((d, d) for d in Direction)), repeat=len(common)):
        shares: dict[Direction, list[Pair]] = {direction: [] for direction in Direction}
        for (size, count), owner in zip(common, owners, strict=True):
            first = owner if isinstance(owner, Direction) else owner[0]
            most = count if isinstance(owner, Direction) else min(count - 1, record.bins[first][bin_of(size)])
            shares[first].append((size, most))
            shares[write if first is read else read].append((size, count - most))
        known = {d: [(size, count) for size, count in pairs if count] for d, pairs in shares.items()}
        if all(record.may_have(d, known[d]) for d in Direction):
            yield known


def _uneven_shares(
    common: Sequence[Pair], record: _Record, ways: int
) -> Iterator[dict[Direction, list[Pair]]]:
    """As `_shares`, of any number of each size; those with the fewest other sizes in a direction come first.

    Of each direction, so many ways are tried.
    """
    for of_both in zip_longest(*(_uneven_from(first, common, record, ways) for first in Direction)):
        yield from (shares for shares in of_both if shares is not None)


def _uneven_from(
    first: Direction, common: Sequence[Pair], record: _Record, ways: int
) -> Iterator[dict[Direction, list[Pair]]]:
    operations = sum(record.bins[first])
    others = sum(map(sum, record.bins.values())) - sum(count for _, count in common)
    if others < 0 or not common:
        return
    (second,) = set(Direction) - {first}
    numbers = (_counts(common, operations - unknown) for unknown in range(min(others, operations) + 1))
    for counts in islice(chain.from_iterable(numbers), ways):
        own = [(size, n) for (size, _), n in zip(common, counts, strict=True) if n]
        rest = [(size, count - n) for (size, count), n in zip(common, counts, strict=True) if count > n]
        if record.may_have(first, own) and record.may_have(second, rest):
            yield {first: own, second: rest}


def _counts(common: Sequence[Pair], operations: int) -> Iterator[tuple[int, ...]]:
    """Numbers of each size that are as many operations together."""
    (_, most), *further = common
    if not further:
        if operations <= most:
            yield (operations,)
        return
    least = max(0, operations - sum(count for _, count in further))
    for number in range(min(most, operations), least - 1, -1):
        for rest in _counts(further, operations - number):
            yield number, *rest


def _listed(pairs: Sequence[Pair]) -> list[int]:
    return [size for count, size in sorted(pairs, key=lambda pair: -pair[1]) for _ in range(count)]
