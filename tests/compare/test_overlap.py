"""How many dumps are in progress at once, by hand."""

from __future__ import annotations

import math

import pytest

from workalike.compare.overlap import MOST_IN_PROGRESS, distance, mean_in_progress, shares_in_progress


@pytest.mark.parametrize(
    ("windows", "shares"),
    [
        ([(0.0, 4.0)], [0, 1]),
        ([(0.0, 1.0), (3.0, 4.0)], [0.5, 0.5]),
        ([(0.0, 4.0), (1.0, 2.0)], [0, 0.75, 0.25]),
        ([(0.0, 2.0), (2.0, 4.0)], [0, 1]),  # one ends as the other begins: never two
        ([(5.0, 9.0)] * 3, [0, 0, 0, 1]),
        ([(1.0, 2.0), (7.0, 3.0)], [0, 1]),  # one ends before it begins
        ([(1.0, 1.0)], []),
        ([], []),
        ([(0.0, math.inf)], []),
        ([(math.nan, 1.0)], []),
    ],
)
def test_shares(windows: list[tuple[float, float]], shares: list[float]) -> None:
    assert shares_in_progress(windows) == pytest.approx(shares)


def test_more_than_are_told_apart_are_the_last_share() -> None:
    shares = shares_in_progress([(0.0, 1.0)] * 1000)
    assert len(shares) == MOST_IN_PROGRESS + 1
    assert shares[-1] == 1


def test_distance() -> None:
    assert distance([0.5, 0.5], [0.5, 0.5]) == 0
    assert distance([0.0, 1.0], [1.0]) == 1
    assert distance([0.25, 0.75], [0.0, 0.5, 0.5]) == pytest.approx(0.5)
    assert distance([], [1.0]) is None


def test_mean() -> None:
    assert mean_in_progress([0.25, 0.25, 0.5]) == pytest.approx(1.25)
