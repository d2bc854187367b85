"""Histogram, common sizes and bytes -> operations by size."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from workalike.characterize.contents.streams.bytes_by_size import few_sizes, merged
from workalike.characterize.contents.streams.collective_calls import (
    calls_of,
    filled_calls,
    split_collective,
    whole_calls,
)
from workalike.characterize.contents.streams.sizes import (
    BIN_BOUNDS,
    is_solvable,
    lower_bound,
    solve_sizes,
    spread,
)
from workalike.characterize.grouping.growth import apportion
from workalike.darshan.bins import bin_of

PAIRS = st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 3 * 10**9)), min_size=1, max_size=12)


def bins_of(pairs: list[tuple[int, int]]) -> list[int]:
    out = [0] * 10
    for count, size in pairs:
        out[bin_of(size)] += count
    return out


def bytes_of(pairs: list[tuple[int, int]]) -> int:
    return sum(count * size for count, size in pairs)


def most_frequent(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(size, count) of the four most frequent sizes of both directions, as a record has them."""
    counts: Counter[int] = Counter()
    for count, size in pairs:
        counts[size] += count
    return counts.most_common(4)


def test_bins_are_darshans() -> None:
    assert [bin_of(n) for n in (0, 100, 101, 1024, 1025, 2**20, 2**20 + 1, 2**30, 2**30 + 1)] == [
        0, 0, 1, 1, 2, 4, 5, 8, 9,
    ]  # fmt: skip
    assert [lower_bound(i) for i in (0, 1, 9)] == [0, 101, 2**30 + 1]


