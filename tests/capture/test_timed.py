"""What happened when: heatmaps always, traces on request; also of processes that were killed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import Profile


def total(run: Any, module: str, name: str) -> int:
    table = run.log.records(module)
    return 0 if table is None else int(table[name].sum())


@pytest.mark.parametrize("how", ["", "KILL"])
@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("mpicc") is None, reason="no MPI")
def test_parallel(
    profile: Profile,
    compiled: Callable[..., Path],
    how: str,
    same_for_pydarshan: Callable[[Path], dict[str, Any]],
) -> None:
    run = profile(
        "mpiexec", "-n", "4", compiled("mpi_known.c", compiler="mpicc"),
        options=("--dxt",), environment={how: "1"} if how else {}, check=not how,
    )  # fmt: skip
    answer = same_for_pydarshan(run.logs[0])
    assert {"HEATMAP", "DXT_POSIX", "DXT_MPIIO"} <= set(answer["modules"])
    for api, module in (("POSIX", "POSIX"), ("MPIIO", "MPI-IO")):
        heatmap = run.log.heatmaps()[api]
        assert int(np.sum(heatmap.write)) == total(run, module, "BYTES_WRITTEN")
        assert int(np.sum(heatmap.read)) == total(run, module, "BYTES_READ")
    for trace, module, calls in (
        ("DXT_POSIX", "POSIX", ("WRITES", "READS")),
        ("DXT_MPIIO", "MPI-IO", ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES", "SPLIT_WRITES", "COLL_READS")),
    ):
        records = answer[trace]
        segments = [s for row in records for kind in ("write_segments", "read_segments") for s in row[kind]]
        assert len(segments) == sum(total(run, module, name) for name in calls)
        moved = total(run, module, "BYTES_WRITTEN") + total(run, module, "BYTES_READ")
        assert sum(length for _, length, _, _ in segments) == moved
        assert all(0 < start <= end <= run.log.job.run_time + 0.01 for _, _, start, end in segments)
    offsets = {s[0] for row in answer["DXT_MPIIO"] for s in row["write_segments"]}
    assert {20000, 20400, 20800, 21200} <= offsets


def test_trace_has_every_offset(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("posix_known.c"), options=("--dxt",))
    trace = run.log.dxt("DXT_POSIX")
    assert trace is not None
    number = next(n for n, name in run.log.names.items() if name.endswith("/strided"))
    (place,) = np.flatnonzero(np.asarray(trace.ids) == number)
    segments, _ = trace.segments(int(place))
    assert [int(offset) for offset in segments["offset"][:8]] == [4096 * i for i in range(8)]
    assert [int(length) for length in segments["length"]] == [512] * 8 + [300, 300]


def test_pydarshan_renders_its_summary(
    profile: Profile, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    run = profile(compiled("posix_known.c"), options=("--dxt",))
    page = tmp_path / "summary.html"
    done = subprocess.run(
        [sys.executable, "-m", "darshan", "summary", str(run.logs[0]), "--output", str(page)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Heat Map: HEATMAP POSIX" in page.read_text() and "Traceback" not in done.stderr


def test_without_asking_there_is_no_trace(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("posix_known.c"))
    assert "DXT_POSIX" not in run.log.modules
    assert "HEATMAP" in run.log.modules


def test_times_are_those_of_the_clock(profile: Profile, compiled: Callable[..., Path]) -> None:
    """The time follows from the processor's counter most of the time, and may not drift from the clock."""
    run = profile(compiled("clock_brackets.c"), options=("--dxt",))
    before, after = np.array([line.split() for line in run.stdout.splitlines()], dtype=np.int64).T
    traces = run.log.dxt("DXT_POSIX")
    assert traces is not None
    writes, _ = traces.segments(0)
    assert len(writes) == len(before) == 20000
    # The log's times begin at an origin that the program does not know: one that puts each write between its looks
    # at the clock. What is missing to such an origin is an error of the times.
    earliest = (before * 1e-9 - writes["start"]).max()
    latest = (after * 1e-9 - writes["end"]).min()
    assert earliest - latest < 5e-7
    assert (writes["end"] >= writes["start"]).all()
    assert (np.diff(writes["start"]) > 0).all()
