"""From a program of several processes, with starts and ends that are known, to a replica that keeps them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.darshan import open_log
from workalike.launch.engines import engine_if_built
from workalike.plan.processes import life_of
from workalike.plan.resolve import Options, resolve
from workalike.plan.timeline import timeline
from workalike.workload.workload_file import write_workload

from .conftest import WORKALIKE, Profile

PLANTED = [(200, 800), (600, 1200), (1000, 2000)]
"""Milliseconds at which the processes begin and end."""
NEAR = 0.1
"""Seconds between two clocks that begin with the program: the log's with its load, the program's with its main()."""


def test_processes_keep_their_times(profile: Profile, compiled: Callable[..., Path], tmp_path: Path) -> None:
    moments = [str(edge) for span in PLANTED for edge in span]
    run = profile(compiled("forks.c"), *moments)
    truth = {
        int(line.split()[0]): [float(word) for word in line.split()[1:]] for line in run.stdout.splitlines()
    }
    found = characterize([open_log(log) for log in run.logs])
    workload = found.workload
    assert workload.ranks == 1 + len(PLANTED)  # the first process makes a file and moves no data
    plan = resolve(workload, Options(time_scale=1.0))
    for rank, (began, *writes, ended) in truth.items():
        begin, end = life_of(plan, rank + 1)
        assert begin == pytest.approx(began, abs=NEAR)
        assert (workload.runtime if end is None else end) == pytest.approx(ended, abs=NEAR)
        calls = [call for call in timeline(plan, rank + 1) if call.call == "write"]
        assert [call.start_s for call in calls] == pytest.approx(writes, abs=NEAR)
    write_workload(workload, tmp_path / "app.yaml")
    check_replica(tmp_path, truth)


def check_replica(folder: Path, truth: dict[int, list[float]]) -> None:
    """The log of the replica has the writes of each rank between the start and the end of its process."""
    if engine_if_built() is None:
        pytest.skip("the engine is not built")
    done = subprocess.run(
        [*WORKALIKE, "run", "app.yaml", "--dir", "data", "--time-scale", "1", "--capture", "--clock", "deadline"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "4 ranks idle for a part of the run" in done.stdout
    dumps = json.loads((folder / "run.json").read_text())["dumps"]
    assert (
        sum(dump["bytes_written"] for dump in dumps) == 15 * 4096 + 1
    )  # of the file that says it has started
    table = open_log(folder / "replica.darshan").records("POSIX")
    assert table is not None
    written = (table["BYTES_WRITTEN"] > 0) & (table.ranks > 0)
    first, last = table["F_WRITE_START_TIMESTAMP"][written], table["F_WRITE_END_TIMESTAMP"][written]
    moved = first.min() - truth[0][1]  # what the launch takes
    for rank, start, end in zip(
        (table.ranks[written] - 1).tolist(), first - moved, last - moved, strict=True
    ):
        assert start == pytest.approx(truth[rank][1], abs=2 * NEAR)
        assert end == pytest.approx(truth[rank][-2], abs=2 * NEAR)
