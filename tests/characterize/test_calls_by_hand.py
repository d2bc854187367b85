"""Collective calls and streams, cut and placed with figures by hand."""

from __future__ import annotations

import pytest

from workalike.characterize.contents.streams.collective_calls import (
    calls_of,
    filled_calls,
    split_collective,
    whole_calls,
)
from workalike.characterize.contents.streams.stream_parts import (
    make_stream,
    near_equal_merged,
    placed,
    spread_ranks,
)
from workalike.characterize.contents.sync_policy import place_calls
from workalike.facts.placement import Placement
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Assumption, Content, Direction, Level, Pattern, SharingMode, Stream

WRITE = Direction.WRITE
Pairs = list[tuple[int, int]]


@pytest.mark.parametrize(
    ("pairs", "calls", "together", "alone"),
    [
        ([(4, 10), (2, 99)], 2, [(2, 99)], [(4, 10)]),  # the largest
        ([(4, 10), (2, 99)], 3, [(1, 10), (2, 99)], [(3, 10)]),
        ([(4, 10), (2, 99), (3, 0)], 4, [(3, 0), (1, 99)], [(4, 10), (1, 99)]),  # ranks that only join, first
        ([(4, 10)], 0, [], [(4, 10)]),
        ([(4, 10)], 9, [(4, 10)], []),
    ],
)
def test_collective_operations_are_the_empty_and_the_large(
    pairs: Pairs, calls: int, together: Pairs, alone: Pairs
) -> None:
    assert split_collective(pairs, calls) == (together, alone)


def test_calls_are_filled_with_ranks_that_only_join() -> None:
    assert filled_calls([(6, 10)], 8) == [(2, 0), (6, 10)]
    assert filled_calls([(6, 10), (1, 0)], 8) == [(2, 0), (6, 10)]
    assert filled_calls([(6, 10)], 6) == [(6, 10)]
    assert filled_calls([(6, 10)], 5) == [(6, 10)]


def test_calls_of_entries_are_rounded_up_each() -> None:
    assert calls_of([(8, 1), (5, 2), (1, 3)], 4) == 2 + 2 + 1
    assert calls_of([], 4) == 0


@pytest.mark.parametrize(
    ("pairs", "calls", "entries", "left"),
    [
        ([(8, 10)], 2, [(8, 10)], []),
        ([(8, 10)], 3, [(4, 0), (8, 10)], []),
        ([(2, 10), (2, 20)], 1, [(4, 15)], []),  # one call: averaged
        ([(2, 10), (2, 2000)], 2, [(2, 10), (2, 2000)], []),  # of different bins, there is room for both
        ([(2, 10), (2, 2000)], 1, [(4, 1005)], []),
        ([(3, 10), (1, 11)], 1, [(4, 10)], [(1, 1)]),  # a byte that four ranks cannot share
        ([(4, 10), (3, 20)], 2, [(3, 20), (4, 10)], []),
        ([(5, 10)], 2, [(5, 10)], []),
        ([], 2, [(8, 0)], []),
    ],
)
def test_sizes_cut_into_whole_calls(pairs: Pairs, calls: int, entries: Pairs, left: Pairs) -> None:
    found = whole_calls(pairs, calls, 4)
    assert (sorted(found[0]), found[1]) == (sorted(entries), left)
    assert sum(c * s for of_kind in found for c, s in of_kind) == sum(c * s for c, s in pairs)


def test_bins_that_share_a_call_are_those_of_fewest_operations() -> None:
    """Three sizes of different bins in two calls of four ranks: only the two rare ones fit into one."""
    pairs = [(3, 10), (2, 2000), (1, 200000)]
    entries, left = whole_calls(pairs, 2, 4)
    assert (3, 10) in entries
    assert sum(c * s for c, s in entries + left) == sum(c * s for c, s in pairs)
    assert calls_of(entries, 4) == 2


def shown(streams: list[Stream]) -> list[tuple[Pairs, str, int]]:
    return [([(e.count, e.size) for e in s.sizes], s.pattern.value, s.repeat) for s in streams]


def laid(
    pairs: Pairs, pieces: float, *, collective: bool = False, members: int = 4
) -> list[tuple[Pairs, str, int]]:
    placement = Placement(Pattern.INTERLEAVED, pieces_per_rank=pieces)
    return shown(placed(pairs, WRITE, placement, None, collective, members))


def test_segments_are_repetitions() -> None:
    assert THRESHOLDS.segments_interleaved * 10 > 5
    assert laid([(40, 8)], 1) == [([(40, 8)], "contiguous", 1)]
    assert laid([(40, 8)], 1.4) == [([(40, 8)], "contiguous", 1)]
    assert laid([(40, 8)], 2) == [([(20, 8)], "contiguous", 2)]
    assert laid([(42, 8), (1, 5)], 2) == [([(21, 8)], "contiguous", 2), ([(1, 5)], "contiguous", 1)]
    assert laid([(43, 8)], 2) == [([(21, 8)], "contiguous", 2), ([(1, 8)], "contiguous", 1)]
    assert laid([(40, 8)], 10) == [([(40, 8)], "interleaved", 1)]
    assert laid([(40, 8)], 2, collective=True) == [([(40, 8)], "interleaved", 1)]
    assert laid([], 2) == []
    assert laid([(0, 8)], 2) == []


