"""The programs of `transfer.py`: what they need, how their inputs are made, and how they are started."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from application_pairs import APPLICATIONS, Application, has, has_module, mpi
from catalogue import ROOT

sys.path.append(str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT))
from applications import prepare_gromacs, prepare_openfoam, run
from tests.zoo.case import Bench
from tests.zoo.kinds import KINDS

PYTHON = "/usr/bin/python3"
"""It has Debian's h5py and netCDF4."""

ROWS_IN_TURN = """\
import sqlite3
base = sqlite3.connect("runs.db")
base.execute("create table run (id integer primary key, name text, value blob)")
for number in range(400):
    with base:
        base.executemany("insert into run (name, value) values (?, ?)", [(f"n{number}-{k}", bytes(900)) for k in range(20)])
    if number % 10 == 9:
        base.execute("select sum(length(value)) from run").fetchall()
"""
MANY_FILES = """\
import os, random
rng = random.Random(7)
for folder in range(20):
    os.makedirs(f"tree/{folder:02}")
    for number in range(50):
        with open(f"tree/{folder:02}/{number:03}.txt", "wb") as file:
            file.write(rng.randbytes(rng.randrange(200, 60000)))
"""

VOLUMES = """\
import h5py, numpy
values = numpy.random.default_rng(5).integers(0, 999, (64, 256, 256), dtype="i4")
with h5py.File("in.h5", "w") as file:
    for number in range(30):
        file.create_dataset(f"run{number:02}/volume", data=values, chunks=(8, 64, 64))
"""
RECORDS = """\
import netCDF4, numpy
rng = numpy.random.default_rng(5)
with netCDF4.Dataset("in.nc", "w", format="NETCDF4") as file:
    for name, length in (("time", None), ("lat", 180), ("lon", 360)):
        file.createDimension(name, length)
    fields = [file.createVariable(f"field{n}", "f4", ("time", "lat", "lon"), chunksizes=(1, 90, 90)) for n in range(6)]
    for step in range(80):
        for field in fields:
            field[step] = rng.random((180, 360), dtype="f4")
"""


def with_tree(folder: Path) -> None:
    (folder / "make.py").write_text(MANY_FILES)
    run(folder, f"{PYTHON} make.py")


def tarred(folder: Path) -> None:
    with_tree(folder)
    run(folder, "tar cf tree.tar tree")
    shutil.rmtree(folder / "tree")


def with_script(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "program.py").write_text(text) and None


def gromacs_of_many_frames(folder: Path) -> None:
    prepare_gromacs(folder, 2000)
    text = (
        (folder / "md.mdp")
        .read_text()
        .replace("nstxout = 100", "nstxout = 4")
        .replace("nstvout = 100", "nstvout = 4")
    )
    (folder / "md.mdp").write_text(text)
    run(folder, "gmx_mpi grompp -f md.mdp -c em.gro -p topol.top -o topol.tpr")


def openfoam_of_many_times(folder: Path) -> None:
    folder.rmdir()
    prepare_openfoam(folder, 2, 0.01, 0.4)


def made_by(script: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        (folder / "make.py").write_text(script)
        run(folder, f"{PYTHON} make.py")

    return prepare


def repository(folder: Path) -> None:
    with_tree(folder)
    run(folder, "git init -q")


def of_zoo(name: str, **parameters: int) -> Application:
    """A program of the zoo with parameters of its own, on two ranks."""
    program = dataclasses.replace(KINDS[name].program(1), ranks=2)
    parameters = {**program.parameters, **parameters}

    def prepare(folder: Path) -> None:
        bench = Bench(program, folder / "zoo")
        bench.build()
        shutil.move(bench.code / "program", folder / "program")
        shutil.rmtree(folder / "zoo")

    words = [f"{key}={value}" for key, value in parameters.items()]
    return Application(name, mpi(2, "./program", *words), prepare, has("mpicc", "h5pcc"))


PROGRAMS = (
    Application(
        "gromacs-frames",
        mpi(2, "gmx_mpi", "mdrun", "-s", "topol.tpr", "-ntomp", "1", "-cpt", "0.02"),
        gromacs_of_many_frames,
        has("gmx_mpi"),
    ),
    Application("openfoam-times", mpi(2, "interFoam", "-parallel"), openfoam_of_many_times, has("interFoam")),
    Application("sqlite", [PYTHON, "program.py"], with_script(ROWS_IN_TURN), has("sqlite3")),
    Application("tar", ["tar", "cf", "tree.tar", "tree"], with_tree, has("tar")),
    Application("untar", ["tar", "xf", "tree.tar"], tarred, has("tar")),
    Application("git-add", ["git", "add", "tree"], repository, has("git")),
    Application(
        "h5repack",
        ["h5repack", "-l", "CHUNK=16x32x64", "in.h5", "out.h5"],
        made_by(VOLUMES),
        lambda: has("h5repack")() and has_module(PYTHON, "h5py"),
    ),
    Application(
        "nccopy",
        ["nccopy", "-c", "time/1,lat/45,lon/45", "in.nc", "out.nc"],
        made_by(RECORDS),
        lambda: has("nccopy")() and has_module(PYTHON, "netCDF4"),
    ),
    of_zoo("particles-in-partitions", partitions=1, particles=300_000, spread=10, steps=8),
    of_zoo("enzo-grids", dumps=8, grids=40, fields=6, edge=8, restart=1),
    *(a for a in APPLICATIONS if a.name in ("lammps", "cp2k", "pytorch-loader", "meep", "quantum-espresso")),
)
