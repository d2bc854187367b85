"""Scaling: total bytes = original x F x (N/N0 if weak, else 1) (docs/reference/terms.md#scaling).

The bytes of a dump are exact. Either counts are lowered first and sizes kept (`count`), or sizes are lowered and counts
kept (`size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

ScaleBy = Literal["count", "size"]

Pair = tuple[int, int]


def bytes_of(pairs: Sequence[Pair]) -> int:
    """Bytes of (operations, size) pairs."""
    return sum(count * size for count, size in pairs)


def scale_pairs(pairs: list[Pair], factor: Fraction, ranks: int, by: ScaleBy) -> list[Pair]:
    """(operations, size) pairs that move exactly round(bytes x factor) bytes.

    Args:
        pairs: operations of each size, summed over the stream's ranks.
        factor: factor on the bytes.
        ranks: number of ranks of the scaled stream; by count, none of them loses its last operation.
        by: whether counts are lowered first, or sizes.
    """
    if factor == 1:
        return list(pairs)
    target = round(bytes_of(pairs) * factor)
    if by == "size":
        return fit_bytes([(count, size) for count, size in pairs if count], target)
    return _by_count(pairs, factor, ranks, target)


def _by_count(pairs: list[Pair], factor: Fraction, ranks: int, target: int) -> list[Pair]:
    """Fewer operations of the same sizes; sizes are lowered only if a rank would lose its last operation."""
    kept = [(max(round(count * factor), min(count, ranks)), size) for count, size in pairs if count]
    moved = bytes_of(kept)
    if moved == target or not kept:
        return kept
    big = max(range(len(kept)), key=lambda i: kept[i][0] * kept[i][1])
    count, size = kept[big]
    want = count * size + target - moved
    if size == 0 or want < size * min(count, ranks):
        return fit_bytes(kept, target)
    settled = [*kept[:big], *_settle(want, size), *kept[big + 1 :]]
    return [pair for pair in settled if pair[0]]


def _settle(total: int, size: int) -> list[Pair]:
    """`total` bytes in operations of `size` bytes, except for one, which takes the remainder without being tiny."""
    whole, rest = divmod(total, size)
    if rest == 0:
        return [(whole, size)]
    if 2 * rest < size:
        return [(whole - 1, size), (1, size + rest)]
    return [(whole, size), (1, rest)]


def fit_bytes(pairs: list[Pair], target: int) -> list[Pair]:
    """The same operations with sizes scaled so that they move exactly `target` bytes."""
    moved = bytes_of(pairs)
    if moved == 0 or moved == target:
        return list(pairs)
    out: list[Pair] = []
    done = reached = 0
    for count, size in pairs:
        # Cumulative rounding gives each pair its share of the target, and an exact sum.
        done += count * size
        share = target * done // moved - reached
        reached += share
        out += split_even(share, count)
    return out


def split_even(total: int, count: int) -> list[Pair]:
    """`count` operations that move exactly `total` bytes, of at most two sizes that differ by one byte."""
    if count == 0:
        return []
    size, more = divmod(total, count)
    return [(n, s) for n, s in ((more, size + 1), (count - more, size)) if n]


def scale_count(count: int, factor: Fraction) -> int:
    """A count times a factor, rounded; a count above 0 stays above 0."""
    return max(1, round(count * factor)) if count else 0
