"""What a finding costs, with figures by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.costs import OUTSIDE_S, READ, WRITE, explained, with_time_in_hdf5
from workalike.diagnose.job import Job, read_job

CALLS = 10**6


def job_of(log: LogBuilder, folder: Path) -> Job:
    return read_job([open_log(log.write(folder / "x.darshan"))])


def test_calls_of_one_rank_cost_time_outside_of_timers_on_that_rank(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=8, run_time=100.0)
    log.posix("/data/x", 0, OPENS=1, WRITES=CALLS, BYTES_WRITTEN=CALLS, F_WRITE_TIME=0.5)
    cost = explained(job_of(log, tmp_path), np.ones(1), (WRITE,), "all")
    assert cost.rank_seconds == pytest.approx(0.5)
    assert cost.bound_s == pytest.approx(0.5 + OUTSIDE_S * CALLS)


def test_calls_of_a_reduced_record_are_shared_out(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=8, run_time=100.0)
    log.posix(
        "/data/x", OPENS=8, WRITES=CALLS, BYTES_WRITTEN=CALLS, F_WRITE_TIME=8.0, F_SLOWEST_RANK_TIME=1.0
    )
    cost = explained(job_of(log, tmp_path), np.full(1, 0.5), (WRITE,), "half of it")
    assert cost.rank_seconds == pytest.approx(4.0)
    assert cost.bound_s == pytest.approx(1.0 + OUTSIDE_S * 0.5 * CALLS / 8)  # 1 s on the slowest rank


def test_time_in_hdf5_beyond_the_calls_below_is_in_the_bound(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=8, run_time=100.0)
    log.posix("/data/x", OPENS=8, READS=8, BYTES_READ=80, F_READ_TIME=8.0)
    log.h5f("/data/x", OPENS=8).h5d("/data/x:/d", file="/data/x", READS=8, BYTES_READ=40, F_READ_TIME=24.0)
    job = job_of(log, tmp_path)
    cost = explained(job, np.full(1, 0.5), (READ,), "half of it")
    more = with_time_in_hdf5(job, cost, np.full(1, 0.5), READ)
    assert more.bound_s == pytest.approx(cost.bound_s + 0.5 * (24 - 8) / 8)
    assert more.rank_seconds == cost.rank_seconds


def test_what_takes_no_time_promises_no_gain(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=8, run_time=100.0)
    log.posix("/data/x", OPENS=8, WRITES=CALLS, BYTES_WRITTEN=CALLS)
    assert explained(job_of(log, tmp_path), np.ones(1), (WRITE,), "all").bound_s == 0.0
