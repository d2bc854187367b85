"""A real application and its replica side by side: the replica's checkpoints are as large as the application's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan import LogBuilder

from .support import SHARED, needs, read_json, recorded_sizes, sizes_in, workalike

pytestmark = pytest.mark.system

RANKS = 4
SHARED_INPUT = SHARED / "apps/lammps-growth.in"
SHARED_LOG = SHARED / "logs/lammps-growth-4.darshan"
CHECKPOINTS = 12
LOOPS = 2
"""Of the shared input: its checkpoints grow, so that the first ones take seconds and all of them minutes."""

# The same kind as the shared input, small: a growing number of atoms, a restart file at each step of it, one appended dump.
OWN_LOOPS = 4
OWN_INPUT = f"""\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 60
create_box 1 box
region start block 0 20 0 20 0 6
create_atoms 1 region start
mass 1 1.0
velocity all create 1.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
dump d all custom 5 vis.lammpstrj id type x y z
dump_modify d flush yes
label loop
variable i loop {OWN_LOOPS}
variable z0 equal 6+($i-1)*4
variable z1 equal ${{z0}}+4
run 5
write_restart chk.$i.restart
region g block 0 20 0 20 ${{z0}} ${{z1}}
create_atoms 1 region g
delete_atoms overlap 0.6 all all
region g delete
next i
jump SELF loop
"""


def run_lammps(text: str, folder: Path) -> list[int]:
    """The application in `folder`; the sizes of its checkpoints in the order in which it wrote them."""
    (folder / "app.in").write_text(text)
    done = subprocess.run(
        ["mpiexec", "-n", str(RANKS), "lmp", "-in", "app.in", "-log", "none"],
        cwd=folder,
        env={
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMP_NUM_THREADS": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    written = sorted(folder.glob("chk.*.restart"), key=lambda path: int(path.name.split(".")[1]))
    return [path.stat().st_size for path in written]


def replicate(log: Path, folder: Path) -> dict[str, Any]:
    """At the application's ranks and sizes, without its pauses; the record, whose files lie in `folder/data`."""
    done = workalike(
        *("replicate", log, "-o", "replica", "--dir", "data", "--ranks", RANKS, "--bytes-scale", "1"),
        *("--time-scale", "0", "--keep", "--verify", "--quiet"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = read_json(folder / "replica/run.json")
    assert record["verified"]["errors"] == 0
    assert recorded_sizes(record) == sizes_in(folder / "data")
    return record


def checkpoint_sizes(record: dict[str, Any]) -> list[int]:
    files = [file for file in record["files"] if file["role"] == "checkpoint"]
    return [file["size"] for file in sorted(files, key=lambda file: file["index"])]


def test_replica_of_the_shared_log(tmp_path: Path) -> None:
    """The log was taken of the same input, run to its end."""
    needs("lmp", "mpiexec")
    if not (SHARED_INPUT.is_file() and SHARED_LOG.is_file()):
        pytest.skip(f"no {SHARED.name}/apps and {SHARED.name}/logs beside the checkout")
    text = SHARED_INPUT.read_text()
    shortened = text.replace(f"variable i loop {CHECKPOINTS}", f"variable i loop {LOOPS}")
    assert shortened != text
    application = run_lammps(shortened, tmp_path)
    assert len(application) == LOOPS

    replica = checkpoint_sizes(replicate(SHARED_LOG, tmp_path))
    assert len(replica) == CHECKPOINTS
    assert replica[:LOOPS] == application
    assert replica == sorted(replica)


def test_replica_of_an_own_run(tmp_path: Path) -> None:
    """Nothing but Debian's package: the files of a run, written as a log, and replicated."""
    needs("lmp", "mpiexec")
    application = run_lammps(OWN_INPUT, tmp_path)
    assert len(application) == OWN_LOOPS
    log = log_of_files(application, (tmp_path / "vis.lammpstrj").stat().st_size, tmp_path / "app.darshan")

    record = replicate(log, tmp_path)
    assert checkpoint_sizes(record) == application
    others = [file["size"] for file in record["files"] if file["role"] != "checkpoint"]
    assert others == [(tmp_path / "vis.lammpstrj").stat().st_size]


def log_of_files(checkpoints: list[int], appended: int, path: Path) -> Path:
    """Darshan's log of a run in which rank 0 wrote these files through STDIO, with one write per rank and file."""
    builder = LogBuilder(nprocs=RANKS, run_time=10.0 * (len(checkpoints) + 1))
    for index, size in enumerate(checkpoints):
        at = 10.0 * (index + 1)
        builder.stdio(f"/scratch/app/chk.{index + 1}.restart", rank=0, **stdio(size, RANKS, at, at + 0.5))
    end = 10.0 * len(checkpoints) + 0.5
    builder.stdio("/scratch/app/vis.lammpstrj", rank=0, **stdio(appended, 2 * len(checkpoints), 0.5, end))
    return builder.write(path)


def stdio(size: int, writes: int, start: float, end: float) -> dict[str, float]:
    return {
        "OPENS": 1,
        "WRITES": writes,
        "BYTES_WRITTEN": size,
        "MAX_BYTE_WRITTEN": size - 1,
        "F_WRITE_TIME": 0.01,
        "F_OPEN_START_TIMESTAMP": start,
        "F_OPEN_END_TIMESTAMP": start,
        "F_WRITE_START_TIMESTAMP": start,
        "F_WRITE_END_TIMESTAMP": end,
        "F_CLOSE_START_TIMESTAMP": end,
        "F_CLOSE_END_TIMESTAMP": end,
    }
