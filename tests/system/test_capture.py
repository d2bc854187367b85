"""Real programs under capture: the log agrees with the files on disk, and with a log of its replica."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from workalike.darshan import Log, open_log

from .support import SHARED, needs, workalike
from .test_lammps import OWN_INPUT, OWN_LOOPS, RANKS

pytestmark = pytest.mark.system

MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMP_NUM_THREADS": "1",
}


def capture(tmp_path: Path, *command: object) -> list[Log]:
    """The logs of a command, its own first."""
    done = workalike("profile", "-o", "logs/app.darshan", "--", *command, cwd=tmp_path, environment=MPI)
    assert done.returncode == 0, done.stderr
    found = [path for path in (tmp_path / "logs").iterdir() if not path.name.endswith(".json")]
    found.sort(key=lambda path: (len(path.name), path.name))
    return [open_log(path) for path in found]


def total(logs: list[Log], module: str, path: Path, counter: str) -> int:
    """A counter of a file over all logs."""
    sum_ = 0
    for log in logs:
        table = log.records(module)
        if table is not None:
            for row, number in enumerate(table.ids.tolist()):
                if log.names[number] == str(path):
                    sum_ += int(table[counter][row])
    return sum_


def test_lammps_and_its_replica(tmp_path: Path) -> None:
    needs("lmp", "mpiexec")
    (tmp_path / "app.in").write_text(OWN_INPUT)
    logs = capture(tmp_path, "mpiexec", "-n", RANKS, "lmp", "-in", "app.in", "-log", "none")
    (log,) = logs
    assert log.job.nprocs == RANKS
    files = [*sorted(tmp_path.glob("chk.*.restart")), tmp_path / "vis.lammpstrj"]
    assert len(files) == OWN_LOOPS + 1
    for path in files:
        assert total(logs, "STDIO", path, "BYTES_WRITTEN") == path.stat().st_size

    replicate(tmp_path)


def replicate(
    tmp_path: Path,
    ranks: int = RANKS,
    log: str = "logs/app.darshan",
    require: str = "bytes=0.1%,ops=1%",
    code: int = 0,
) -> None:
    """The log of the replica is the application's, family by family."""
    done = workalike(
        *("replicate", log, "-o", "replica", "--ranks", ranks, "--bytes-scale", "1"),
        *("--time-scale", "0", "--quiet", "--require", require),
        cwd=tmp_path,
    )
    assert done.returncode == code, done.stderr
    fidelity = json.loads((tmp_path / "replica/fidelity.json").read_text())
    assert fidelity["basis"] == "log"
    assert fidelity["families"]


def application(name: str) -> str:
    path = SHARED / "apps" / name
    if not path.exists():
        pytest.skip(f"no {SHARED.name}/apps beside the checkout")
    return path.read_text(encoding="utf-8")


def test_nwchem_and_its_replica(tmp_path: Path) -> None:
    """Scratch files of every rank, deleted at the end: only the log shows them."""
    needs("nwchem.openmpi", "mpiexec")
    (tmp_path / "water.nw").write_text(application("nwchem-water.nw"))
    (log, *_) = capture(tmp_path, "mpiexec", "-n", RANKS, "nwchem.openmpi", "water.nw")
    assert log.job.nprocs == RANKS
    posix = log.records("POSIX")
    assert posix is not None
    assert posix["BYTES_WRITTEN"].sum() > 100 * 10**6
    replicate(tmp_path)


def test_meep_and_its_replica(tmp_path: Path) -> None:
    """HDF5 that Python loads late and privately; hyperslabs of a grid, one file appended."""
    needs("mpiexec")
    system_python = "/usr/bin/python3"
    known = subprocess.run([system_python, "-c", "import meep, mpi4py"], capture_output=True, check=False)
    if known.returncode != 0:
        pytest.skip("no python3-meep-openmpi with python3-mpi4py")
    (tmp_path / "fields.py").write_text(application("meep-fields.py").replace("until=20", "until=3"))
    (log, *_) = capture(tmp_path, "mpiexec", "-n", RANKS, system_python, "fields.py")
    h5d = log.records("H5D")
    assert h5d is not None
    assert h5d["BYTES_WRITTEN"].sum() % (128 * 128 * 48 * 8) == 0  # whole fields
    replicate(tmp_path)


PYTHON_SCRIPT = """
import h5py
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
block = np.full(65536, rank, dtype="f8")
shared = MPI.File.Open(world, "shared.bin", MPI.MODE_CREATE | MPI.MODE_WRONLY)
for step in range(4):
    shared.Write_at_all((step * ranks + rank) * block.nbytes, block)
shared.Close()
for step in range(3):
    with h5py.File(f"state.{step}.{rank}.h5", "w") as file:
        file.attrs["step"] = step
        file.create_dataset("field", data=block.reshape(256, 256))
"""


