"""MPI programs through other libraries: PnetCDF in C, mpi4py and a parallel h5py in Python."""

from __future__ import annotations

import random

from ..program import Program, Value, kind
from .making import python, seed_of

MPI4PY = ("mpi4py", "numpy")


@kind("pnetcdf")
def pnetcdf_records(rng: random.Random) -> Program:
    """Record variables of PnetCDF, step by step: collective blocking calls, or several nonblocking ones at once."""
    source = """
        #include <pnetcdf.h>

        static void run(void)
        {
            int file, time, cells, dimensions[2], variables = (int)get("variables");
            int *variable = HAVE(malloc((size_t)variables * sizeof *variable));
            MPI_Offset mine = get("cells"), start[2] = {0, rank * mine}, count[2] = {1, mine};
            float *data = (float *)block(mine * 4);
            ncmpi_create(MPI_COMM_WORLD, "records.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file);
            ncmpi_def_dim(file, "time", NC_UNLIMITED, &time);
            ncmpi_def_dim(file, "cells", mine * ranks, &cells);
            dimensions[0] = time;
            dimensions[1] = cells;
            for (int i = 0; i < variables; i++)
                ncmpi_def_var(file, name("v%d", i), NC_FLOAT, 2, dimensions, &variable[i]);
            ncmpi_enddef(file);
            for (start[0] = 0; start[0] < get("steps"); start[0]++) {
                for (int i = 0; i < variables; i++)
                    if (get("nonblocking"))
                        ncmpi_iput_vara_float(file, variable[i], start, count, data, 0);
                    else
                        ncmpi_put_vara_float_all(file, variable[i], start, count, data);
                if (get("nonblocking"))
                    ncmpi_wait_all(file, NC_REQ_ALL, 0, 0);
                compute(10);
            }
            if (ncmpi_close(file))
                exit(93);
        }
        """
    values: dict[str, Value] = {
        "seed": seed_of(rng),
        "cells": rng.randint(10, 20_000),
        "variables": rng.randint(1, 6),
        "steps": rng.randint(1, 8),
        "nonblocking": rng.randint(0, 1),
    }
    return Program("mpicc", source, values, rng.randint(1, 4), libraries=("pnetcdf",))


@kind("mpi4py")
def python_ranks(rng: random.Random) -> Program:
    """Ranks of Python write a shared array by MPI-IO; rank 0 saves a table with NumPy and a log by print."""
    return python(
        rng,
        """
import numpy as np
from mpi4py import MPI
world = MPI.COMM_WORLD
for step in range(p.steps):
    mine = np.full(p.size, world.rank, dtype="f8")
    file = MPI.File.Open(world, f"field-{step}.bin", MPI.MODE_CREATE | MPI.MODE_WRONLY)
    (file.Write_at_all if p.collective else file.Write_at)(world.rank * mine.nbytes, mine)
    file.Close()
    table = world.gather(mine.sum(), root=0)
    if world.rank == 0:
        np.save("table.npy", np.array(table))
        with open("run.log", "a") as log:
            print("step", step, file=log)
""",
        modules=MPI4PY,
        ranks=rng.randint(2, 4),
        steps=rng.randint(1, 8),
        size=rng.randint(10, 40_000),
        collective=rng.randint(0, 1),
    )


@kind("mpi4py")
def parallel_h5py(rng: random.Random) -> Program:
    """A parallel h5py: each rank writes its rows of several datasets, together or each for itself."""
    return python(
        rng,
        """
from mpi4py import MPI
import h5py
import numpy as np
world = MPI.COMM_WORLD
with h5py.File("parallel.h5", "w", driver="mpio", comm=world) as file:
    for number in range(p.sets):
        data = file.create_dataset(f"d{number}", (p.rows * world.size, p.columns), dtype="f4")
        mine = slice(world.rank * p.rows, (world.rank + 1) * p.rows)
        if p.collective:
            with data.collective:
                data[mine] = np.ones((p.rows, p.columns), dtype="f4")
        else:
            data[mine] = np.ones((p.rows, p.columns), dtype="f4")
""",
        modules=("mpi4py", "numpy", "h5py._debian_h5py_mpi"),
        ranks=rng.randint(2, 4),
        sets=rng.randint(1, 6),
        rows=rng.randint(1, 40),
        columns=rng.randint(1, 1000),
        collective=rng.randint(0, 1),
    )


@kind("mpi4py")
def master_and_workers(rng: random.Random) -> Program:
    """Rank 0 deals out tasks; workers keep a log each and write results for those tasks that had one."""
    return python(
        rng,
        """
from mpi4py import MPI
world = MPI.COMM_WORLD
tasks = [rng.randint(0, p.largest) for _ in range(p.tasks)]
if world.rank == 0:
    for number, size in enumerate(tasks):
        world.send((number, size), dest=1 + number % (world.size - 1))
    for worker in range(1, world.size):
        world.send(None, dest=worker)
    done = sum(world.recv(source=worker) for worker in range(1, world.size))
    with open("done.txt", "w") as file:
        file.write(f"{done}\\n")
else:
    count = 0
    with open(f"worker-{world.rank}.log", "w", buffering=1 if p.lines else -1) as log:
        while (task := world.recv(source=0)) is not None:
            number, size = task
            if size > p.largest // 4:
                with open(f"result-{number:04d}", "wb") as result:
                    result.write(bytes(size))
            log.write(f"task {number} of {size}\\n")
            count += 1
    world.send(count, dest=0)
""",
        modules=("mpi4py",),
        ranks=rng.randint(2, 4),
        tasks=rng.randint(3, 120),
        largest=rng.choice([300, 9000, 200_000]),
        lines=rng.randint(0, 1),
    )
