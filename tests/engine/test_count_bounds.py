"""Counting ends: plans with more calls in random order than anybody waits for are refused, and signals arrive."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import NoReturn

import pytest

from workalike import _core
from workalike.cli import app
from workalike.errors import WorkalikeError
from workalike.predict.prediction import has_more_calls
from workalike.record.run_record import Record

from .conftest import content, dump, family, make_plan, stream

BEYOND = 1 << 32
"""Calls, more than are counted one by one."""

LONG = 1 << 28
"""Calls that are counted for many seconds."""


def writes(operations: int, pattern: str) -> _core.Plan:
    contents = [content(stream([[operations, 1]], pattern=pattern), opens=1)]
    return _core.Plan(json.dumps(make_plan(1, [family()], contents, [dump()])))


def test_what_follows_a_rule_is_counted_however_much_it_is() -> None:
    assert writes(BEYOND, "contiguous").count()["WRITES"].tolist() == [BEYOND]


def test_random_order_without_end_is_refused_at_once() -> None:
    with pytest.raises(_core.PlanError, match=r"dumps\[0\]: more than 1073741824 calls"):
        writes(BEYOND, "random").count()
    assert has_more_calls(writes(BEYOND, "random"), LONG)


def test_calls_that_are_looked_at_are_bounded_whatever_their_order() -> None:
    mixed = content(stream([[600, 1], [400, 2]], mixed=True), opens=1)
    plan = _core.Plan(json.dumps(make_plan(1, [family()], [mixed], [dump()])))
    assert plan.count(most=4000)["WRITES"].tolist() == [1000]
    with pytest.raises(_core.PlanError, match=r"dumps\[0\]: more than 900 calls"):
        plan.count(most=900)


def test_signals_arrive_while_the_core_counts() -> None:
    class Stopped(Exception):
        pass

    def stop(*_: object) -> NoReturn:
        raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Stopped):
            writes(LONG, "random").count()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_error_about_a_workload_without_end_names_the_workload(tmp_path: Path) -> None:
    workload, record = tmp_path / "endless.yaml", tmp_path / "run.json"
    workload.write_text(
        "workalike: 2\nranks: 1\nfamilies:\n"
        "- {role: scratch, number: 1, interface: posix, level: posix, sharing: {mode: root, ranks: 0},\n"
        "   lifetime: per-dump, schedule: {start: [0]}, content: {opens: 1, streams: [\n"
        f"     {{direction: write, sizes: [{BEYOND} x 1 B], pattern: random, ranks: 0}}]}}}}\n"
    )
    record.write_text(Record(plan_ranks=1, processes=1, backend="null").model_dump_json())
    with pytest.raises(WorkalikeError) as caught:
        app(["compare", str(workload), str(record)], standalone_mode=False)
    assert caught.value.exit_code == 2
    assert caught.value.one_line() == (
        f"bad usage: {workload}: dumps[0]: more than 1073741824 calls of the plan have to be counted one by one, "
        "such as those in random order (in a workload of your own, take fewer operations; "
        "replicate a log with a smaller --bytes-scale)"
    )
