"""Times of a log that cannot be true, from the log to the agenda: stated, bounded, and no rank waits for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import LogBuilder, open_log
from workalike.launch.engines import engine_if_built
from workalike.plan.resolve import Options, resolve
from workalike.plan.timeline import timeline
from workalike.workload.workload_file import write_workload

KIB = 1024
RUN = 50.0
WORKALIKE = [sys.executable, "-c", "from workalike.cli import main; main()"]


def add(builder: LogBuilder, rank: int, first: float, last: float, inside: float, shift: float = 0.0) -> None:
    """Four collective writes of a rank to the file that all share, in a record of its own."""
    builder.mpiio(
        "/scratch/chk",
        rank=rank,
        COLL_OPENS=1,
        COLL_WRITES=4,
        BYTES_WRITTEN=4 * KIB,
        SIZE_WRITE_AGG_100_1K=4,
        ACCESS1_ACCESS=KIB,
        ACCESS1_COUNT=4,
        F_OPEN_START_TIMESTAMP=1.0 + shift,
        F_WRITE_START_TIMESTAMP=first + shift,
        F_WRITE_END_TIMESTAMP=last + shift,
        F_CLOSE_END_TIMESTAMP=10.0 + shift,
        F_WRITE_TIME=inside,
    )


def clocks_disagree(builder: LogBuilder) -> None:
    """Each rank's clock is 10 s later than that of the one before: ranks of one collective call never meet."""
    for rank in range(3):
        add(builder, rank, 2.0, 8.0, 0.5, 10.0 * rank)


def ends_before_it_begins(builder: LogBuilder) -> None:
    for rank in range(3):
        add(builder, rank, 8.0, 2.0, 0.5)


def larger_timers(builder: LogBuilder) -> None:
    for rank in range(3):
        add(builder, rank, 2.0, 8.0, 1e6)


def no_run_time(builder: LogBuilder) -> None:
    for rank in range(3):
        add(builder, rank, 2.0, 8.0, 0.5)


CASES: dict[str, tuple[Callable[[LogBuilder], None], float, str]] = {
    "clocks disagree": (clocks_disagree, RUN, "of ranks that never meet"),
    "windows end before they begin": (ends_before_it_begins, RUN, "they end before they begin"),
    "timers are larger than windows": (larger_timers, RUN, "take longer than from first to last"),
    "a run of no time": (no_run_time, 0.0, "run time is impossible"),
}


@pytest.mark.parametrize(("make", "run", "said"), CASES.values(), ids=CASES)
def test_bad_times_are_stated_and_bounded(
    make: Callable[[LogBuilder], None], run: float, said: str, tmp_path: Path
) -> None:
    builder = LogBuilder(nprocs=3, run_time=run)
    make(builder)
    found = characterize(
        [open_log(builder.write(tmp_path / "app.darshan"))], CharacterizeOptions(include_program_start=True)
    )
    assert any(said in warning for warning in found.warnings), found.warnings
    plan = resolve(found.workload, Options(time_scale=0.001))
    assert sum(dump.end_s - dump.start_s for dump in plan.dumps) <= RUN
    for rank in range(3):
        calls = list(timeline(plan, rank))
        moments = np.array([[call.start_s, call.start_s + call.busy_s] for call in calls])
        assert np.isfinite(moments).all()
        assert 0 <= moments.min() <= moments.max() <= RUN + 1e-6
        assert (np.diff(moments[:, 0]) >= 0).all()
        assert sum(call.call == "write" for call in calls) == 4
    if engine_if_built() is None:
        pytest.skip("the engine is not built")
    write_workload(found.workload, tmp_path / "app.yaml")
    done = subprocess.run(
        [*WORKALIKE, "run", "app.yaml", "--dir", "data", "--time-scale", "0.001", "--verify"],
        cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{12 * KIB:,} bytes written" in done.stdout
