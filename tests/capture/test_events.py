"""Opens, closes and syncs in the side file, with the clocks of the ranks."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Profile, Run

RANKS = 4
needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"
)

SCRIPT = """
import os
fd = os.open("data", os.O_WRONLY | os.O_CREAT)
os.write(fd, b"x")
os.fsync(fd)
os.fdatasync(fd)
os.close(fd)
for i in range(1000):
    os.close(os.open("many", os.O_WRONLY | os.O_CREAT))
if {kill}:
    os.kill(os.getpid(), 9)
"""


def side_file(run: Run) -> dict[str, Any]:
    side: dict[str, Any] = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    return side


def of_file(run: Run, side: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [row for row in side["events"] if row["file"] == f"{run.folder}/{name}"]


@pytest.mark.parametrize("kill", [False, True])
def test_serial(profile: Profile, kill: bool) -> None:
    run = profile(sys.executable, "-c", SCRIPT.format(kill=kill), options=("--events",), check=False)
    side = side_file(run)
    data = of_file(run, side, "data")
    assert [row["event"] for row in data] == ["open", "sync", "sync", "close"]
    assert {row["module"] for row in data} == {"POSIX"} and {row["rank"] for row in data} == {0}
    times = [moment for row in data for moment in (row["start"], row["end"])]
    assert times == sorted(times) and times[0] > 0
    assert len(of_file(run, side, "many")) == 2000
    record = run.record("POSIX", "data")
    assert record["F_OPEN_START_TIMESTAMP"] == pytest.approx(data[0]["start"], abs=1e-8)


@pytest.mark.mpi
@needs_mpi
def test_job(profile: Profile, compiled: Callable[..., Path]) -> None:
    program = compiled("mpi_known.c", compiler="mpicc")
    run = profile("mpiexec", "-n", str(RANKS), program, options=("--events",))
    side = side_file(run)
    clocks = side["clocks"]
    assert [row["rank"] for row in clocks] == list(range(RANKS))
    assert clocks[0]["offset"] == 0
    for row in clocks[1:]:  # one node, one monotonic clock: only the wall clock at the start differs
        assert abs(row["offset"]) <= row["error"] + 1e-3
        assert 0 < row["error"] < 1
    shared = [row for row in of_file(run, side, "shared") if row["module"] == "MPI-IO"]
    assert Counter((row["rank"], row["event"]) for row in shared) == {
        (rank, event): 1 for rank in range(RANKS) for event in ("open", "sync", "close")
    }
    record = run.record("MPI-IO", "shared")
    first = min(row["start"] for row in shared)
    assert record["F_OPEN_START_TIMESTAMP"] == pytest.approx(first, abs=1e-8)


@pytest.mark.mpi
@needs_mpi
@pytest.mark.parametrize("first", ["0", "1"])
def test_ranks_of_different_settings_end_together(
    profile: Profile, compiled: Callable[..., Path], first: str
) -> None:
    """Settings that only some ranks have must not let the others wait at MPI_Finalize."""
    program = compiled("mpi_known.c", compiler="mpicc")
    others = "1" if first == "0" else "0"
    # By the rank that the launcher tells: `mpiexec ... : ...` ends with a crash of its own in Debian 13.
    script = f"""
        if [ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" -lt 2 ]; then on={first} largest=0; else on={others} largest=1000000000; fi
        export WORKALIKE_CAPTURE_EVENTS=$on WORKALIKE_CAPTURE_STDIO_SIZES=$on
        export WORKALIKE_CAPTURE_KEEP_RECORDS=$on WORKALIKE_CAPTURE_MAX_LOG=$largest
        exec "$0"
    """
    run = profile("mpiexec", "-n", "4", "sh", "-c", script, program)
    assert len(run.records("MPI-IO", "shared")) == (4 if first == "1" else 1)
    assert ("events" in side_file(run)) == (first == "1")


def test_without_asking_there_are_none(profile: Profile) -> None:
    run = profile("bash", "-c", "echo x > x")
    assert "events" not in side_file(run)
