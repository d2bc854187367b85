"""Real programs under capture: what the log says is what lies on disk, and a replica of the log is the same again."""

from __future__ import annotations

import json
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
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
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


def replicate(tmp_path: Path) -> None:
    """The log of the replica is the application's, family by family."""
    done = workalike(
        *("replicate", "logs/app.darshan", "-o", "replica", "--ranks", RANKS, "--bytes-scale", "1"),
        *("--time-scale", "0", "--quiet", "--require", "bytes=0.1%,ops=1%"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    fidelity = json.loads((tmp_path / "replica/fidelity.json").read_text())
    assert fidelity["basis"] == "log"
    assert fidelity["families"]


def application(name: str) -> str:
    path = SHARED / "apps" / name
    if not path.exists():
        pytest.skip(f"no {SHARED.name}/apps beside the checkout")
    return path.read_text(encoding="utf-8")


def test_nwchem_and_its_replica(tmp_path: Path) -> None:
    """Scratch files of every rank, deleted at the end: the log alone tells of them."""
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


def test_sqlite(tmp_path: Path) -> None:
    needs("sqlite3")
    words = "create table t(a); with recursive n(i) as (select 1 union all select i+1 from n where i<10000) insert into t select i from n;"
    logs = capture(tmp_path, "sqlite3", "x.db", words)
    size = (tmp_path / "x.db").stat().st_size
    assert max(total(logs, "POSIX", tmp_path / "x.db", name) for name in ("MAX_BYTE_WRITTEN",)) + 1 == size
