"""The search for logs slower than their past, in workloads of very many runs."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from workalike.diagnose.site import Site
from workalike.fleet.past import MOST_RUNS, PastLimits, add_words, past_findings

LIMITS = PastLimits.of_site(Site())


def logs(seconds: np.ndarray, opens: np.ndarray) -> Any:
    """Runs of one workload in the order of their starts, as the columns of `log` that the query reads."""
    count = len(seconds)
    return pa.table(
        {
            "log_id": np.arange(count),
            "site": ["s"] * count,
            "application": ["a"] * count,
            "nprocs": np.full(count, 64),
            "signature": ["same"] * count,
            "start": np.arange(count) * 60.0,
            "run_time": np.full(count, 600.0),
            "io_s": seconds,
            "opens": opens,
            "syncs": np.zeros(count, dtype=np.int64),
            "bytes_read": np.full(count, 10**10),
            "bytes_written": np.full(count, 10**11),
        }
    )


def found(seconds: np.ndarray, opens: np.ndarray, memory: str = "1GB") -> list[tuple[Any, ...]]:
    """(log, answer, evidence) of the findings, by log."""
    options = {"threads": 1, "memory_limit": memory, "temp_directory": ""}
    with duckdb.connect(":memory:", config=options) as connection:
        connection.register("log", logs(seconds, opens))
        connection.execute("CREATE TABLE stored_finding (log_id BIGINT, rule VARCHAR, cost_s DOUBLE)")
        add_words(connection)
        rows = connection.execute(
            f"SELECT log_id, answer, evidence FROM ({past_findings(LIMITS)}) ORDER BY 1"
        )
        return [(log, answer, json.loads(evidence)) for log, answer, evidence in rows.fetchall()]


def test_each_run_is_compared_with_its_last_thousand_earlier_ones() -> None:
    random = np.random.default_rng(1)
    seconds = random.lognormal(4, 0.5, 3300).clip(1, 600).round(1)  # so that some rates are equal
    opens = np.where(random.random(3300) < 0.02, 900, 100 + random.integers(0, 3, 3300))
    rate = 1.1e11 / seconds
    expected = {}
    for run in range(LIMITS.runs, len(seconds)):
        past = slice(max(0, run - MOST_RUNS), run)
        place = 100 * float((rate[past] < rate[run]).mean() + (rate[past] == rate[run]).mean() / 2)
        usual = float(np.median(seconds[past]))
        if place < LIMITS.percentile and seconds[run] - usual >= LIMITS.medium * 600:
            answer = "problem" if opens[run] == 900 else "not-your-fault"
            expected[run] = (answer, place, run - past.start, usual)
    got = found(seconds, opens)
    assert [log for log, _, _ in got] == list(expected) and len(got) > 100
    for log, answer, evidence in got:
        said, place, runs, usual = expected[log]
        assert answer == said and evidence["numbers"]["runs"] == runs
        assert abs(evidence["numbers"]["percentile"] - place) < 1e-4
        assert abs(evidence["terms"]["usual_io_s"] - usual) < 1e-6 * usual
    assert {answer for _, answer, _ in got} == {"problem", "not-your-fault"}


def test_the_memory_does_not_grow_with_the_runs_that_are_compared() -> None:
    seconds = np.random.default_rng(1).lognormal(4, 0.5, 60_000).clip(1, 600)
    assert len(found(seconds, np.full(60_000, 100), "110MB")) > 2000
