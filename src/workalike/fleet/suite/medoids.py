"""Weighted k-medoids: the k items to which all items are nearest on the whole (L. Kaufman, P. Rousseeuw, 1990).

BUILD takes the best item, one after the other; SWAP exchanges one as long as that helps. All of a step's exchanges are
computed at once from the two nearest medoids of each item (E. Schubert, P. Rousseeuw, 2021).
"""

from __future__ import annotations

import numpy as np

from workalike.facts.records import FloatArray, IntArray

MOST_SWAPS = 200


def distances(values: FloatArray) -> FloatArray:
    """float64[N, N], Euclidean."""
    squares = (values**2).sum(axis=1)
    between = squares[:, None] + squares[None, :] - 2 * values @ values.T
    np.fill_diagonal(between, 0.0)
    return np.asarray(np.sqrt(np.maximum(between, 0.0)))


def medoids(between: FloatArray, weights: FloatArray, count: int) -> IntArray:
    """int64[k], the chosen items, the same for the same input; fewer than `count` where items coincide."""
    chosen = _build(between, weights, count)
    for _ in range(MOST_SWAPS):
        swap = _best_swap(between, weights, chosen)
        if swap is None:
            break
        chosen[swap[0]] = swap[1]
    return np.array(sorted(chosen), dtype=np.int64)


def _build(between: FloatArray, weights: FloatArray, count: int) -> list[int]:
    chosen = [int(np.argmin(between @ weights))]
    nearest = between[chosen[0]].copy()
    while len(chosen) < count:
        gains = np.maximum(nearest[None, :] - between, 0.0) @ weights
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        chosen.append(best)
        nearest = np.minimum(nearest, between[best])
    return chosen


def _best_swap(between: FloatArray, weights: FloatArray, chosen: list[int]) -> tuple[int, int] | None:
    """(place of the medoid that goes, item that comes), or None where no exchange helps."""
    to = between[chosen]
    order = np.argsort(to, axis=0, kind="stable")
    item = np.arange(to.shape[1])
    first = to[order[0], item]
    second = to[order[1], item] if len(chosen) > 1 else np.full(len(item), np.inf)
    best, found = -1e-9, None
    closer = np.minimum(between, first[None, :]) - first[None, :]
    for place in range(len(chosen)):
        own = order[0] == place
        # Items of the medoid that goes turn to the newcomer or to their second; the others turn to it if it is nearer.
        change = closer[:, ~own] @ weights[~own]
        if own.any():
            change = change + (np.minimum(between[:, own], second[own]) - first[own]) @ weights[own]
        come = int(np.argmin(change))
        if change[come] < best:
            best, found = float(change[come]), (place, come)
    return found


def nearest_of(values: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    """(int64[N], float64[N]): the nearest centre of each item, and how far it is."""
    squares = ((values[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    nearest = squares.argmin(axis=1)
    return nearest.astype(np.int64), np.sqrt(squares[np.arange(len(values)), nearest])
