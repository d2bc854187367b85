"""Sizes from histograms, common sizes and bytes, case by case."""

from __future__ import annotations

import pytest

from workalike.characterize.contents.streams.sizes import is_solvable, solve_sizes

K100, M1 = 102400, 2**20


def bins(**counts: int) -> list[int]:
    names = ["b100", "k1", "k10", "k100", "m1", "m4", "m10", "m100", "g1", "more"]
    return [counts.get(name, 0) for name in names]


@pytest.mark.parametrize(
    ("counts", "total", "solvable"),
    [
        (bins(b100=2), 0, True),
        (bins(b100=2), 200, True),
        (bins(b100=2), 201, False),
        (bins(k1=2), 202, True),
        (bins(k1=2), 201, False),
        (bins(k1=2), 2048, True),
        (bins(k1=1, b100=1), 1125, False),
        (bins(k1=1, b100=1), 1124, True),
        (bins(), 0, True),
        (bins(), 1, False),
    ],
)
def test_bytes_that_bins_can_hold(counts: list[int], total: int, solvable: bool) -> None:
    assert is_solvable(counts, total) is solvable


@pytest.mark.parametrize(
    ("counts", "common", "total", "pairs"),
    [
        # (operations, size) of what was done; (size, count) in the table
        (bins(m1=8), [(M1, 8)], 8 * M1, [(8, M1)]),
        (bins(m1=8), [], 8 * M1, [(8, M1)]),
        (bins(b100=3), [(8, 3)], 24, [(3, 8)]),
        # half of the table's operations are of the other direction
        (bins(m1=4), [(M1, 8)], 4 * M1, [(4, M1)]),
        # two sizes of one bin: the only proportion that the bytes allow
        (bins(k10=10), [(2000, 10), (4000, 10)], 3 * 2000 + 7 * 4000, [(7, 4000), (3, 2000)]),
        # one of two sizes is the other direction's alone
        (bins(k10=5), [(2000, 5), (4000, 5)], 20000, [(5, 4000)]),
        (bins(k10=5), [(4000, 5), (2000, 5)], 10000, [(5, 2000)]),
        # nothing is known of the sizes: equal ones within the bin
        (bins(k10=4), [], 10000, [(4, 2500)]),
        (bins(k10=4), [], 10001, [(1, 2501), (3, 2500)]),
        # a known size and one that the bytes leave
        (bins(k10=4), [(2000, 3)], 9000, [(3, 2000), (1, 3000)]),
        # the bytes contradict the bins: those give way
        (bins(b100=4), [(8, 4)], 4000, [(4, 1000)]),
        (bins(m1=2), [], 7, [(1, 4), (1, 3)]),
        (bins(), [], 0, []),
    ],
)
def test_sizes(
    counts: list[int], common: list[tuple[int, int]], total: int, pairs: list[tuple[int, int]]
) -> None:
    assert sorted(solve_sizes(counts, common, total)) == sorted(pairs)


def test_what_is_left_is_spread_over_bins_by_their_room() -> None:
    found = solve_sizes(bins(k1=1, k10=1), [], 101 + 1025 + 923)
    assert sum(count * size for count, size in found) == 101 + 1025 + 923
    small, large = sorted(size for _, size in found)
    # 923 bytes to spare, in rooms of 923 and 9,215 bytes
    assert (small, large) == (101 + 923 * 923 // (923 + 9215), 101 + 1025 + 923 - small)


def test_more_than_the_first_bins_can_take_goes_to_the_last() -> None:
    found = solve_sizes(bins(b100=2, more=1), [], 5 * 2**30)
    assert sum(count * size for count, size in found) == 5 * 2**30
    assert max(size for _, size in found) > 2**30
    assert sum(count for count, size in found if size <= 100) == 2
