"""Times of dumps beside the bins of a heatmap that have their bytes."""

from __future__ import annotations

import pytest

from workalike.characterize.times.heatmap_bins import moved_into_bins
from workalike.facts.times import Interval


@pytest.mark.parametrize(
    ("span", "bins", "expected"),
    [
        ((1.2, 1.4), (1.0, 2.0), (1.2, 1.4)),  # within its bin
        ((0.8, 1.0), (1.0, 2.0), (1.0, 1.2)),  # before it
        ((2.3, 2.5), (1.0, 2.0), (2.0, 2.2)),  # after it: it began at its end at the latest
        ((1.9, 2.1), (1.0, 4.0), (1.9, 3.0)),  # bytes in three bins
        ((3.5, 3.6), (1.0, 4.0), (2.0, 3.0)),  # the first bytes were in the first bin
        ((1.2, 2.7), (1.0, 2.0), (1.2, 2.7)),  # a sync and a close move no bytes
    ],
)
def test_a_dump_begins_in_its_first_bin(
    span: tuple[float, float], bins: tuple[float, float], expected: tuple[float, float]
) -> None:
    (found,) = moved_into_bins([Interval(*span)], [Interval(*bins)], 1.0)
    assert (found.start, found.end) == pytest.approx(expected)


def test_a_dump_ends_before_the_next_one_begins() -> None:
    first, second = moved_into_bins(
        [Interval(0.5, 3.5), Interval(4.0, 7.0)], [Interval(0.0, 1.0), Interval(2.0, 3.0)], 1.0
    )
    assert (first.start, first.end) == (0.5, 3.0)
    assert (second.start, second.end) == (3.0, 6.0)
