"""What records moved in one direction: operations by size, and how many of them are collective."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from workalike.characterize.contents.streams.sizes import solve_sizes
from workalike.characterize.grouping.growth import apportion
from workalike.darshan.bins import SIZE_BINS, bin_of
from workalike.facts.counters import (
    ACCESSES,
    COUNTS,
    Pair,
    bytes_name,
    collective_of,
    common_sizes,
    histogram_names,
    kind_of,
    operation_names,
    operations_of,
)
from workalike.facts.records import ModuleFacts
from workalike.plan.scale import split_even
from workalike.workload.model import Direction


@dataclass
class Moved:
    """Operations of a set of records in one direction, as pairs (operations, size in bytes)."""

    pairs: list[Pair]
    collective_calls: int  # summed over ranks

    @property
    def operations(self) -> int:
        return sum(count for count, _ in self.pairs)

    @property
    def bytes(self) -> int:
        return sum(count * size for count, size in self.pairs)


def moved_by(facts: ModuleFacts, direction: Direction) -> Moved:
    """Operations by size, solved from the records' histogram and common sizes; for STDIO from a side file or the mean.

    Operations and bytes are always those of the counters. Bytes without an operation (a call that was counted under
    another name) are one operation per record. A histogram that contradicts the operations is scaled to them.
    """
    total = facts.total(bytes_name(direction))
    operations = operations_of(facts, direction)
    if total and not operations:
        operations = int((facts.column(bytes_name(direction)) > 0).sum())
    if reported := reported_by(facts, direction):
        return Moved(reported, 0)
    names = histogram_names(facts.module, direction)
    bins = facts.totals(names) if names else []
    if sum(bins) != operations:
        bins = apportion(operations, [float(n) for n in bins]) if sum(bins) else []
    collective = min(collective_of(facts, direction), operations)
    if not bins:
        return Moved(split_even(total, operations), collective)
    alone = len(facts.ranks) == 1 and int(facts.ranks[0]) >= 0
    return Moved(solve_sizes(bins, common_sizes(facts), total, of_one_rank=alone), collective)


def reported_by(facts: ModuleFacts, direction: Direction) -> list[Pair]:
    """Operations by size of a side file; none where it does not add up to the counters."""
    reported = merged(facts.reported_sizes(direction)) if facts.sizes else []
    sums = sum(n for n, _ in reported), sum(n * size for n, size in reported)
    return reported if sums == (operations_of(facts, direction), facts.total(bytes_name(direction))) else []


def sizes_are_reported(facts: ModuleFacts, direction: Direction) -> bool:
    """Whether a side file has the sizes of all records that moved data."""
    moved = np.flatnonzero(facts.column(bytes_name(direction)) > 0)
    return all(reported_by(facts.rows(np.array([row])), direction) for row in moved.tolist())


def merged(pairs: list[Pair]) -> list[Pair]:
    """The pairs (count, size) with equal sizes added up, smallest size first."""
    counts: dict[int, int] = defaultdict(int)
    for count, size in pairs:
        counts[size] += count
    return [(count, size) for size, count in sorted(counts.items()) if count]


def moved_by_rows(facts: ModuleFacts, direction: Direction) -> list[Moved]:
    """`moved_by` of each record alone. Equal records, usual in parallel programs, are solved once."""
    names = [bytes_name(direction), *operation_names(facts.module, direction)]
    names += histogram_names(facts.module, direction)
    if facts.module != "STDIO":
        names += [*ACCESSES, *COUNTS]
    if facts.module == "MPI-IO":
        names.append(f"SPLIT_{kind_of(direction)}S")
    if facts.module == "H5D":
        names.append("USE_MPIIO_COLLECTIVE")
    table = np.ascontiguousarray(np.stack([facts.column(name) for name in names], axis=1))
    known: dict[bytes, Moved] = {}
    out = []
    for row in range(len(table)):
        key = table[row].tobytes()
        if facts.sizes:
            key += facts.ranks[row].tobytes()
        if key not in known:
            known[key] = moved_by(facts.rows(np.array([row])), direction)
        out.append(known[key])
    return out


def few_sizes(pairs: list[Pair], most: int) -> list[Pair]:
    """At most about `most` different sizes: the most frequent as they are, the others averaged within their bin."""
    if len(pairs) <= most:
        return pairs
    by_count = sorted(pairs, key=lambda p: (-p[0], p[1]))
    kept = by_count[: max(0, most - 2 * len(SIZE_BINS))]
    rest: dict[int, list[Pair]] = defaultdict(list)
    for count, size in by_count[len(kept) :]:
        rest[bin_of(size)].append((count, size))
    for same_bin in rest.values():
        kept += split_even(sum(c * s for c, s in same_bin), sum(c for c, _ in same_bin))
    return merged(kept)
