"""Operations of nearly the size that a log names."""

from __future__ import annotations

from collections import Counter

import pytest

from workalike.compare.near_sizes import with_near_sizes
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.determined import Determined
from workalike.workload.model import Role

GROUP = ((Role.OUTPUT, 1),)


def sides(log: dict[int, int], model: dict[int, int], *, full: bool = False) -> list[DeterminedRow]:
    expected, found = Determined({"WRITES": 1}), Determined({"WRITES": 1})
    expected.common["ACCESS"], found.common["ACCESS"] = Counter(log), Counter(model)
    if full:
        expected.cut.add("ACCESS")
    rows = list(rows_of(GROUP, "POSIX", expected, found))
    return [row for row in with_near_sizes(rows, found) if row.counter.startswith("ACCESS")]


@pytest.mark.parametrize("full", [False, True])
def test_a_size_that_is_off_by_little_is_off_by_little(full: bool) -> None:
    (row,) = sides({2944: 7}, {2947: 7}, full=full)
    assert (row.expected, row.found) == (7, 7)
    assert row.error == pytest.approx(3 / 2944)
    assert row.agrees and not row.is_equal
    assert row.counter == "ACCESS of 2944 B, and near it"


def test_equal_sizes_stay_as_they_are() -> None:
    rows = sides({100: 5, 102: 3}, {100: 5, 102: 3})
    assert all(row.is_equal for row in rows)
    assert [row.counter for row in rows] == ["ACCESS of 100 B", "ACCESS of 102 B"]


def test_an_operation_stands_for_one_alone() -> None:
    """Four of 1,000 B are missing, three are near: the fourth stays missing, and what is left over is too much."""
    rows = {row.counter: row for row in sides({1000: 4, 5000: 1}, {1010: 3, 5000: 2})}
    assert rows["ACCESS of 1000 B, and near it"].found == 3
    assert rows["ACCESS of 1000 B, and near it"].error == pytest.approx(0.25)
    assert (rows["ACCESS of 5000 B"].expected, rows["ACCESS of 5000 B"].found) == (1, 2)
    rows = {row.counter: row for row in sides({1000: 1}, {1010: 3})}
    assert rows["ACCESS of 1000 B, and near it"].error == pytest.approx(0.01)
    assert (rows["ACCESS of 1010 B"].expected, rows["ACCESS of 1010 B"].found) == (0, 2)


def test_the_nearest_comes_first() -> None:
    rows = {row.counter: row for row in sides({1000: 1, 1100: 1}, {1005: 1, 1090: 1})}
    assert rows["ACCESS of 1000 B, and near it"].error == pytest.approx(0.005)
    assert rows["ACCESS of 1100 B, and near it"].error == pytest.approx(10 / 1100)


def test_another_size_is_another_size() -> None:
    rows = {row.counter: row for row in sides({1000: 2}, {1200: 2})}
    assert rows["ACCESS of 1000 B"].found == 0
    assert rows["ACCESS of 1200 B"].expected == 0
