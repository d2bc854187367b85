"""Places gone over again: what fits into a file's extent, and what goes back to its start."""

from __future__ import annotations

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.contents.streams.repeated_access import (
    length_accessed,
    reads_over_writes,
    within_extent,
)
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Entry, Pattern, Stream

WRITE, READ = Direction.WRITE, Direction.READ


def stream(*pairs: tuple[int, int], **more: object) -> Stream:
    made = Stream(direction=WRITE, sizes=[Entry(count=count, size=size) for count, size in pairs])
    return made.model_copy(update=more)


def shown(streams: list[Stream]) -> list[tuple[list[tuple[int, int]], int | None, str]]:
    return [([(e.count, e.size) for e in s.sizes], s.base, s.pattern.value) for s in streams]


def test_operations_that_fit_stay() -> None:
    assert shown(within_extent([stream((4, 10), (2, 5))], 50, 4)) == [([(4, 10), (2, 5)], None, "contiguous")]


def test_operations_beyond_the_extent_start_over() -> None:
    assert shown(within_extent([stream((7, 10))], 30, 4)) == [
        ([(3, 10)], None, "contiguous"),
        ([(3, 10)], 0, "contiguous"),
        ([(1, 10)], 0, "contiguous"),
    ]


def test_streams_follow_each_other_in_the_file() -> None:
    found = within_extent([stream((2, 10)), stream((3, 10), ranks=[(0, 1, 1)])], 30, 4)
    assert shown(found) == [
        ([(2, 10)], None, "contiguous"),
        ([(1, 10)], None, "contiguous"),
        ([(2, 10)], 0, "contiguous"),
    ]


def test_more_passes_than_are_worth_a_line_are_at_one_place() -> None:
    passes = THRESHOLDS.passes_most
    found = within_extent([stream((2 * passes + 7, 10))], 20, 4)
    assert shown(found)[-1] == ([(5, 10)], 0, "same")
    assert len(found) == passes + 2
    longer = within_extent([stream((2, 10))], 5, 4)
    assert shown(longer) == [([(2, 10)], 0, "same")]


def test_operations_without_bytes_fit_anywhere() -> None:
    assert shown(within_extent([stream((1, 10), (3, 0))], 10, 4)) == [([(1, 10), (3, 0)], None, "contiguous")]


@pytest.mark.parametrize(
    "more",
    [
        {"collective": True},
        {"base": 0},
        {"repeat": 2},
        {"pattern": Pattern.RANDOM},
        {"pattern": Pattern.STRIDED},
    ],
)
def test_streams_with_places_of_their_own_stay(more: dict[str, object]) -> None:
    streams = [stream((7, 10)), stream((7, 10), **more)]
    assert within_extent(streams, 30, 4) == streams


def test_interleaved_streams_start_over_too() -> None:
    found = within_extent([stream((4, 10), pattern=Pattern.INTERLEAVED)], 20, 4)
    assert [p for _, _, p in shown(found)] == ["interleaved", "interleaved"]


@pytest.mark.parametrize(("extent", "same"), [(0, True), (1, True), (2, False)])
def test_an_extent_that_was_not_measured_changes_nothing(extent: int, same: bool) -> None:
    streams = [stream((7, 10))]
    assert (within_extent(streams, extent, 4) == streams) is same


def test_the_largest_byte_of_either_layer() -> None:
    posix = module_facts("POSIX", {0: {"MAX_BYTE_READ": 9, "MAX_BYTE_WRITTEN": 4}})
    stdio = module_facts("STDIO", {0: {"MAX_BYTE_READ": 19}})
    assert [length_accessed(file_facts("a", posix, stdio), d) for d in (READ, WRITE)] == [20, 5]
    assert length_accessed(file_facts("a", posix), READ) == 10
    assert length_accessed(file_facts("a"), READ) == 0
    assert length_accessed(file_facts("a", module_facts("MPI-IO", {0: {}})), READ) == 0


def reads(operations: int, total: int, small: int = 0, empty: int = 0) -> list[tuple[int, int, int]]:
    """(repeat, operations, bytes) of reads over ten repetitions of two writes of 1 MiB a rank."""
    mib = 2**20
    writes = [stream((8, mib), repeat=10), stream((1, 5))]
    values = {
        "READS": operations + small + empty,
        "BYTES_READ": total + 50 * small,
        "SIZE_READ_100K_1M": operations,
        "SIZE_READ_0_100": small + empty,
        "ACCESS1_ACCESS": mib,
        "ACCESS1_COUNT": operations,
        "ACCESS2_ACCESS": 50,
        "ACCESS2_COUNT": small,
        "ACCESS3_ACCESS": 0,
        "ACCESS3_COUNT": empty,
    }
    found = reads_over_writes(writes, [module_facts("POSIX", {-1: values})], 4)
    assert found is not None
    assert all(s.direction is READ for s in found)
    return [
        (s.repeat, sum(e.count for e in s.sizes), s.repeat * sum(e.count * e.size for e in s.sizes))
        for s in found
    ]


def test_reads_are_repetitions_of_the_writes_and_a_rest() -> None:
    mib = 2**20
    assert reads(80, 80 * mib) == [(10, 8, 80 * mib)]
    assert reads(83, 83 * mib) == [(10, 8, 80 * mib), (1, 3, 3 * mib)]
    assert reads(75, 75 * mib) == [(9, 8, 72 * mib), (1, 3, 3 * mib)]
    assert reads(5, 5 * mib) == [(1, 5, 5 * mib)]
    assert reads(16, 16 * mib, small=3, empty=2) == [(2, 8, 16 * mib), (1, 5, 150)]


def test_writes_that_are_no_repetitions_tell_nothing() -> None:
    facts = [module_facts("POSIX", {-1: {"READS": 4, "BYTES_READ": 400}})]
    assert reads_over_writes([], facts, 4) is None
    assert reads_over_writes([stream((8, 100))], facts, 4) is None
    assert reads_over_writes([stream((8, 100), repeat=2, collective=True)], facts, 4) is None


def test_repetitions_go_over_the_extent_again() -> None:
    """Three of six repetitions fit, so that there are two passes; five do not make whole passes."""
    found = within_extent([stream((8, 10), repeat=6)], 240, 4, repetitions=True)
    assert [(s.repeat, s.base) for s in found] == [(3, None), (3, 0)]
    for same in (stream((8, 10), repeat=5), stream((8, 10), repeat=3), stream((8, 10), repeat=6, base=0)):
        assert within_extent([same], 240, 4, repetitions=True) == [same]
    assert within_extent([stream((8, 10), repeat=6)], 240, 4) == [stream((8, 10), repeat=6)]
