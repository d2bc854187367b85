"""Trials whose data the page cache may have held, and settings that are called the best, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workalike.study.in_memory import in_memory_text
from workalike.study.journal import Finished
from workalike.study.report.page import left_out_text
from workalike.study.statistics.best import is_better_than_all
from workalike.study.statistics.table import Better, Trials

SYSTEM = {"system": {"memory_bytes": 1000}}


def trial(written: int, read: int, fsyncs: int, *, counted: bool = True) -> Finished:
    return Finished({"counted": counted}, [{"bytes_written": written, "bytes_read": read, "fsyncs": fsyncs}])


@pytest.mark.parametrize(
    ("finished", "about", "is_said"),
    [
        (trial(1400, 0, 0), SYSTEM, True),
        (trial(1500, 0, 0), SYSTEM, False),
        (trial(1400, 0, 1), SYSTEM, False),
        (trial(0, 1400, 1), SYSTEM, True),
        (trial(0, 1400, 1), SYSTEM | {"study": {"caches": "drop"}}, False),
        (trial(1400, 0, 0, counted=False), SYSTEM, False),
        (trial(1400, 0, 0), {}, False),
        (trial(0, 0, 0), SYSTEM, False),
    ],
)
def test_what_the_page_cache_may_have_held(finished: Finished, about: dict[str, Any], is_said: bool) -> None:
    """Below 1.5 times the memory, not synced by the dumps, or not read from the storage."""
    text = in_memory_text([finished], about)
    assert bool(text) == is_said
    assert not text or "1 trial: at most 1.37 KiB" in text


def test_trials_that_are_left_out_have_reasons() -> None:
    assert left_out_text(["ok", "ok"]) == ""
    assert left_out_text(["ok", "failed"]) == "; 1 trial is left out (1 failed)"
    states = ["timed-out", "not-taken", "not-taken", "ok"]
    assert left_out_text(states) == (
        "; 3 trials are left out (2 whose setting had no effect and 1 timed out)"
    )


def trials(**rates: list[float]) -> Trials:
    names = [name for name in rates for _ in rates[name]]
    block = np.array([block for name in rates for block in range(len(rates[name]))])
    return Trials(block, names, np.array([value for values in rates.values() for value in values]))


def test_the_best_is_better_than_each_other() -> None:
    steady = [1.0, 1.01, 0.99, 1.0]
    double = [2.0, 2.02, 1.97, 2.01]
    assert is_better_than_all(trials(a=double, b=steady), "a", Better.HIGHER)
    assert not is_better_than_all(trials(a=double, b=steady), "b", Better.HIGHER)
    assert is_better_than_all(trials(a=double, b=steady), "b", Better.LOWER)
    assert not is_better_than_all(trials(a=double, b=steady, c=[2.0, 2.0, 2.0, 2.0]), "a", Better.HIGHER)
    assert not is_better_than_all(trials(a=[2.0], b=[1.0]), "a", Better.HIGHER)
    assert not is_better_than_all(trials(a=double), "a", Better.HIGHER)
    never = [float("nan")] * 4
    assert is_better_than_all(trials(a=double, b=steady, c=never), "a", Better.HIGHER)
