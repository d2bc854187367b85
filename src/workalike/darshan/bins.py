"""Darshan's ten bins of operation sizes (docs/reference/darshan-format.md#size-bins)."""

from __future__ import annotations

from bisect import bisect_left

SIZE_BINS = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
"""As the names of counters end: SIZE_READ_0_100."""

BIN_ENDS = (100, 1024, 10240, 102400, 2**20, 4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30)
"""The largest size of each bin, bytes, inclusive; the last bin is open."""


def bin_of(size: int) -> int:
    """Which of the ten bins an operation of `size` bytes is counted in."""
    return bisect_left(BIN_ENDS, size)
