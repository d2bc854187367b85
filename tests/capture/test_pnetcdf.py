"""PNETCDF_FILE and PNETCDF_VAR: known calls on four ranks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Profile, Run

RANKS = 4
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"),
    pytest.mark.skipif(not Path("/usr/include/pnetcdf.h").exists(), reason="no PnetCDF (libpnetcdf-dev)"),
]

FILE = {
    "CREATES": 4, "OPENS": 4, "REDEFS": 4, "INDEP_WAITS": 0, "COLL_WAITS": 12, "SYNCS": 4, "WAIT_FAILURES": 0,
}  # fmt: skip

# Of each rank; a row of the grid is 80 bytes.
GRID_WRITTEN = [80, 80, 40, 40, 48, 8, 80]
GRID = {
    "OPENS": 8, "COLL_WRITES": 20, "INDEP_WRITES": 8, "COLL_READS": 8, "INDEP_READS": 8, "NB_READS": 0, "NB_WRITES": 0,
    "BYTES_WRITTEN": 4 * sum(GRID_WRITTEN), "BYTES_READ": 4 * (80 + 8 + 40) + 3 * 80, "RW_SWITCHES": 4 * 3,
    "PUT_VAR1": 4, "PUT_VARA": 12, "PUT_VARS": 4, "PUT_VARM": 4, "PUT_VARN": 4, "PUT_VAR": 0,
    "GET_VAR1": 4, "GET_VARA": 8, "GET_VARS": 4, "GET_VAR": 0, "IPUT_VARA": 0,
    "NDIMS": 2, "NPOINTS": 40, "DATATYPE_SIZE": 8, "IS_RECORD_VAR": 0,
    "ACCESS1_ACCESS": 80, "ACCESS1_COUNT": 4 * 4 + 3, "ACCESS1_LENGTH_D1": 1, "ACCESS1_LENGTH_D2": 10,
    "ACCESS1_LENGTH_D3": 0, "ACCESS1_STRIDE_D2": 1,
    "ACCESS2_ACCESS": 40, "ACCESS2_COUNT": 12, "ACCESS2_LENGTH_D2": 5, "ACCESS2_STRIDE_D1": 1, "ACCESS2_STRIDE_D2": 2,
    "ACCESS3_ACCESS": 8, "ACCESS3_COUNT": 8, "ACCESS4_ACCESS": 48, "ACCESS4_COUNT": 4,
    "SIZE_WRITE_AGG_0_100": 28, "SIZE_READ_AGG_0_100": 16,
}  # fmt: skip
SERIES = {
    "OPENS": 4, "NB_WRITES": 12, "NB_READS": 8, "COLL_READS": 4, "BYTES_WRITTEN": 4 * (32 + 4 + 32),
    "BYTES_READ": 4 * (32 + 32 + 128), "IPUT_VARA": 4, "IPUT_VAR1": 4, "BPUT_VARA": 4, "IGET_VARA": 8, "GET_VAR": 4,
    "NDIMS": 2, "NPOINTS": 32, "DATATYPE_SIZE": 4, "IS_RECORD_VAR": 1, "SIZE_READ_AGG_100_1K": 4,
    "ACCESS1_ACCESS": 32, "ACCESS1_COUNT": 16, "ACCESS1_LENGTH_D1": 2, "ACCESS1_LENGTH_D2": 4,
    "ACCESS2_ACCESS": 128, "ACCESS2_LENGTH_D1": 8,
}  # fmt: skip
LINE = {
    "OPENS": 8, "COLL_WRITES": 4, "COLL_READS": 4, "BYTES_WRITTEN": 80, "BYTES_READ": 80, "PUT_VAR": 4, "GET_VAR": 4,
    "NDIMS": 1, "NPOINTS": 10, "DATATYPE_SIZE": 2, "ACCESS1_LENGTH_D1": 10,
}  # fmt: skip


# Calls for both at once count on each; of "right" two columns are named where "left" has four.
LEFT = {
    "OPENS": 4, "COLL_WRITES": 16, "COLL_READS": 8, "INDEP_WRITES": 4, "INDEP_READS": 4,
    "PUT_VARA": 8, "PUT_VARS": 4, "PUT_VARM": 4, "PUT_VAR1": 4, "GET_VARA": 4, "GET_VAR": 4, "GET_VAR1": 4,
    "BYTES_WRITTEN": 4 * (16 + 16 + 8 + 8 + 4), "BYTES_READ": 4 * (16 + 64 + 4), "NDIMS": 2, "NPOINTS": 16,
}  # fmt: skip
RIGHT = {
    "OPENS": 4, "COLL_WRITES": 16, "COLL_READS": 8, "INDEP_WRITES": 0, "INDEP_READS": 4,
    "PUT_VARA": 8, "PUT_VARS": 4, "PUT_VARM": 4, "PUT_VAR1": 0, "GET_VARA": 4, "GET_VAR": 4, "GET_VAR1": 4,
    "BYTES_WRITTEN": 4 * (8 + 8 + 8 + 8), "BYTES_READ": 4 * (8 + 64 + 4), "NDIMS": 2, "NPOINTS": 16,
}  # fmt: skip


def build(compiled: Callable[..., Path]) -> Path:
    return compiled("pnetcdf_known.c", "-lpnetcdf", compiler="mpicc")


@pytest.fixture(scope="module")
def run(library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    profile = Profile(tmp_path_factory.mktemp("pnetcdf"))
    return profile("mpiexec", "-n", str(RANKS), build(compiled))


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("PNETCDF_FILE", "data.nc", FILE),
        ("PNETCDF_VAR", "data.nc:grid", GRID),
        ("PNETCDF_VAR", "data.nc:series", SERIES),
        ("PNETCDF_VAR", "data.nc:line", LINE),
        ("PNETCDF_VAR", "data.nc:left", LEFT),
        ("PNETCDF_VAR", "data.nc:right", RIGHT),
    ],
)
def test_counters_are_exact(run: Run, module: str, name: str, expected: dict[str, int]) -> None:
    record = run.record(module, name)
    assert record["rank"] == -1
    assert {key: record[key] for key in expected} == expected


def test_bytes_of_the_file_are_the_library_s_own(run: Run) -> None:
    record = run.record("PNETCDF_FILE", "data.nc")
    written = GRID["BYTES_WRITTEN"] + SERIES["BYTES_WRITTEN"]
    assert record["BYTES_WRITTEN"] >= written  # and the header
    assert record["BYTES_READ"] > 0
    assert (
        0
        < record["F_OPEN_START_TIMESTAMP"]
        < record["F_WAIT_END_TIMESTAMP"]
        < record["F_CLOSE_END_TIMESTAMP"]
    )
    assert record["F_WAIT_TIME"] > 0


def test_log_is_read_by_pydarshan(run: Run, same_for_pydarshan: Callable[[Path], dict[str, Any]]) -> None:
    answer = same_for_pydarshan(run.logs[0])
    assert {"PNETCDF_FILE", "PNETCDF_VAR", "MPI-IO", "POSIX"} <= set(answer["modules"])
    variables, files = run.log.records("PNETCDF_VAR"), run.log.records("PNETCDF_FILE")
    assert variables.file_ids is not None
    assert set(variables.file_ids.tolist()) == set(files.ids.tolist())
    assert answer["PNETCDF_VAR"]["counter_names"] == list(variables.counter_names)


def test_pydarshan_renders_its_summary(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "summary.html"
    done = subprocess.run(
        [sys.executable, "-m", "darshan", "summary", str(run.logs[0]), "--output", str(page)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "PNETCDF" in page.read_text() and "Traceback" not in done.stderr


def test_killed_job_has_its_records(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile("mpiexec", "-n", "2", build(compiled), environment={"KILL": "1"}, check=False)
    parts = run.records("PNETCDF_VAR", "data.nc:grid")
    assert [(entry["rank"], entry["BYTES_WRITTEN"]) for entry in parts] == [(0, 376), (1, 376)]
    assert [entry["ACCESS1_LENGTH_D2"] for entry in parts] == [10, 10]


def test_fortran_is_counted(profile: Profile, compiled: Callable[..., Path]) -> None:
    program = compiled(
        "pnetcdf_fortran.F90", "-I/usr/include/x86_64-linux-gnu", "-lpnetcdf", compiler="mpif90"
    )
    run = profile("mpiexec", "-n", str(RANKS), program)
    assert run.record("PNETCDF_FILE", "fortran.nc")["CREATES"] == RANKS
    field = run.record("PNETCDF_VAR", "fortran.nc:field")
    assert (field["PUT_VARA"], field["BYTES_WRITTEN"], field["NPOINTS"]) == (RANKS, 32 * RANKS, 32)
    assert (field["ACCESS1_LENGTH_D1"], field["ACCESS1_LENGTH_D2"]) == (1, 8)
