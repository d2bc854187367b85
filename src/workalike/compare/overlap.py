"""How many dumps are in progress at once: shares of the time, and the distance between two sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST_IN_PROGRESS = 64
"""The last share stands for so many dumps or more."""

Window = tuple[float, float]
"""Start and end of a dump in seconds."""


def shares_in_progress(windows: Sequence[Window]) -> list[float]:
    """The share of the time with k dumps in progress, for k = 0, 1, 2, …; they add up to 1.

    The time is that from the first start to the last end. A window that ends before it begins is not a time; the result
    is empty where no window has a length.
    """
    spans = np.array([(start, end) for start, end in windows if end > start], dtype=np.float64)
    if not len(spans) or not np.isfinite(spans).all():
        return []
    times = spans.ravel()
    steps = np.tile(np.array([1, -1]), len(spans))
    order = np.lexsort((steps, times))  # at one moment, dumps end before others start
    lengths, depth = np.diff(times[order]), np.cumsum(steps[order])[:-1]
    total = float(lengths.sum())
    if total <= 0:
        return []
    shares = np.bincount(np.minimum(depth, MOST_IN_PROGRESS), weights=lengths) / total
    return [float(share) for share in shares]


def distance(shares: Sequence[float], others: Sequence[float]) -> float | None:
    """Total variation of two distributions over k, 0 (equal) to 1; None where one is not known."""
    if not shares or not others:
        return None
    longest = max(len(shares), len(others))
    a, b = (np.pad(np.asarray(each), (0, longest - len(each))) for each in (shares, others))
    return float(np.abs(a - b).sum() / 2)


def mean_in_progress(shares: Sequence[float]) -> float:
    """The mean number of dumps in progress."""
    return sum(k * share for k, share in enumerate(shares))
