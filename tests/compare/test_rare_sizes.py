"""Sizes that a log names although others are as frequent."""

from __future__ import annotations

from collections import Counter

import numpy as np

from workalike.compare.rare_sizes import with_rare_sizes
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.determined import PLACES, Determined
from workalike.workload.model import Role

GROUP = ((Role.OUTPUT, 1),)
NAMES = tuple(f"ACCESS{n}_{word}" for n in range(1, PLACES + 1) for word in ("ACCESS", "COUNT"))


def record(*sizes: dict[int, int]) -> Determined:
    """The tables of records, each of the (at most four) sizes that it names."""
    out = Determined()
    for named in sizes:
        values = [number for pair in named.items() for number in pair]
        row = np.array([values + [0] * (len(NAMES) - len(values))], dtype=np.int64)
        out.add_records("POSIX", row, NAMES)
    return out


def off(log: Determined, model: Determined, has: dict[int, int]) -> list[DeterminedRow]:
    rows = list(rows_of(GROUP, "POSIX", log, model))
    return [row for row in with_rare_sizes(rows, log, model, Counter(has)) if row.error]


SINGLES = {10: 6, 20: 1, 30: 1, 40: 1}


def test_of_sizes_that_are_there_once_any_may_be_named() -> None:
    other = {10: 6, 50: 1, 60: 1, 70: 1}
    assert not off(record(SINGLES), record(other), SINGLES | other)


def test_a_named_size_that_the_model_lacks_is_off() -> None:
    other = {10: 6, 50: 1, 60: 1, 70: 1}
    missed = off(record(SINGLES), record(other), other)
    assert [(row.counter, row.expected, row.found) for row in missed] == [
        (f"ACCESS of {size} B", 1, 0) for size in (20, 30, 40)
    ]


def test_a_size_that_the_log_would_name_is_off() -> None:
    other = {10: 6, 50: 23, 60: 1, 70: 1}
    (row,) = off(record(SINGLES), record(other), SINGLES | other)
    assert (row.counter, row.expected, row.found) == ("ACCESS of 50 B", 1, 23)


def test_each_record_has_a_table_of_its_own() -> None:
    """Two files of singles: a size may be there once in each of them."""
    log = record(SINGLES, {10: 6, 21: 1, 31: 1, 41: 1})
    twice = record({10: 6, 50: 1, 60: 1, 70: 1}, {10: 6, 50: 1, 61: 1, 71: 1})
    has = Counter({10: 12, 50: 2, **dict.fromkeys((20, 30, 40, 21, 31, 41), 1)})
    assert not off(log, twice, has)
    thrice = record({10: 6, 50: 3, 60: 1, 70: 1})
    assert [row.counter for row in off(log, thrice, has)] == ["ACCESS of 50 B"]


def test_a_table_with_room_names_all() -> None:
    log = record({10: 6, 20: 1})
    assert [row.counter for row in off(log, record({10: 6}), {10: 6, 20: 1})] == ["ACCESS of 20 B"]
