"""Bytes of each rank over time, from heatmaps and traces, and their figure."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from test_time_charts import found_in, two_ranks, written

from workalike.compare.pairing import pair_up
from workalike.darshan import Log, LogBuilder, open_log
from workalike.facts.bytes_over_time import bytes_over_time
from workalike.facts.jobs import job_of
from workalike.report.rank_heat import bytes_of_ranks


def with_heatmap() -> LogBuilder:
    """One record for all of four ranks; rank 2 moves bytes from 20 s on, the others from 60 s on."""
    builder = LogBuilder(nprocs=4, run_time=100.0)
    written(builder, "/scratch/chk.0000", -1, 10.0, 90.0, 1.25)
    for rank in range(4):
        bins = [0] * 10
        bins[2 if rank == 2 else 6] = 1000
        builder.heatmap("POSIX", rank, 10.0, bins, [0] * 9 + [7])
        builder.heatmap("MPIIO", rank, 10.0, bins)  # the same bytes once more
    return builder


def log_of(builder: LogBuilder, folder: Path) -> Log:
    return open_log(builder.write(folder / "app.darshan"))


def test_a_heatmap(tmp_path: Path) -> None:
    found = bytes_over_time(job_of([log_of(with_heatmap(), tmp_path)]), 4, 10, 100.0)
    assert found is not None
    true = np.zeros((4, 10))
    true[:, 6], true[2, 6], true[2, 2], true[:, 9] = 1000, 0, 1000, 7
    assert np.array_equal(found, true)


def test_groups_of_ranks_and_times_that_are_moved(tmp_path: Path) -> None:
    found = bytes_over_time(job_of([log_of(with_heatmap(), tmp_path)]), 2, 4, 40.0, moved_s=20.0)
    assert found is not None
    assert found.sum() == 4 * 1007
    assert found[:, 0].tolist() == [0, 1000]
    assert found[:, 3].tolist() == [2014, 1014]  # what is later is in the last column


def test_a_trace_goes_before_a_heatmap(tmp_path: Path) -> None:
    """It has finer times, and no bytes of streams."""
    builder = with_heatmap()
    builder.heatmap("STDIO", 3, 10.0, [5] + [0] * 9)
    builder.dxt_posix("/scratch/chk.0000", rank=1, writes=[(0, 5000, 31.0, 32.0)])
    found = bytes_over_time(job_of([log_of(builder, tmp_path)]), 4, 10, 100.0)
    assert found is not None
    assert np.argwhere(found).tolist() == [[1, 3], [3, 0]]
    assert (found[1, 3], found[3, 0]) == (5000, 5)


def test_a_trace_that_ended_early_does_not(tmp_path: Path) -> None:
    builder = with_heatmap()
    builder.dxt_posix("/scratch/chk.0000", rank=1, writes=[(0, 500, 31.0, 32.0)])
    found = bytes_over_time(job_of([log_of(builder, tmp_path)]), 4, 10, 100.0)
    assert found is not None
    assert found.sum() == 4 * 1007


def test_very_many_records_of_a_trace_are_summed_together(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=64, run_time=100.0)
    for file in range(60_000):
        builder.dxt_posix(f"/scratch/{file}", rank=file % 64, writes=[(0, 100, float(file % 97), 98.0)])
    job = job_of([log_of(builder, tmp_path)])
    begun = time.process_time()
    found = bytes_over_time(job, 64, 240, 100.0)
    assert time.process_time() - begun < 2  # seconds for each record by itself
    assert found is not None and found.sum() == 100 * 60_000
    assert found[5, int(5 / 100 * 240)] > 0


@pytest.mark.filterwarnings("error")
def test_times_beyond_all_bounds(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=1, run_time=100.0)
    builder.heatmap("POSIX", 0, 1e308, [5] * 10)
    found = bytes_over_time(job_of([log_of(builder, tmp_path)]), 1, 4, 1.0)
    assert found is not None
    assert found.tolist() == [[5, 0, 0, 45]]


def test_a_log_without_either_has_none(tmp_path: Path) -> None:
    assert bytes_over_time(job_of([log_of(two_ranks(), tmp_path)]), 2, 4, 100.0) is None


def test_the_figure(tmp_path: Path) -> None:
    figure = bytes_of_ranks(pair_up(found_in(with_heatmap(), tmp_path), None))
    assert figure is not None
    assert "original, 4 ranks" in figure
    assert bytes_of_ranks(pair_up(found_in(two_ranks(), tmp_path), None)) is None
