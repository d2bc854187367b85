"""The slowest read or write of a job: as an independent reader of logs finds it, of the application's own files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from workalike.darshan import LogBuilder, open_log
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.text import diagnosis_text
from workalike.facts.gather import facts_of
from workalike.facts.slowest_call import SlowestCall, slowest_call
from workalike.fleet.rows import rows_of
from workalike.fleet.site import Site
from workalike.workload.words import Direction

MINUTES_18 = 18 * 60.0
"""What the slowest transfer of MINIO's poster took: 36 bytes."""


def written(folder: Path) -> Path:
    """A log whose slowest call is one of 36 bytes through MPI-IO; that of a library is slower still."""
    builder = LogBuilder(nprocs=4, run_time=4000.0, start_time=1)
    moved = {"BYTES_WRITTEN": 1 << 20, "BYTES_READ": 1 << 20}
    mpiio = {"F_MAX_WRITE_TIME": MINUTES_18, "MAX_WRITE_TIME_SIZE": 36, "F_WRITE_TIME": MINUTES_18}
    posix = {"F_MAX_WRITE_TIME": 1079.5, "MAX_WRITE_TIME_SIZE": 4096, "F_WRITE_TIME": 1079.5}
    reads = {"F_MAX_READ_TIME": 2.0, "MAX_READ_TIME_SIZE": 1 << 20, "F_READ_TIME": 2.0}
    builder.mpiio("/s/a.h5", rank=-1, COLL_OPENS=4, INDEP_WRITES=8, INDEP_READS=1, **moved, **mpiio)
    builder.posix("/s/a.h5", rank=-1, OPENS=4, WRITES=8, READS=1, **moved, **posix, **reads)
    late = {"F_MAX_READ_TIME": 3000.0, "MAX_READ_TIME_SIZE": 9, "F_READ_TIME": 3000.0}
    builder.posix("/usr/lib/libm.so", rank=-1, OPENS=4, READS=4, BYTES_READ=4096, **late)
    path = folder / "app.darshan"
    builder.write(path)
    return path


def test_it_is_the_longest_of_the_highest_module(tmp_path: Path) -> None:
    facts = facts_of([open_log(written(tmp_path))])
    own = np.array([name.startswith("/s/") for name in facts.names])
    found = slowest_call(facts, own)
    assert found == SlowestCall(MINUTES_18, 36, Direction.WRITE, "MPI-IO", int(np.flatnonzero(own)[0]))
    assert found.words == "MPI-IO write"
    of_all = slowest_call(facts, np.ones(len(facts), dtype=bool))
    assert of_all is not None and (of_all.seconds, of_all.bytes, of_all.words) == (3000.0, 9, "POSIX read")
    assert slowest_call(facts, np.zeros(len(facts), dtype=bool)) is None


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -5.0, 0.0, 4002.0])
def test_a_time_that_cannot_be_true_does_not_count(seconds: float, tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=1, run_time=4000.0, start_time=1)
    builder.posix("/s/a", OPENS=1, READS=1, BYTES_READ=9, F_MAX_READ_TIME=seconds, MAX_READ_TIME_SIZE=9)
    builder.write(tmp_path / "app.darshan")
    assert slowest_call(facts_of([open_log(tmp_path / "app.darshan")]), np.array([True])) is None


def test_diagnosis_and_fleet_say_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = diagnose([open_log(path)])
    assert found.slowest_call is not None
    assert (found.slowest_call.call, found.slowest_call.bytes) == ("MPI-IO write", 36)
    assert "slowest call: MPI-IO write of 36 B in 18 min (27 % of the run)" in diagnosis_text(found)
    (row,) = rows_of(path, Site()).rows["log"]
    assert (row["slowest_call"], row["slowest_call_s"], row["slowest_call_bytes"]) == (
        "MPI-IO write", MINUTES_18, 36,
    )  # fmt: skip
