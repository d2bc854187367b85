"""MPI programs: MPI-IO counters, one record for a file of all ranks, logs of jobs that did not end well."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.capture.mapping import read_mapping
from workalike.darshan import open_log

from .conftest import MPI_ENVIRONMENT, WORKALIKE, Profile, Run

RANKS = 4
RANK_IN_MAPPING = 32
"""Where a mapping's header has the rank (capture/mapping.h)."""
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"),
]

SHARED_MPIIO = {
    "COLL_OPENS": 4, "INDEP_OPENS": 0, "INDEP_WRITES": 12, "COLL_WRITES": 4, "NB_WRITES": 4, "SPLIT_WRITES": 4,
    "COLL_READS": 4, "SYNCS": 4, "HINTS": 4, "VIEWS": 4, "MODE": 1 + 8,
    "BYTES_WRITTEN": 4 * (3000 + 400 + 10 + 50), "BYTES_READ": 800, "RW_SWITCHES": 4,
    "SIZE_WRITE_AGG_0_100": 8, "SIZE_WRITE_AGG_100_1K": 16, "SIZE_READ_AGG_100_1K": 4,
    "ACCESS1_ACCESS": 1000, "ACCESS1_COUNT": 12, "ACCESS2_ACCESS": 400, "ACCESS2_COUNT": 4,
    "ACCESS3_ACCESS": 200, "ACCESS3_COUNT": 4, "ACCESS4_ACCESS": 50, "ACCESS4_COUNT": 4,
}  # fmt: skip


def launch(profile: Profile, program: Path, ranks: int = RANKS, **more: Any) -> Run:
    return profile("mpiexec", "-n", str(ranks), program, **more)


