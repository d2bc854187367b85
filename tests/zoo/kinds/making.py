"""Short ways to make a program of each language."""

from __future__ import annotations

import random

from ..program import Program, Value

INPUTS = """
for number in range(p.files):
    with open(f"input-{number:04d}", "wb") as file:
        file.write(random.Random(number).randbytes(p.size))
"""
"""Prepares `files` inputs of `size` bytes."""


def seed_of(rng: random.Random) -> int:
    """A seed for what the program itself draws."""
    return rng.randrange(1_000_000)


def c(rng: random.Random, source: str, prepare: str = "", **parameters: Value) -> Program:
    """A program in C of one process, or of those that it forks."""
    return Program("cc", source, {"seed": seed_of(rng), **parameters}, prepare=prepare)


def mpi(rng: random.Random, source: str, prepare: str = "", least: int = 2, **parameters: Value) -> Program:
    """An MPI program in C, of `least` to 4 ranks."""
    ranks = rng.randint(least, 4)
    return Program("mpicc", source, {"seed": seed_of(rng), **parameters}, ranks, prepare)


def hdf5(rng: random.Random, source: str, prepare: str = "", least: int = 1, **parameters: Value) -> Program:
    """An MPI program in C that uses a parallel HDF5, of `least` to 4 ranks."""
    ranks = rng.randint(least, 4)
    return Program("h5pcc", source, {"seed": seed_of(rng), **parameters}, ranks, prepare)


def python(
    rng: random.Random,
    source: str,
    prepare: str = "",
    modules: tuple[str, ...] = (),
    ranks: int = 0,
    **parameters: Value,
) -> Program:
    """A Python script, under mpiexec if it has ranks."""
    return Program("python", source, {"seed": seed_of(rng), **parameters}, ranks, prepare, modules)


def fortran(rng: random.Random, source: str, prepare: str = "", **parameters: Value) -> Program:
    """A program in Fortran. {name} in its source stands for a parameter."""
    for name, value in parameters.items():
        source = source.replace(f"{{{name}}}", str(value))
    return Program("gfortran", source, {"seed": seed_of(rng), **parameters}, prepare=prepare)
