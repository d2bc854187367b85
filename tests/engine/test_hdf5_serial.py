"""HDF5 without MPI-IO: what a rank calls below the library is what a serial program calls, counted by the capture."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan import open_log

from .conftest import MPI_ENVIRONMENT, Engine, content, dump, family, make_plan, sharing
from .test_hdf5 import access, arrays, has_hdf5

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.skipif(not has_hdf5(), reason="the engine has no hdf5 backend")
WORKALIKE = Path(sys.executable).parent / "workalike"
KIB = 2**10
SERIAL = {"driver": "serial"}


@pytest.fixture
def calls(engine: Engine, tmp_path: Path) -> Callable[..., dict[str, dict[str, int]]]:
    """Performs a plan under the capture library: the sums of each module's counters over its HDF5 files."""
    if not WORKALIKE.exists():
        pytest.skip("workalike is not installed")

    def counted(plan: dict[str, Any], *args: str) -> dict[str, dict[str, int]]:
        log = tmp_path / f"engine{engine.runs}.darshan"
        engine(plan, "--verify", *args, prefix=[str(WORKALIKE), "profile", "-o", str(log), "--"])
        return sums_of(log)

    return counted


def sums_of(path: Path) -> dict[str, dict[str, int]]:
    log = open_log(path)
    out: dict[str, dict[str, int]] = {}
    for module in {"POSIX", "MPI-IO", "H5F", "H5D"} & set(log.modules):
        table = log.records(module)
        rows = [i for i, number in enumerate(table.ids.tolist()) if ".h5" in log.names.get(number, "")]
        out[module] = {name: int(table[name][rows].sum()) for name in table.counter_names} if rows else {}
    return out


def test_a_file_of_each_rank_is_opened_without_mpi(calls: Callable[..., dict[str, dict[str, int]]]) -> None:
    array = arrays([4096], access([[4, [2048], [1]]]))
    own = {"sharing": sharing("per-rank")}
    plan = make_plan(2, [family("hdf5", hdf5=SERIAL, **own)], [content(arrays=[array])])
    found = calls(plan)
    assert found["H5D"]["WRITES"] == 4
    assert found["H5F"]["USE_MPIIO"] == 0 and not found.get("MPI-IO")
    plan["families"][0]["hdf5"] = {}
    found = calls(plan)
    assert found["H5F"]["USE_MPIIO"] > 0 and found["MPI-IO"]


def test_metadata_is_gathered(calls: Callable[..., dict[str, dict[str, int]]]) -> None:
    """35 chunks of an extended dataset: the library's serial driver joins the writes of its indexes."""
    array = arrays([35 * 1024], access([[35, [1024], [1]]]), chunk=[1024])
    writes = []
    for settings in (SERIAL, {}):
        plan = make_plan(1, [family("hdf5", hdf5=settings)], [content(arrays=[array])])
        writes.append(calls(plan)["POSIX"]["WRITES"])
    assert 35 < writes[0] < writes[1]


def test_ranks_read_one_file_each_by_itself(calls: Callable[..., dict[str, dict[str, int]]]) -> None:
    """Prepared by all of them together, then opened by each."""
    array = arrays([4096], access([[8, [512], [1]]], "read"))
    plan = make_plan(2, [family("hdf5", hdf5=SERIAL)], [content(arrays=[array])])
    found = calls(plan)
    assert found["H5D"]["READS"] == 8 and found["H5D"]["WRITES"] == 0
    assert not found.get("MPI-IO")
    assert found["POSIX"]["BYTES_READ"] >= 8 * 4096


