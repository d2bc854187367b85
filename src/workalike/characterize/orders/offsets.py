"""Offsets of operations of one direction, so that as many go back, go on, and leave gaps as a record has counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from workalike.characterize.orders.counts import Counts
from workalike.characterize.orders.places import Blocks, Placer
from workalike.characterize.orders.sweeps import Gaps, Operation, as_they_are, exchanged, steps_of, sweeps_of

Place = tuple[int, int]
"""Offset and size of an operation, in bytes."""


def offsets_of(
    opens: Sequence[Sequence[Operation]],
    counts: Counts,
    gaps: Gaps,
    seed: int,
    blocks: Blocks | None = None,
) -> list[list[Place]] | None:
    """(offset, size) of each operation, or None where none meet the counts.

    Sizes of operations of a dump are exchanged where that makes room for gaps.

    Args:
        opens: the operations after each open of the file.
        counts: of all of them.
        gaps: those that are known.
        seed: of what is left to chance.
        blocks: how many operations should begin blocks of the file system; None: any number.
    """
    used = [operations for operations in opens if operations]
    if not used:
        return [[] for _ in opens]
    operations = [operation for of_open in used for operation in of_open]
    sizes_by_open = [[operation.size for operation in of_open] for of_open in used]
    further_on = _further(len(used), counts, gaps)
    ways = product((False, True), (False, True), further_on, (as_they_are, exchanged))
    for packed, overlap_least, further, arranged in ways:
        sweeps = sweeps_of(steps_of(sizes_by_open, counts, further, packed))
        sizes = arranged(sweeps, operations, gaps, counts.reach)
        if sizes is None:
            continue
        placer = Placer(
            sweeps, counts.reach, seed, blocks or Blocks(), gaps.less_than, overlap_least=overlap_least
        )
        placed = placer.placed()
        if placed is not None:
            rest = iter(zip(placed, sizes, strict=True))
            return [[next(rest) for _ in of_open] for of_open in opens]
    return None


def _further(opens: int, counts: Counts, gaps: Gaps) -> list[int]:
    """How many opens may have their first operation further on than 0."""
    most = min(opens, counts.ahead)
    least = max(0, opens - counts.back)
    if gaps.complete:
        number = counts.ahead - len(gaps.known)
        return [number] if least <= number <= most else []
    return sorted({least, most}) if least <= most else []