@given(PAIRS, PAIRS)
def test_consistent_counters_are_solved_exactly(
    pairs: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    """Counts of every bin and the bytes are exact, also with the sizes of the other direction in the table."""
    solved = solve_sizes(bins_of(pairs), most_frequent(pairs + others), bytes_of(pairs))
    assert bins_of(solved) == bins_of(pairs)
    assert bytes_of(solved) == bytes_of(pairs)
    assert all(count > 0 and size >= 0 for count, size in solved)


@given(PAIRS)
def test_few_sizes_are_found_as_they_are(pairs: list[tuple[int, int]]) -> None:
    """Up to four sizes of one direction are all in the table."""
    pairs = merged(pairs)[:4]
    assert merged(solve_sizes(bins_of(pairs), most_frequent(pairs), bytes_of(pairs))) == pairs


def test_both_directions_in_one_table() -> None:
    """16 reads of one size and 16 writes of another in the same bin: the bytes show which is which."""
    table = [(5000, 16), (6000, 16)]
    bins = [0, 0, 16, 0, 0, 0, 0, 0, 0, 0]
    assert solve_sizes(bins, table, 16 * 5000) == [(16, 5000)]
    assert solve_sizes(bins, table, 16 * 6000) == [(16, 6000)]


@given(st.lists(st.integers(0, 1000), min_size=10, max_size=10), st.integers(0, 2**50), PAIRS)
def test_contradictory_counters_keep_operations_and_bytes(
    bins: list[int], total: int, common: list[tuple[int, int]]
) -> None:
    solved = solve_sizes(bins, common, total)
    if sum(bins):
        assert sum(count for count, _ in solved) == sum(bins)
        assert bytes_of(solved) == total
    if is_solvable(bins, total):
        assert bins_of(solved) == bins


def test_impossible_common_sizes_do_no_harm() -> None:
    """Darshan 3.2.0 wrote sizes of 4.5e18 bytes; sizes outside of all bins with operations are not used."""
    bins = [0, 0, 0, 0, 0, 0, 0, 4, 0, 0]
    assert solve_sizes(bins, [(16 << 20, 4), (2**49, 3)], 64 << 20) == [(4, 16 << 20)]


@given(PAIRS, st.integers(1, 40))
def test_few_sizes_keep_bins_and_bytes(pairs: list[tuple[int, int]], most: int) -> None:
    pairs = merged(pairs)
    few = few_sizes(pairs, most)
    assert (bins_of(few), bytes_of(few)) == (bins_of(pairs), bytes_of(pairs))
    assert len(few) <= max(most, 20)


@given(st.integers(0, 2**60), st.lists(st.floats(0, 1e15), min_size=1, max_size=50))
def test_apportioned_parts_are_the_whole(total: int, weights: list[float]) -> None:
    parts = apportion(total, weights)
    assert sum(parts) == total
    assert min(parts) >= 0
    if sum(weights):
        assert all(part == 0 for part, weight in zip(parts, weights, strict=True) if weight == 0)


@given(PAIRS, st.integers(0, 20_000))
def test_collective_operations_are_the_empty_and_the_largest(
    pairs: list[tuple[int, int]], calls: int
) -> None:
    collective, independent = split_collective(pairs, calls)
    assert merged(collective + independent) == merged(pairs)
    assert sum(c for c, _ in collective) == min(calls, sum(c for c, _ in pairs))
    data = [size for _, size in collective if size]
    if data and independent:
        assert min(data) >= max(size for _, size in independent)


@given(PAIRS, st.integers(1, 600), st.integers(0, 5))
def test_whole_calls_keep_bytes_and_calls(pairs: list[tuple[int, int]], ranks: int, more: int) -> None:
    calls = -(-sum(count for count, _ in pairs) // ranks) + more
    entries, left = whole_calls(pairs, calls, ranks)
    assert bytes_of(entries + left) == bytes_of(pairs)
    assert calls_of(entries, ranks) == calls
    assert all(count == 1 and size < ranks for count, size in left)


def test_whole_calls_keep_sizes_where_they_fill_calls() -> None:
    assert whole_calls([(8, 1000), (4, 2000)], 3, 4) == ([(8, 1000), (4, 2000)], [])
    # Four ranks, three of which have data: one call that the fourth only joins.
    assert whole_calls([(3, 1000), (1, 0)], 1, 4) == ([(3, 1000)], [])


def test_filled_calls() -> None:
    assert filled_calls([(6, 100)], 8) == [(2, 0), (6, 100)]
    assert filled_calls([(2, 0), (6, 100)], 8) == [(2, 0), (6, 100)]


@given(PAIRS, PAIRS)
def test_sizes_of_one_rank_keep_counts_and_bytes(
    pairs: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    solved = solve_sizes(bins_of(pairs), most_frequent(pairs + others), bytes_of(pairs), of_one_rank=True)
    assert bins_of(solved) == bins_of(pairs)
    assert bytes_of(solved) == bytes_of(pairs)
    assert all(count > 0 and size >= 0 for count, size in solved)


def test_a_size_that_the_table_does_not_name_is_rarer() -> None:
    """A file of text buffers: seven writes of unknown sizes beside four named ones, of which the last came once."""
    table = [(8191, 3), (8193, 2), (8194, 2), (8203, 1)]
    total = sum(size * count for size, count in table) + 7 * 7285
    bins = [0, 0, 15, 0, 0, 0, 0, 0, 0, 0]
    assert max(count for count, size in solve_sizes(bins, table, total) if size not in dict(table)) == 7
    found = solve_sizes(bins, table, total, of_one_rank=True)
    assert {size: count for count, size in found if size in dict(table)} == dict(table)
    assert {count for count, size in found if size not in dict(table)} == {1}
    assert set(most_frequent(sorted(found, key=lambda pair: -pair[1]))) == set(table)


@given(st.integers(1, 3000), st.data(), st.sets(st.integers(0, 2**21), max_size=4), st.integers(1, 400))
def test_spread_sizes(operations: int, data: st.DataObject, known: set[int], most: int) -> None:
    total = data.draw(st.integers(0, operations * 2**21))
    found = spread(operations, total, known, most)
    assert sum(count for count, _ in found) == operations
    assert bytes_of(found) == total
    if len(found) > 2:
        assert {bin_of(each) for _, each in found} == {bin_of(total // operations)}
        assert len({each for _, each in found}) == len(found)
        assert not known & {each for _, each in found}
        assert max(count for count, _ in found) <= most


def test_spread_over_adjacent_sizes() -> None:
    sizes = (4997, 4998, 4999, 5000, 5002, 5003, 5004)
    assert spread(7, 7 * 5000 + 3, [], 1) == [(1, size) for size in sizes]
    assert spread(6, 6 * 1000, [1001], 2) == [(2, 998), (2, 999), (2, 1003)]


def test_spread_takes_the_sizes_next_to_the_mean() -> None:
    """Below the mean first; a number of sizes that just fits is taken."""
    assert sorted(spread(4, 4 * 1000 - 2, (), 2)) == [(2, 999), (2, 1000)]
    assert spread(5, 5 * 1000, (), 2) == [(2, 999), (2, 1000), (1, 1002)]
    whole_bin = spread(BIN_BOUNDS[0], sum(range(BIN_BOUNDS[0])), (), 1)
    assert whole_bin == [(1, size) for size in range(BIN_BOUNDS[0])]