def test_mpi4py_and_h5py(tmp_path: Path) -> None:
    """MPI and HDF5 that Python loads late; a shared file over MPI-IO, and HDF5 files of each rank."""
    needs("mpiexec", "h5dump")
    system_python = "/usr/bin/python3"
    known = subprocess.run([system_python, "-c", "import mpi4py, h5py"], capture_output=True, check=False)
    if known.returncode != 0:
        pytest.skip("no python3-mpi4py with python3-h5py (tools/install-system-packages)")
    (tmp_path / "script.py").write_text(PYTHON_SCRIPT)
    logs = capture(tmp_path, "mpiexec", "-n", RANKS, system_python, "script.py")
    (log,) = logs
    assert log.job.nprocs == RANKS
    field = 256 * 256 * 8
    assert total(logs, "MPI-IO", tmp_path / "shared.bin", "BYTES_WRITTEN") == 4 * RANKS * field
    assert total(logs, "MPI-IO", tmp_path / "shared.bin", "COLL_WRITES") == 4 * RANKS
    assert (tmp_path / "shared.bin").stat().st_size == 4 * RANKS * field
    datasets = log.records("H5D")
    assert datasets is not None
    assert datasets["BYTES_WRITTEN"].tolist() == [field] * 3 * RANKS
    for step in range(3):
        for rank in range(RANKS):
            assert total(logs, "H5F", tmp_path / f"state.{step}.{rank}.h5", "OPENS") == 1
    side = json.loads((tmp_path / "logs/app.darshan.extra.json").read_text())
    assert sum(row["attributes_created"] for row in side["hdf5"]) == 3 * RANKS
    replicate(tmp_path)


def test_gzip_and_its_replica(tmp_path: Path) -> None:
    """A serial program: one file read, one written."""
    needs("gzip")
    (tmp_path / "data").write_bytes(bytes(range(256)) * 8000 + os.urandom(500_000))
    logs = capture(tmp_path, "gzip", "-k", "data")
    assert total(logs, "POSIX", tmp_path / "data", "BYTES_READ") == (tmp_path / "data").stat().st_size
    packed = tmp_path / "data.gz"
    assert total(logs, "POSIX", packed, "BYTES_WRITTEN") == packed.stat().st_size > 500_000
    assert gzip.decompress(packed.read_bytes()) == (tmp_path / "data").read_bytes()
    replicate(tmp_path, ranks=1)


def test_git_clone(tmp_path: Path) -> None:
    """Forks, execs, pipes: every process has its log, and none is incomplete."""
    needs("git")
    source = tmp_path / "source"
    script = (
        f"git init -q {source} && cd {source} && head -c 300000 /dev/urandom > data && git add data && "
        "git -c user.name=x -c user.email=x@x commit -q -m x"
    )
    assert (
        workalike("profile", "-o", tmp_path / "first/a", "--", "sh", "-c", script, cwd=tmp_path).returncode
        == 0
    )
    logs = capture(tmp_path, "git", "clone", "-q", f"file://{source}", "copy")
    assert (tmp_path / "copy/data").read_bytes() == (source / "data").read_bytes()
    assert len(logs) > 1
    assert total(logs, "POSIX", tmp_path / "copy/data", "BYTES_WRITTEN") == 300_000
    assert not any("incomplete" in log.job.metadata for log in logs)
    checkout = next(log for log in logs if tmp_path / "copy/data" in map(Path, log.names.values()))
    replicate(tmp_path, ranks=1, log=str(checkout.path), code=3)  # git maps packs, whose traffic no log has


def test_fio_threads(tmp_path: Path) -> None:
    needs("fio")
    logs = capture(
        tmp_path, "fio", "--name=x", f"--directory={tmp_path}", "--rw=write", "--bs=4k", "--size=1m",
        "--numjobs=4", "--thread", "--ioengine=psync", "--fallocate=none",
    )  # fmt: skip
    for job in range(4):
        path = tmp_path / f"x.{job}.0"
        assert total(logs, "POSIX", path, "BYTES_WRITTEN") == 2**20
        assert total(logs, "POSIX", path, "WRITES") == 256
    replicate(tmp_path, ranks=1)


def test_sqlite(tmp_path: Path) -> None:
    needs("sqlite3")
    words = "create table t(a); with recursive n(i) as (select 1 union all select i+1 from n where i<10000) insert into t select i from n;"
    logs = capture(tmp_path, "sqlite3", "x.db", words)
    size = (tmp_path / "x.db").stat().st_size
    assert max(total(logs, "POSIX", tmp_path / "x.db", name) for name in ("MAX_BYTE_WRITTEN",)) + 1 == size
    # Its two reads of a database that is still empty return nothing, and are in no workload.
    replicate(tmp_path, ranks=1, require="bytes=0.1%")