@pytest.fixture(scope="module")
def run(library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    return launch(Profile(tmp_path_factory.mktemp("mpi")), compiled("mpi_known.c", compiler="mpicc"))


def test_one_log_of_the_job(run: Run, same_for_pydarshan: Callable[[Path], dict[str, Any]]) -> None:
    assert len(run.logs) == 1, run.stderr
    answer = same_for_pydarshan(run.logs[0])
    assert answer["job"]["nprocs"] == RANKS
    assert "incomplete" not in answer["job"]["metadata"]
    assert run.log.job.exe.endswith("mpi_known")


def test_shared_file_is_one_record(run: Run) -> None:
    record = run.record("MPI-IO", "shared")
    assert record["rank"] == -1
    assert {key: record[key] for key in SHARED_MPIIO} == SHARED_MPIIO
    assert (
        record["F_OPEN_START_TIMESTAMP"] < record["F_WRITE_END_TIMESTAMP"] < record["F_CLOSE_END_TIMESTAMP"]
    )


def test_parts_of_writing_the_log_are_timed(
    library: Path, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """The paper's Table 2: reduction, compression, storing."""
    program = compiled("mpi_known.c", compiler="mpicc")
    timed = launch(Profile(tmp_path), program, environment={"WORKALIKE_CAPTURE_TIMING": "1"})
    found = re.findall(r"^workalike-capture: (\w+) (\d+\.\d{3}) ms$", timed.stderr, flags=re.MULTILINE)
    assert [name for name, _ in found] == ["reduce", "compress", "store"]
    assert all(float(time) > 0 for _, time in found)
    (tmp_path / "quiet").mkdir()
    assert "workalike-capture: store" not in launch(Profile(tmp_path / "quiet"), program).stderr


def test_reduction_of_ranks_that_differ(run: Run) -> None:
    record = run.record("POSIX", "posix")
    sizes = [1000 * (rank + 1) for rank in range(RANKS)]
    assert record["rank"] == -1
    assert (record["OPENS"], record["WRITES"], record["BYTES_WRITTEN"]) == (4, 4, sum(sizes))
    assert record["MAX_BYTE_WRITTEN"] == 30000 + 4000 - 1
    assert [record[f"ACCESS{k}_ACCESS"] for k in (1, 2, 3, 4)] == sorted(sizes, reverse=True)
    assert record["F_VARIANCE_RANK_BYTES"] == pytest.approx(statistics.pvariance(sizes))
    assert sizes[int(record["SLOWEST_RANK"])] == record["SLOWEST_RANK_BYTES"]
    assert sizes[int(record["FASTEST_RANK"])] == record["FASTEST_RANK_BYTES"]
    assert record["F_FASTEST_RANK_TIME"] <= record["F_SLOWEST_RANK_TIME"]


def test_files_of_some_ranks_stay_apart(run: Run) -> None:
    others = run.records("MPI-IO", "others")
    assert [(row["rank"], row["BYTES_WRITTEN"]) for row in others] == [(1, 1), (2, 2), (3, 3)]
    for rank in range(RANKS):
        own = run.record("POSIX", f"own.{rank}")
        assert (own["rank"], own["BYTES_WRITTEN"]) == (rank, 100 * (rank + 1))


def test_records_are_kept_on_request(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = launch(profile, compiled("mpi_known.c", compiler="mpicc"), options=("--keep-records",))
    shared = run.records("MPI-IO", "shared")
    assert [row["rank"] for row in shared] == [0, 1, 2, 3]
    assert sum(row["BYTES_WRITTEN"] for row in shared) == SHARED_MPIIO["BYTES_WRITTEN"]


def test_one_rank_is_reduced_too(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = launch(profile, compiled("mpi_known.c", compiler="mpicc"), ranks=1)
    assert run.record("MPI-IO", "shared")["rank"] == -1
    assert run.record("MPI-IO", "shared")["INDEP_OPENS"] == 1


def test_fortran_is_counted(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = launch(profile, compiled("mpi_fortran.f90", compiler="mpif90"))
    record = run.record("MPI-IO", "fortran")
    assert (record["rank"], record["COLL_OPENS"], record["COLL_WRITES"]) == (-1, 4, 20)
    assert record["BYTES_WRITTEN"] == 20000


@pytest.mark.parametrize("how", ["ABORT", "KILL"])
def test_killed_job_still_has_its_log(
    profile: Profile,
    compiled: Callable[..., Path],
    how: str,
    same_for_pydarshan: Callable[[Path], dict[str, Any]],
) -> None:
    run = launch(profile, compiled("mpi_known.c", compiler="mpicc"), environment={how: "1"}, check=False)
    assert run.code == {"ABORT": 7, "KILL": 137}[how]
    assert len(run.logs) == 1, run.stderr
    answer = same_for_pydarshan(run.logs[0])
    assert answer["job"]["nprocs"] == RANKS
    assert "incomplete" in answer["job"]["metadata"]
    parts = run.records("MPI-IO", "shared")
    assert [row["rank"] for row in parts] == [0, 1, 2, 3]
    for key in ("COLL_OPENS", "INDEP_WRITES", "NB_WRITES", "BYTES_WRITTEN", "BYTES_READ"):
        assert sum(row[key] for row in parts) == SHARED_MPIIO[key]
    posix = run.records("POSIX", "posix")
    assert [row["BYTES_WRITTEN"] for row in posix] == [1000, 2000, 3000, 4000]


@pytest.fixture
def killed(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> Path:
    """A folder with the mappings of a job of four ranks that was killed, without `profile` to gather them."""
    maps, data = tmp_path / "maps", tmp_path / "data"
    maps.mkdir()
    data.mkdir()
    environment = {
        **os.environ, **MPI_ENVIRONMENT, "LD_PRELOAD": str(library), "KILL": "1",
        "WORKALIKE_CAPTURE_DIR": str(tmp_path), "WORKALIKE_CAPTURE_MAPS": str(maps),
    }  # fmt: skip
    program = compiled("mpi_known.c", compiler="mpicc")
    command = ["mpiexec", "-n", str(RANKS), str(program)]
    subprocess.run(command, env=environment, cwd=data, check=False, capture_output=True, timeout=60)
    return maps


def mappings_by_rank(maps: Path) -> dict[int, Path]:
    """Of the job's ranks; the launcher has none."""
    found = (read_mapping(path) for path in maps.iterdir())
    return {row.rank: row.path for row in found if row is not None and row.job}


def recovered(*folders: Path, logs: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WORKALIKE, "profile", "-o", str(logs), "--recover", *map(str, folders)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip


def test_mappings_of_several_nodes_make_one_log(
    killed: Path, tmp_path: Path, same_for_pydarshan: Callable[[Path], dict[str, Any]]
) -> None:
    nodes = [tmp_path / "node1", tmp_path / "node2"]
    for node in nodes:
        node.mkdir()
    for rank, path in mappings_by_rank(killed).items():
        path.rename(nodes[rank % 2] / path.name)
    for path in nodes[0].iterdir():
        shutil.copy(path, nodes[1])  # a folder copied twice
    done = recovered(*nodes, logs=tmp_path / "logs")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("is left out") == 2
    (log,) = (tmp_path / "logs").glob("*.darshan")
    answer = same_for_pydarshan(log)
    assert answer["job"]["nprocs"] == RANKS
    assert answer["job"]["metadata"]["recovered_ranks"] == "4 of 4"
    run = Run(0, "", "", [log], tmp_path / "data")
    assert [row["BYTES_WRITTEN"] for row in run.records("POSIX", "posix")] == [1000, 2000, 3000, 4000]
    assert (
        sum(row["BYTES_WRITTEN"] for row in run.records("MPI-IO", "shared")) == SHARED_MPIIO["BYTES_WRITTEN"]
    )


def test_ranks_on_other_nodes_are_missed(killed: Path, tmp_path: Path) -> None:
    mappings_by_rank(killed)[2].unlink()
    done = recovered(killed, logs=tmp_path / "logs")
    assert "1 of 4 ranks of a job left no mapping here" in done.stderr
    (log,) = (tmp_path / "logs").glob("mpi_known*.darshan")
    assert open_log(log).job.metadata["recovered_ranks"] == "3 of 4"


def test_two_mappings_of_one_rank_are_no_job(killed: Path, tmp_path: Path) -> None:
    by_rank = mappings_by_rank(killed)
    other = bytearray(by_rank[0].read_bytes())
    other[RANK_IN_MAPPING : RANK_IN_MAPPING + 8] = (1).to_bytes(8, "little")
    by_rank[0].write_bytes(other)
    done = recovered(killed, logs=tmp_path / "logs")
    assert "are both rank 1" in done.stderr
    assert not list((tmp_path / "logs").glob("mpi_known*.darshan"))
    assert by_rank[1].exists()
    done = recovered(killed, tmp_path / "nowhere", logs=tmp_path / "logs")
    assert done.returncode == 2
    assert "is not a folder" in done.stderr


def test_library_needs_no_mpi(library: Path) -> None:
    words = subprocess.run(["nm", "-Du", str(library)], capture_output=True, text=True, check=True).stdout
    undefined = [line.split()[-1] for line in words.splitlines()]
    assert undefined
    assert not [name for name in undefined if name.startswith(("MPI", "PMPI", "mpi", "ompi", "H5", "nc"))]
    needed = subprocess.run(
        ["readelf", "-d", str(library)], capture_output=True, text=True, check=True
    ).stdout
    assert [line.split("[")[1].rstrip("]") for line in needed.splitlines() if "NEEDED" in line] == [
        "libc.so.6"
    ]
