"""Sizes of states: equations 2 to 4 of the workload-replication paper, with a correction.

In the paper the growth is one step late compared with its own Eq. 3. Here state k has the cumulative product of the
factors up to k, in double precision, times the base.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Integers in proportion to the weights; their sum is exactly `total`."""
    if sum(weights) <= 0:
        weights = [1.0] * len(weights)
    # Added in the same order as below: any other order would leave a remainder to the last weight, even if it is zero.
    whole = functools.reduce(operator.add, weights, 0.0)
    out, last_boundary, running = [], 0, 0.0
    for i, weight in enumerate(weights):
        running += weight
        boundary = total if i + 1 == len(weights) else min(total, round(total * (running / whole)))
        out.append(boundary - last_boundary)
        last_boundary = boundary
    return out


def size_at(time: float, starts: Sequence[float], sizes: Sequence[int]) -> float:
    """The dataset's size at a time: that of the latest checkpoint, or of the first one before any."""
    current = float(sizes[0])
    for start, size in zip(starts, sizes, strict=True):
        if start > time:
            break
        current = float(size)
    return current


def state_sizes(
    total: int,
    state_times: Sequence[float],
    checkpoint_starts: Sequence[float],
    checkpoint_sizes: Sequence[int],
) -> list[int]:
    """Bytes of each visualisation state: they grow as the checkpoints do and sum to `total` (Eq. 2 to 4).

    States before the first checkpoint have its weight. The factors are applied at each step: V_(n+1) = F_n V_n.
    """
    if not checkpoint_sizes:
        return apportion(total, [1.0] * len(state_times))
    weights = [size_at(t, checkpoint_starts, checkpoint_sizes) for t in state_times]
    return apportion(total, weights)
