"""Collective calls. All ranks of a file join each, with zero bytes where they have no data.

In one file the plan deals all operations of a stream to the ranks in turn, so one call may have several sizes. In a
family with several files per dump it deals each entry on its own. There the sizes are cut into whole calls, and the
operations that do not fill a call are averaged. Bytes and the number of calls stay exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from workalike.characterize.contents.streams.bytes_by_size import merged
from workalike.darshan.bins import bin_of
from workalike.facts.counters import Pair


def split_collective(pairs: Sequence[Pair], calls: int) -> tuple[list[Pair], list[Pair]]:
    """(collective, independent) operations, as many collective ones as there were collective calls.

    Empty operations (of ranks that only join) are collective first, then the largest sizes: headers and other
    metadata are written independently.
    """
    collective: list[Pair] = []
    independent: list[Pair] = []
    left = calls
    for count, size in sorted(pairs, key=lambda p: (p[1] != 0, -p[1])):
        used = min(count, left)
        left -= used
        if used:
            collective.append((used, size))
        if count - used:
            independent.append((count - used, size))
    return merged(collective), merged(independent)


def filled_calls(pairs: Sequence[Pair], operations: int) -> list[Pair]:
    """The pairs, with empty operations (of ranks that only join) up to `operations` in all."""
    empty = operations - sum(count for count, size in pairs if size)
    data = [pair for pair in pairs if pair[1]]
    return [(empty, 0), *data] if empty > 0 else data


def whole_calls(pairs: Sequence[Pair], calls: int, ranks: int) -> tuple[list[Pair], list[Pair]]:
    """(entries of a collective stream of `ranks` ranks with `calls` calls, the operation left over).

    Sizes stay in their bins as far as the number of calls allows. A few last bytes that the ranks cannot share evenly
    are left over, as one independent operation.
    """
    cut = _Cut(ranks)
    by_bin: dict[int, list[Pair]] = defaultdict(list)
    for count, size in merged(list(pairs)):
        if size:
            by_bin[bin_of(size)].append((count, size))
    rests = [rest for _, same_bin in sorted(by_bin.items()) if (rest := cut.full_calls(same_bin))]
    room = calls - calls_of(cut.entries, ranks)
    while len(rests) > 1 and sum(calls_of([(_operations(rest), 0)], ranks) for rest in rests) > room:
        rests = _join_two(rests, ranks)
    for rest in rests:
        cut.partial_calls(rest)
    entries = merged(cut.entries)
    empty = calls - calls_of(entries, ranks)
    if empty > 0:
        entries = [(empty * ranks, 0), *entries]
    return entries, [(1, cut.owed)] if cut.owed else []


def calls_of(entries: Sequence[Pair], ranks: int) -> int:
    """The number of collective calls of the entries."""
    return sum(-(-count // ranks) for count, _ in entries)


@dataclass
class _Cut:
    """Entries made so far. `owed` bytes, fewer than the ranks, go into the next averaged call."""

    ranks: int
    entries: list[Pair] = field(default_factory=list)
    owed: int = 0

    def full_calls(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Add calls in which every rank has the same size; return the pairs that fill no call. Sizes ascend."""
        pool: list[Pair] = []
        for count, size in pairs:
            whole = count // self.ranks * self.ranks
            if whole:
                self.entries.append((whole, size))
            if count - whole:
                pool.append((count - whole, size))
        remaining, averaged = _split_at(pool, _operations(pool) % self.ranks)
        self._average(averaged)
        return remaining

    def partial_calls(self, pairs: Sequence[Pair]) -> None:
        """Add the last calls of ascending sizes, beginning with the call that not all ranks have data for."""
        now, left = _split_at(pairs, _operations(pairs) % self.ranks)
        self._average(now)
        while left:
            now, left = _split_at(left, self.ranks)
            self._average(now)

    def _average(self, pairs: Sequence[Pair]) -> None:
        """Add the same operations and bytes in one size, or in two adjacent sizes of whole calls."""
        operations = _operations(pairs)
        if not operations:
            return
        total = sum(count * size for count, size in pairs) + self.owed
        size, more = divmod(total, operations)
        larger = more // self.ranks * self.ranks
        self.owed = more - larger
        self.entries += [(n, s) for n, s in ((operations - larger, size), (larger, size + 1)) if n]


def _operations(pairs: Sequence[Pair]) -> int:
    return sum(count for count, _ in pairs)


def _split_at(pairs: Sequence[Pair], operations: int) -> tuple[list[Pair], list[Pair]]:
    """The pairs of the first `operations`, and those of the others."""
    first: list[Pair] = []
    others: list[Pair] = []
    left = operations
    for count, size in pairs:
        used = min(count, left)
        left -= used
        if used:
            first.append((used, size))
        if count - used:
            others.append((count - used, size))
    return first, others


def _join_two(rests: list[list[Pair]], ranks: int) -> list[list[Pair]]:
    """Join the two neighbouring lists that save a call and change the fewest operations."""

    def cost(i: int) -> tuple[bool, int]:
        a, b = _operations(rests[i]), _operations(rests[i + 1])
        saves = -(-a // ranks) + -(-b // ranks) > -(-(a + b) // ranks)
        return not saves, min(a, b)

    best = min(range(len(rests) - 1), key=cost)
    return [*rests[:best], rests[best] + rests[best + 1], *rests[best + 2 :]]