def test_what_was_written_is_read_back(engine: Engine, ranks: int) -> None:
    """Datasets of all kinds in files of one rank each: chunked, contiguous, extended, filled, and collective by word."""
    written_parts = [
        arrays([64, 32], access([[8 * ranks, [8, 32], [1, 1]]], collective=True), chunk=[5, 32]),
        arrays([64], access([[ranks, [64], [1]]]), datasets=3, fill_values=True),
        arrays([16, 8], access([[ranks, [16, 8], [1, 1]]]), extendible=True),
    ]
    reads = [{**part, "access": [{**part["access"][0], "direction": "read"}]} for part in written_parts]
    plan = make_plan(
        ranks,
        [family("hdf5", hdf5=SERIAL, sharing=sharing("per-rank"), lifetime="reused")],
        [content(arrays=written_parts), content(arrays=reads)],
        [dump(0), dump(1, content=1)],
    )
    result = engine(plan, "--verify", "--keep")
    assert result.end["verified"]["errors"] == 0
    assert result.end["verified"]["bytes"] > 0
    for path in result.data.iterdir():
        with h5py.File(path) as file:
            assert len(file) == 5


PROGRAM = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    for d in range(5):
        data = file.create_dataset(f"d{d}", (7 * 256, 64), chunks=(256, 64), dtype="f8")
        for c in range(7):
            data[256 * c : 256 * (c + 1)] = np.random.rand(256, 64)
"""


def test_the_replica_of_a_serial_program_writes_as_often(tmp_path: Path) -> None:
    """35 chunks by h5py: captured, characterized, performed, captured again."""
    if shutil.which("mpiexec") is None or not Path("/usr/bin/python3").exists():
        pytest.skip("no mpiexec, or no Python of the system")
    if subprocess.run(["/usr/bin/python3", "-c", "import h5py"], check=False).returncode != 0:
        pytest.skip("the system's Python has no h5py")  # that of a wheel has HDF5 of its own
    log, out = tmp_path / "app.darshan", tmp_path / "replica"
    program = ["/usr/bin/python3", "-c", PROGRAM, str(tmp_path / "out.h5")]
    environment = {**os.environ, **MPI_ENVIRONMENT}
    for command in (
        ["profile", "-o", str(log), "--", *program],
        ["replicate", str(log), "-o", str(out), "--time-scale", "0", "--capture"],
    ):
        done = subprocess.run(
            [str(WORKALIKE), *command],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    (captured,) = out.glob("*.darshan")
    before, after = sums_of(log), sums_of(captured)
    assert after["H5D"]["WRITES"] == before["H5D"]["WRITES"] == 35
    assert before["POSIX"]["WRITES"] == pytest.approx(after["POSIX"]["WRITES"], rel=0.05)
    assert before["POSIX"]["WRITES"] >= 35
    assert "driver: serial" in (out / "workload.yaml").read_text()
    assert json.loads((out / "fidelity.json").read_text())["verdict"]["grade"] in ("exact", "faithful")


@pytest.mark.parametrize(("amid", "flushes"), [(None, 0), ([1, 1], 12), ([5, 1], 2)])
def test_files_are_flushed_amid_the_writes_of_arrays(
    calls: Callable[..., dict[str, dict[str, int]]], amid: list[int] | None, flushes: int
) -> None:
    """Six writes of each of two datasets; what is flushed is written at once, metadata with it."""
    array = arrays([6 * 1024], access([[12, [1024], [1]]]), datasets=2, chunk=[1024])
    plan = make_plan(1, [family("hdf5", hdf5=SERIAL)], [content(arrays=[array], flush=amid)])
    found = calls(plan)
    assert (found["H5D"]["WRITES"], found["H5F"]["FLUSHES"]) == (12, flushes)
    assert found["POSIX"]["WRITES"] >= 12 + flushes


def test_ranks_that_share_a_file_do_not_flush_amid_arrays(engine: Engine) -> None:
    array = arrays([4096], access([[4, [1024], [1]]]))
    plan = make_plan(2, [family("hdf5")], [content(arrays=[array], flush=[1, 1])])
    result = engine(plan, "--check", processes=0, check=False)
    assert result.code == 2 and "needs files of one rank each" in result.stderr
