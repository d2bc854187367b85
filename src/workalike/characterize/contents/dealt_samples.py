"""How samples are dealt to readers, and which batches explain what each reader got."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from workalike.facts.thresholds import THRESHOLDS


def dealt(samples: int, batch: int, readers: int) -> list[int]:
    """Samples of each reader, when `batch` of them at a time go to each in turn."""
    rounds, rest = divmod(samples, batch * readers)
    return [rounds * batch + min(max(rest - reader * batch, 0), batch) for reader in range(readers)]


def batch_of(samples: int, shares: Sequence[Sequence[int]]) -> int | None:
    """The batch that gives the readers of each group their shares of the samples; None where there is none.

    Several batches may: the largest power of two of which each reader gets a whole batch is taken, which loaders mostly
    have, else the smallest.
    """
    readers = len(shares[0])
    found = [
        batch
        for batch in _tried(samples, shares)
        if all(list(row) == dealt(samples, batch, readers) for row in shares)
    ]
    powers = [batch for batch in found if batch & (batch - 1) == 0 and batch * readers <= samples]
    return max(powers) if powers else min(found, default=None)


def _tried(samples: int, shares: Sequence[Sequence[int]]) -> list[int]:
    """Batches that may be: all small ones, powers of two, and the differences of two readers' shares."""
    powers = [1 << bit for bit in range(samples.bit_length())]
    gaps = {abs(a - b) for row in shares for a, b in pairwise(row)} - {0}
    few = THRESHOLDS.batch_shares // sum(len(row) for row in shares)
    return sorted({batch for batch in (*range(1, few + 1), *powers, *gaps) if batch <= samples})
