"""What a program of the zoo is, and the table of all kinds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

Value = int | str
LIBRARIES = ("h5py", "tables", "netCDF4", "netcdf", "pnetcdf", "hdf5")
"""Python modules and libraries that write HDF5 or NetCDF files."""


@dataclass(frozen=True)
class Program:
    """One generated program.

    `source` is C for the compilers `cc`, `mpicc` and `h5pcc`, Fortran for `gfortran`, and a script for `python`. The
    program gets its parameters as arguments NAME=VALUE (in Fortran they are part of the source) and runs in the folder of its data. `prepare` is a Python script that makes the
    files which exist beforehand; it gets the same parameters, and is not captured.
    """

    compiler: str
    source: str
    parameters: dict[str, Value]
    ranks: int = 0
    """Ranks under mpiexec; 0 for a program without MPI."""
    prepare: str = ""
    modules: tuple[str, ...] = field(default=())
    """Python modules that it imports and that a system may lack."""
    libraries: tuple[str, ...] = field(default=())
    """Libraries that it is linked with, and that a system may lack; each has a header of its name."""

    @property
    def interface(self) -> str:
        """The highest one by which it moves data: `library` (HDF5, NetCDF, PnetCDF), `mpi-io`, or `posix`."""
        needed = {name.split(".")[0] for name in (*self.modules, *self.libraries)}
        if self.compiler == "h5pcc" or needed & set(LIBRARIES):
            return "library"
        return "mpi-io" if "MPI_File_" in self.source or "MPI.File" in self.source else "posix"


Maker = Callable[[random.Random], Program]


@dataclass(frozen=True)
class Kind:
    """A kind of program: one way of doing I/O. Seeds vary sizes, counts, orders and options."""

    name: str
    group: str
    make: Maker

    def program(self, seed: int) -> Program:
        """The program of a seed; the same one each time."""
        return self.make(random.Random(f"{self.name} {seed}"))


KINDS: dict[str, Kind] = {}


def kind(group: str) -> Callable[[Maker], Maker]:
    """Enter a function into the table of kinds, under its name."""

    def enter(make: Maker) -> Maker:
        name = make.__name__.replace("_", "-")
        assert name not in KINDS, f"two kinds are named {name}"
        KINDS[name] = Kind(name, group, make)
        return make

    return enter
