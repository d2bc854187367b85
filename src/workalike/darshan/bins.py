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
"""Suffixes of the counters' names, as in SIZE_READ_0_100."""

BIN_ENDS = (100, 1024, 10240, 102400, 2**20, 4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30)
"""The largest size of each bin in bytes, inclusive; the last bin has no limit."""


def bin_of(size: int) -> int:
    """The index of the bin that counts an operation of `size` bytes."""
    return bisect_left(BIN_ENDS, size)
