"""Rows of a trace as streams, with offsets by hand."""

from __future__ import annotations

import numpy as np
import pytest

from workalike.characterize.traces.affine import affine_content
from workalike.characterize.traces.traced_rows import same_rows
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Content, Pattern
from workalike.workload.operation_table import OperationTable

Row = tuple[int, bool, int, int]


def table(rows: list[Row]) -> OperationTable:
    """Rows of (rank, whether it writes, offset, length)."""
    ranks, writes, offsets, lengths = zip(*rows, strict=True)
    return OperationTable(
        np.array(ranks, dtype=np.int64),
        np.array(writes, dtype=bool),
        np.array(offsets, dtype=np.int64),
        np.array(lengths, dtype=np.int64),
        np.zeros(len(rows), dtype=bool),
    )


def content_of(rows: list[Row], *, own_files: bool = False) -> Content | None:
    members = sorted({row[0] for row in rows})
    return affine_content(table(rows), Content(), members=members, own_files=own_files, collective=False)


def streams_of(rows: list[Row], *, own_files: bool = False) -> list[tuple[Pattern, int | None, str]]:
    """(pattern, base, sizes) of each stream."""
    content = content_of(rows, own_files=own_files)
    assert content is not None
    return [(s.pattern, s.base, f"{s.sizes[0].count} x {s.sizes[0].size}") for s in content.streams]


def test_a_run_ends_where_the_distance_changes() -> None:
    rows = [(0, True, offset, 10) for offset in (0, 10, 20, 500, 700)]
    assert streams_of(rows) == [
        (Pattern.CONTIGUOUS, 0, "3 x 10"),
        (Pattern.STRIDED, 500, "2 x 10"),
    ]


@pytest.mark.parametrize(
    ("streams", "found"), [(THRESHOLDS.affine_streams, True), (THRESHOLDS.affine_streams + 1, False)]
)
def test_many_streams_are_no_shorter_than_a_table(streams: int, found: bool) -> None:
    """Single operations of ever other sizes: a stream each."""
    rows = [(0, True, 1000 * number * number, 10 + number) for number in range(streams)]
    assert (content_of(rows) is not None) is found
    assert THRESHOLDS.affine_streams == 16


def test_passes_are_of_ranks_that_all_do_the_same() -> None:
    once = [(rank, False, 10 * number, 10) for number in range(4) for rank in (0, 1)]
    twice = content_of([*once, *once])
    assert twice is not None and (twice.passes, len(twice.streams)) == (2, 1)
    unlike = content_of([*once, *[(2, True, 100 + 7 * number, 7) for number in range(3)]])
    assert unlike is not None and (unlike.passes, len(unlike.streams)) == (1, 2)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(0, True, 0, 8), (1, True, 0, 8)], Pattern.REPLICATED),  # one operation each, at one place
        ([(0, True, 0, 8), (0, True, 0, 8), (1, True, 0, 8), (1, True, 0, 8)], Pattern.SAME),
        ([(0, True, 0, 8), (0, True, 8, 8), (1, True, 0, 8), (1, True, 8, 8)], Pattern.REPLICATED),
        ([(0, True, 0, 8), (0, True, 8, 8), (1, True, 16, 8), (1, True, 24, 8)], Pattern.CONTIGUOUS),
        ([(0, True, 0, 8), (0, True, 16, 8), (1, True, 8, 8), (1, True, 24, 8)], Pattern.INTERLEAVED),
        ([(0, True, 0, 8)], Pattern.CONTIGUOUS),
        ([(0, True, 0, 8), (0, True, 0, 8)], Pattern.SAME),
    ],
)
def test_patterns(rows: list[Row], expected: Pattern) -> None:
    assert [pattern for pattern, _, _ in streams_of(rows)] == [expected]


def test_rows_of_another_number_are_not_the_same() -> None:
    rows = [(0, True, 0, 8), (0, True, 8, 8)]
    assert same_rows(table(rows), table(rows))
    assert same_rows(table(rows), table([(0, True, 0, 8), (1, True, 8, 8)])) is False
    assert same_rows(table(rows), table(rows[:1])) is False
