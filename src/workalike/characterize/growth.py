"""Equations 2 to 4 of the workload-replication paper, as corrected in facts/mphys-decks.md.

The paper's growth lags one step behind its own Eq. 3; here state k has the cumulative product
of the factors up to k, as doubles applied to the base.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Integers in proportion to the weights whose sum is exactly `total`."""
    if sum(weights) <= 0:
        weights = [1.0] * len(weights)
    # Added up as below: another order of adding would leave a remainder for the last weight, be it zero.
    whole = functools.reduce(operator.add, weights, 0.0)
    out, before, running = [], 0, 0.0
    for i, weight in enumerate(weights):
        running += weight
        upto = total if i + 1 == len(weights) else min(total, round(total * (running / whole)))
        out.append(upto - before)
        before = upto
    return out


def size_at(time: float, starts: Sequence[float], sizes: Sequence[int]) -> float:
    """The dataset's size at a moment: that of the latest checkpoint, of the first before it."""
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

    With one state before the first checkpoint, factors are applied at each step: V_(n+1) = F_n V_n.
    """
    if not checkpoint_sizes:
        return apportion(total, [1.0] * len(state_times))
    weights = [size_at(t, checkpoint_starts, checkpoint_sizes) for t in state_times]
    return apportion(total, weights)
