"""A new log beside several earlier ones: a change is what lies outside their range."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from logs_compared import beside, builder, rows, with_writes

from workalike.compare.logs.ranges import distances
from workalike.darshan import LogBuilder


def runs(*writes: int) -> list[LogBuilder]:
    return [with_writes(builder(), "/d/out", count) for count in writes]


@pytest.mark.parametrize(
    ("now", "word", "headline"),
    [
        (104, "equal", "Within the baseline: all 12 counters of 1 file lie in the range of 5 runs."),
        (
            120,
            "alike",
            "Within the baseline: 7 of 12 counters of 1 file lie outside the range of 5 runs, by at most 8.4 % (",
        ),
        (150, "changed", "Changed: 7 of 12 counters."),
    ],
)
def test_the_range_and_what_is_around_it(tmp_path: Path, now: int, word: str, headline: str) -> None:
    found = beside(tmp_path, runs(100, 103, 110, 105, 101), runs(now)[0])
    assert found.word == word
    assert found.headline.startswith(headline)
    if word == "changed":
        change = next(change for change in found.compared.changes if change.counter == "WRITES")
        assert (change.before, change.before_most, change.now) == (100, 110, 150)


def test_what_never_scattered_must_not_change(tmp_path: Path) -> None:
    assert beside(tmp_path, runs(100, 100, 100), runs(104)[0]).word == "alike"
    assert beside(tmp_path, runs(100, 100, 100), runs(110)[0]).word == "changed"


def test_distances_are_of_the_larger_value() -> None:
    low, high = np.array([100, 100, 0, 50]), np.array([100, 100, 0, 100])
    off, changed = distances(low, high, np.array([106, 95, 1, 75]), 1)
    assert np.allclose(off, [6 / 106, 5 / 100, 1.0, 0.0])
    assert changed.tolist() == [True, False, True, False]


def test_a_file_of_only_some_runs_is_no_change(tmp_path: Path) -> None:
    def log(*names: str) -> LogBuilder:
        made = with_writes(builder(), "/d/out", 10)
        for name in names:
            with_writes(made, name, 5)
        return made

    baseline = [log("/d/core"), log("/d/core", "/d/retry"), log("/d/core")]
    assert beside(tmp_path, baseline, log("/d/core")).word == "equal"
    assert beside(tmp_path, baseline, log("/d/core", "/d/retry")).word == "equal"
    found = beside(tmp_path, baseline, log("/d/retry"))
    assert [(change.kind, change.file) for change in found.compared.changes] == [("file less", "/d/core")]
    found = beside(tmp_path, baseline, log("/d/core", "/d/new"))
    assert [(change.kind, change.file) for change in found.compared.changes] == [("file more", "/d/new")]


def test_the_number_of_files_of_a_kind_may_scatter(tmp_path: Path) -> None:
    def log(count: int) -> LogBuilder:
        made = with_writes(builder(), "/d/out", 10)
        for number in range(count):
            with_writes(made, f"/d/cache-{number}.bin", 4)
        return made

    baseline = [log(8), log(10), log(9)]
    assert beside(tmp_path, baseline, log(11)).word == "equal"
    assert beside(tmp_path, baseline, log(7)).word == "equal"
    assert beside(tmp_path, baseline, log(40)).compared.files_more == 30


def test_strides_of_random_orders_come_and_go(tmp_path: Path) -> None:
    def log(strides: list[int], most: int) -> LogBuilder:
        pairs: dict[str, float] = {}
        for place, stride in enumerate(strides, 1):
            pairs |= {f"STRIDE{place}_STRIDE": stride, f"STRIDE{place}_COUNT": most if place == 1 else 2}
        return builder().posix("/d/f", 0, READS=100, **pairs)

    baseline = [log([10 * n, 10 * n + 1, 10 * n + 2, 10 * n + 3], 3 + n % 2) for n in range(1, 6)]
    assert beside(tmp_path, baseline, log([7, 8, 9, 4], 4)).word == "equal"
    found = beside(tmp_path, baseline, log([7, 8, 9, 4], 60))
    assert rows(found.compared.changes) == {("f", "STRIDE", 0, 60)}


def test_the_order_of_a_few_calls_comes_and_goes(tmp_path: Path) -> None:
    def log(consecutive: int) -> LogBuilder:
        return builder().posix("/d/f", 0, WRITES=40, CONSEC_WRITES=consecutive)

    assert beside(tmp_path, [log(0), log(0), log(0)], log(2)).word == "alike"
    assert beside(tmp_path, [log(0), log(0), log(0)], log(3)).word == "changed"
    assert beside(tmp_path, [log(0)], log(1)).word == "changed"
