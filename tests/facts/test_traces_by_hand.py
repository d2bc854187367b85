"""Traces of a few operations whose facts are known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workalike.facts.traces import Trace, covered, overlaps, placed_by


def trace(offsets: list[int], lengths: list[int], ranks: list[int] | None = None) -> Trace:
    times = np.arange(len(offsets), dtype=float)
    return Trace(
        np.array(ranks or [0] * len(offsets)), np.array(offsets), np.array(lengths), times, times + 0.5
    )


@pytest.mark.parametrize(("last", "expected"), [(92, False), (88, True)])
def test_a_trace_overlaps_where_it_moves_more_than_five_per_cent_twice(last: int, expected: bool) -> None:
    made = trace([0, last], [100, 100])
    assert covered(made.offsets, made.lengths) == last + 100
    assert overlaps(made) is expected


def test_calls_have_the_places_of_equal_calls_below() -> None:
    above, below = trace([0, 0, 0], [8, 8, 4], [0, 1, 1]), trace([16, 24, 40], [8, 8, 4], [0, 1, 1])
    placed = placed_by(above, below)
    assert placed.offsets.tolist() == [16, 24, 40]
    assert placed.viewed is not None and placed.viewed.all()


def test_calls_that_differ_from_those_below_keep_their_places() -> None:
    above = trace([0, 0], [8, 8])
    assert placed_by(above, trace([16], [16])) is above


def test_calls_below_without_places_give_none() -> None:
    above, below = trace([0, 0], [8, 8]), trace([-1, 8], [8, 8])
    assert placed_by(above, replace(below, offsets_known=False)) is above
