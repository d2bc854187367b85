"""What a log without traces leaves open of the start of operations, worked out by hand (benchmarks/agenda_left_open.py)."""

from __future__ import annotations

import numpy as np
from agenda_left_open import Confined, confined, last_of_file
from facts_by_hand import file_facts, module_facts
from simulated_job import log_of

from workalike.darshan import Log, LogBuilder
from workalike.facts.records import FileFacts
from workalike.facts.traces import Trace
from workalike.workload.model import Direction, Level

TIMES = {"F_WRITE_START_TIMESTAMP": 2.0, "F_WRITE_END_TIMESTAMP": 12.0, "F_MAX_WRITE_TIME": 1.0}


def file_of(*ranks: int) -> FileFacts:
    return file_facts("a", module_facts("POSIX", dict.fromkeys(ranks, TIMES)))


def log(*bins: int) -> Log:
    """A log with a heatmap of rank 0 in bins of 5 s, if any are given."""
    builder = LogBuilder(nprocs=2, run_time=20.0)
    return log_of(builder.heatmap("POSIX", 0, 5.0, bins) if bins else builder)


def trace(*ranks: int) -> Trace:
    """An operation of 8 bytes of each rank, at 2, 3, ... seconds."""
    count = len(ranks)
    starts = 2.0 + np.arange(count)
    lengths = np.full(count, 8)
    return Trace(np.array(ranks), np.arange(count) * 8, lengths, starts, starts + 1.0)


def spans(found: Confined | None) -> list[tuple[float, float]]:
    assert found is not None
    return list(zip(found.low.tolist(), found.high.tolist(), strict=True))


def test_a_record_of_all_ranks_tells_first_and_last_only() -> None:
    found = confined(log(), file_of(-1), Level.POSIX, Direction.WRITE, trace(0, 1, 0))
    assert spans(found) == [(2, 12)] * 3
    assert found is not None
    assert found.half().tolist() == [5, 5, 5]
    assert last_of_file(log(), file_of(-1), Level.POSIX, Direction.WRITE) == 0.5


def test_a_rank_s_own_record_tells_its_first_and_about_its_last() -> None:
    found = confined(log(), file_of(0), Level.POSIX, Direction.WRITE, trace(0, 0, 0))
    assert spans(found) == [(2, 2), (2, 12), (11, 12)]
    assert found is not None
    assert (found.first(np.arange(3)), found.last(np.arange(3))) == (0.0, 0.5)


def test_the_heatmap_tells_the_bin_of_each_operation() -> None:
    found = confined(log(8, 0, 16, 0), file_of(-1), Level.POSIX, Direction.WRITE, trace(0, 0, 0))
    assert spans(found) == [
        (2, 2),
        (10, 12),
        (11, 12),
    ]  # the only rank, whose longest operation takes a second
    assert found is not None
    assert found.wrong(np.array([2.0, 11.0, 12.5]), slack=0.1) == 1


def test_a_heatmap_with_other_bytes_tells_nothing() -> None:
    found = confined(log(800, 0, 16, 0), file_of(-1), Level.POSIX, Direction.WRITE, trace(0, 0, 1))
    assert spans(found) == [(2, 12)] * 3


def test_a_module_without_times_tells_nothing() -> None:
    assert confined(log(), file_of(0), Level.STDIO, Direction.WRITE, trace(0)) is None
