"""Scaling: total bytes = original x F x (N/N0 if weak, else 1) (design, "Scaling").

The bytes of a dump come out exact; counts are lowered first and sizes kept (`count`), or
sizes are lowered and counts kept (`size`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

ScaleBy = Literal["count", "size"]

Pair = tuple[int, int]


def scale_pairs(pairs: list[Pair], factor: Fraction, ranks: int, by: ScaleBy) -> list[Pair]:
    """(operations, size) pairs whose bytes are exactly round(bytes x factor).

    Args:
        pairs: totals over the stream's ranks.
        factor: of the bytes.
        ranks: how many ranks the scaled stream has; by count, none of them loses its last operation.
        by: what is lowered first.
    """
    if factor == 1:
        return list(pairs)
    target = round(sum(count * size for count, size in pairs) * factor)
    if by == "size":
        return fit_bytes([(count, size) for count, size in pairs if count], target)
    return _by_count(pairs, factor, ranks, target)


def _by_count(pairs: list[Pair], factor: Fraction, ranks: int, target: int) -> list[Pair]:
    kept: list[Pair] = []
    at_floor = False
    for count, size in pairs:
        if count == 0:
            continue
        least = min(count, ranks)
        scaled = round(count * factor)
        at_floor = at_floor or scaled < least
        kept.append((max(scaled, least), size))
    if at_floor or not kept:
        return fit_bytes(kept, target)
    return _settle(kept, target)


def _settle(pairs: list[Pair], target: int) -> list[Pair]:
    """Keep sizes; the pair that moves most takes the rounding error as one operation of its own size.

    A small rest lengthens that operation, so that scaling makes no tiny ones.
    """
    moved = sum(count * size for count, size in pairs)
    if moved == target:
        return pairs
    big = max(range(len(pairs)), key=lambda i: pairs[i][0] * pairs[i][1])
    count, size = pairs[big]
    want = count * size + target - moved
    if size == 0 or want < size:
        return fit_bytes(pairs, target)
    whole, rest = divmod(want, size)
    if 2 * rest < size:
        whole, rest = whole - 1, rest + size
    settled = [(whole, size), (1, rest)] if rest != size else [(whole + 1, size)]
    return [pair for pair in (*pairs[:big], *settled, *pairs[big + 1 :]) if pair[0]]


def fit_bytes(pairs: list[Pair], target: int) -> list[Pair]:
    """The same operations with sizes scaled so that they move exactly `target` bytes."""
    moved = sum(count * size for count, size in pairs)
    if moved == 0 or moved == target:
        return list(pairs)
    out: list[Pair] = []
    done = reached = 0
    for count, size in pairs:
        # Cumulative rounding: each pair gets its share of the target, the sum is exact.
        done += count * size
        share = target * done // moved - reached
        reached += share
        out += split_even(share, count)
    return out


def split_even(total: int, count: int) -> list[Pair]:
    """`count` operations of at most two neighbouring sizes that move exactly `total` bytes."""
    if count == 0:
        return []
    size, more = divmod(total, count)
    return [(n, s) for n, s in ((more, size + 1), (count - more, size)) if n]


def scale_count(count: int, factor: Fraction) -> int:
    """A count times a factor; what was there does not vanish."""
    return max(1, round(count * factor)) if count else 0
