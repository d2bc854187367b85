"""H5F and H5D: from C, parallel, and from Python, where HDF5 is loaded late and privately."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Profile, Run

RANKS = 4

FILE = {"OPENS": RANKS, "FLUSHES": RANKS, "USE_MPIIO": 1}
FIELD = {
    "OPENS": RANKS, "WRITES": 2 * RANKS, "BYTES_WRITTEN": RANKS * 8 * 16 * 8, "REGULAR_HYPERSLAB_SELECTS": 2 * RANKS,
    "DATASPACE_NDIMS": 3, "DATASPACE_NPOINTS": RANKS * 8 * 16, "DATATYPE_SIZE": 8,
    "CHUNK_SIZE_D1": 16, "CHUNK_SIZE_D2": 4, "CHUNK_SIZE_D3": 1, "USE_MPIIO_COLLECTIVE": 1,
    "ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 2 * RANKS, "ACCESS1_LENGTH_D5": 1, "ACCESS1_LENGTH_D4": 4,
    "ACCESS1_LENGTH_D3": 16, "ACCESS1_STRIDE_D3": 1, "SIZE_WRITE_AGG_100_1K": 2 * RANKS, "USE_DEPRECATED": 0,
}  # fmt: skip
LINE = {
    "OPENS": RANKS, "READS": 2 * RANKS, "WRITES": RANKS, "BYTES_READ": RANKS * (40 + 12), "BYTES_WRITTEN": RANKS * 40,
    "POINT_SELECTS": RANKS, "REGULAR_HYPERSLAB_SELECTS": 0, "RW_SWITCHES": RANKS, "USE_MPIIO_COLLECTIVE": 0,
    "ACCESS1_ACCESS": 40, "ACCESS1_COUNT": 2 * RANKS, "ACCESS2_ACCESS": 12, "ACCESS2_COUNT": RANKS,
    "DATASPACE_NPOINTS": 10, "DATATYPE_SIZE": 4,
}  # fmt: skip


def hdf5_flags(kind: str) -> list[str]:
    """What the compiler needs for Debian's HDF5 of a kind, or nothing where it is in the usual places."""
    for include, lib in ((f"/usr/include/hdf5/{kind}", f"/usr/lib/x86_64-linux-gnu/hdf5/{kind}"),):
        if Path(include).is_dir() and Path(lib).is_dir():
            return [f"-I{include}", f"-L{lib}", "-lhdf5"]
    return ["-lhdf5"]


@pytest.fixture(scope="module")
def run(library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    if shutil.which("mpiexec") is None:
        pytest.skip("no MPI")
    program = compiled("hdf5_known.c", "-DPARALLEL", *hdf5_flags("openmpi"), compiler="mpicc")
    return Profile(tmp_path_factory.mktemp("hdf5"))("mpiexec", "-n", str(RANKS), program)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [("H5F", "data.h5", FILE), ("H5D", "data.h5:/stepfield", FIELD), ("H5D", "data.h5://line", LINE)],
)
def test_parallel_counters_are_exact(run: Run, module: str, name: str, expected: dict[str, int]) -> None:
    record = run.record(module, name)
    assert record["rank"] == -1
    assert {key: record[key] for key in expected} == expected


@pytest.mark.mpi
def test_log_is_read_by_pydarshan(run: Run, same_for_pydarshan: Callable[[Path], dict[str, Any]]) -> None:
    answer = same_for_pydarshan(run.logs[0])
    assert {"H5F", "H5D", "MPI-IO", "POSIX"} <= set(answer["modules"])
    datasets, files = run.log.records("H5D"), run.log.records("H5F")
    assert datasets is not None and datasets.file_ids is not None and files is not None
    assert set(datasets.file_ids.tolist()) == set(files.ids.tolist())


EXTRA = {
    "attributes_created": 1, "attributes_opened": 1, "attributes_read": 1, "attributes_written": 1,
    "attributes_closed": 2, "groups_created": 1, "datasets_created": 2,
}  # fmt: skip


@pytest.mark.mpi
def test_attributes_are_in_the_side_file(run: Run) -> None:
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    (row,) = side["hdf5"]
    assert (row.pop("file"), row.pop("rank")) == (f"{run.folder}/data.h5", -1)
    assert row == {name: RANKS * count for name, count in EXTRA.items()}


@pytest.mark.mpi
def test_killed_job_has_its_hdf5_records_and_side_file(
    profile: Profile, compiled: Callable[..., Path]
) -> None:
    program = compiled("hdf5_known.c", "-DPARALLEL", *hdf5_flags("openmpi"), compiler="mpicc")
    run = profile("mpiexec", "-n", "2", program, environment={"KILL": "1"}, check=False)
    parts = run.records("H5D", "data.h5:/stepfield")
    assert [(entry["rank"], entry["WRITES"], entry["ACCESS1_LENGTH_D3"]) for entry in parts] == [
        (0, 2, 16),
        (1, 2, 16),
    ]
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    assert sorted(row["rank"] for row in side["hdf5"]) == [0, 1]
    assert all({name: row[name] for name in EXTRA} == EXTRA for row in side["hdf5"])


def test_library_loaded_late_and_privately(profile: Profile) -> None:
    pytest.importorskip("h5py")
    script = profile.folder / "script.py"
    script.write_text(
        "import h5py, numpy\n"
        "with h5py.File('late.h5', 'w') as file:\n"
        "    data = file.create_dataset('group/data', (100, 10), 'f8', chunks=(10, 10))\n"
        "    for i in range(10):\n"
        "        data[10 * i : 10 * i + 10] = numpy.ones((10, 10))\n"
        "with h5py.File('late.h5') as file:\n"
        "    assert file['group/data'][:].sum() == 1000\n"
    )
    run = profile(sys.executable, script)
    assert run.record("H5F", "late.h5")["OPENS"] == 2
    data = [
        entry for name in ("late.h5:/groupdata", "late.h5:/group/data") for entry in run.records("H5D", name)
    ]
    assert sum(entry["WRITES"] for entry in data) == 10
    assert sum(entry["BYTES_WRITTEN"] for entry in data) == 8000
    assert sum(entry["BYTES_READ"] for entry in data) == 8000
    assert run.record("POSIX", "late.h5")["BYTES_WRITTEN"] >= 8000
