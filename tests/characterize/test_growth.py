"""Totals shared out in proportion, and the sizes of visualisation states."""

from __future__ import annotations

import pytest

from workalike.characterize.grouping.growth import apportion, size_at, state_sizes


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (10, [1, 1], [5, 5]),
        (10, [1, 3], [2, 8]),
        (7, [1, 1, 1], [2, 3, 2]),
        (9, [0, 0, 0], [3, 3, 3]),
        (9, [0, 2, 1], [0, 6, 3]),
        (9, [2, 1, 0], [6, 3, 0]),
        (0, [1, 2], [0, 0]),
        (5, [0.1] * 3, [2, 1, 2]),
    ],
)
def test_shares_add_up(total: int, weights: list[float], parts: list[int]) -> None:
    assert apportion(total, weights) == parts


def test_a_zero_at_the_end_gets_nothing_whatever_the_rounding() -> None:
    assert apportion(10**15, [0.1] * 10 + [0.0])[-1] == 0


def test_size_is_that_of_the_latest_checkpoint() -> None:
    starts, sizes = [10.0, 20.0], [100, 200]
    assert [size_at(t, starts, sizes) for t in (0.0, 10.0, 19.0, 20.0, 99.0)] == [100, 100, 100, 200, 200]


def test_states_grow_as_the_checkpoints_do() -> None:
    assert state_sizes(1000, [5.0, 15.0, 25.0], [10.0, 20.0], [100, 300]) == [200, 200, 600]
    assert state_sizes(1000, [5.0, 15.0, 25.0, 35.0], [], []) == [250] * 4