def test_interleaved_sizes_are_the_commonest_first() -> None:
    assert shown(
        [make_stream([(1, 5), (9, 8), (0, 7)], WRITE, Placement(Pattern.INTERLEAVED), None, False)]
    ) == [([(9, 8), (1, 5)], "interleaved", 1)]
    assert shown([make_stream([(1, 5), (9, 8)], WRITE, Placement(Pattern.CONTIGUOUS), None, False)]) == [
        ([(1, 5), (9, 8)], "contiguous", 1)
    ]


def test_a_stride_is_at_least_the_largest_operation() -> None:
    strided = Placement(Pattern.STRIDED, stride=50)
    assert make_stream([(2, 10), (2, 70)], WRITE, strided, None, False).stride == 70
    assert make_stream([(2, 10)], WRITE, strided, None, False).stride == 50
    assert make_stream([(2, 10)], WRITE, Placement(Pattern.CONTIGUOUS, stride=50), None, False).stride == 0


@pytest.mark.parametrize(
    ("pairs", "merged"),
    [
        ([(3, 1000), (5, 1001), (7, 1002)], [(15, 1001)]),
        ([(3, 1000), (5, 1001)], [(3, 1000), (5, 1001)]),  # two sizes are two sizes
        (
            [(4, 1000), (5, 1001), (7, 1002)],
            [(4, 1000), (5, 1001), (7, 1002)],
        ),  # every rank has one of the first
        ([(3, 1000), (5, 1001), (7, 1002), (9, 9000)], [(15, 1001), (9, 9000)]),
        ([], []),
    ],
)
def test_sizes_that_are_nearly_equal_are_one(pairs: Pairs, merged: Pairs) -> None:
    found = near_equal_merged(pairs, 4)
    assert sum(c * s for c, s in found) == sum(c * s for c, s in pairs)
    assert [c for c, _ in found if c] == [c for c, _ in merged] or len(found) <= len(merged) + 1
    assert (len(found) == len(pairs)) is (merged == pairs)


def test_few_ranks_are_spread_over_all() -> None:
    assert spread_ranks(4, 4) is None
    assert spread_ranks(2, 4) == [(0, 0, 1), (2, 2, 1)]
    assert spread_ranks(1, 4) == [(0, 0, 1)]
    assert Placement(Pattern.INTERLEAVED).of_single_rank.pattern is Pattern.CONTIGUOUS
    assert Placement(Pattern.RANDOM).of_single_rank.pattern is Pattern.RANDOM


def test_syncs_amid_writes_are_assumed_where_they_are_not_after_each() -> None:
    """Four ranks write eight times each: after each write, after every second one, and none."""
    for fsyncs, writes, assumed in ((32, 1, []), (16, 2, [Assumption.SYNC_PLACE]), (0, 0, [])):
        stream = {"direction": "write", "sizes": ["32 x 10 B"]}
        content = Content.model_validate({"fsyncs": fsyncs, "streams": [stream]})
        assert place_calls(content, Level.POSIX, SharingMode.SHARED, 4) == assumed
        assert (content.sync.writes if content.sync else 0) == writes


@pytest.mark.parametrize(
    ("writes", "syncs", "flushes", "sync", "at_the_end"),
    [
        (100, 3, 10, "every 40", 1),  # 34 writes apart: 30 would be three of them, 40 are two as before
        (100, 7, 14, "every 16", 1),  # 15 apart: every flush would be 12 of them
        (100, 10, 10, "every 10", 0),
        (100, 20, 10, "every 5", 0),  # more syncs than flushes stay where they are
    ],
)
def test_syncs_of_a_stream_are_at_flushes(
    writes: int, syncs: int, flushes: int, sync: str, at_the_end: int
) -> None:
    content = Content(
        fsyncs=syncs,
        flushes=flushes,
        streams=[Stream.model_validate({"direction": "write", "sizes": [f"{writes} x 10 B"]})],
    )
    place_calls(content, Level.STDIO, SharingMode.ROOT, 1)
    assert (content.sync.text(), content.fsyncs) == (sync, at_the_end)


@pytest.mark.parametrize(
    ("flushes", "mode", "members", "flush", "at_the_end"),
    [
        (24, SharingMode.SHARED, 1, "each", 0),
        (12, SharingMode.SHARED, 1, "every 2", 0),
        (24, SharingMode.PER_RANK, 4, "each", 0),
        (24, SharingMode.SHARED, 4, "end", 24),  # ranks that share a file flush it together
        (1, SharingMode.SHARED, 1, "end", 1),
    ],
)
def test_flushes_of_datasets_are_amid_their_writes(
    flushes: int, mode: SharingMode, members: int, flush: str, at_the_end: int
) -> None:
    access = {"direction": "write", "slabs": [{"count": 24, "shape": [10]}]}
    reads = {"direction": "read", "slabs": [{"count": 8, "shape": [10]}]}
    arrays = [{"datasets": 2, "dims": [240], "access": [access, reads]}]
    content = Content.model_validate({"flushes": flushes, "arrays": arrays})
    assumed = place_calls(content, Level.H5D, mode, members)
    assert (content.flush.text(), content.flushes) == (flush, at_the_end)
    assert bool(assumed) is (flush != "each")
