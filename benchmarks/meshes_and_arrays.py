"""Do meshes cost more than arrays of the same sizes? Both through the hdf5 backend.

    python benchmarks/meshes_and_arrays.py [--pairs 11] [--dir /dev/shm]

One run writes a mesh of 20 variables, whose file is read with h5py: its datasets of at least 64 KiB are the arrays of
the other workload. Both are written collectively by as many ranks as there are cores, in alternating pairs, without
computing. The transfer time is the time inside the write calls; the wall clock is that of the whole process, with the
start of MPI and the making of the values. Targets: the median of mesh / arrays is at most 1.03 and 1.05.
"""

from __future__ import annotations

import argparse
import collections
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import h5py
from results import Results

from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record
from workalike.workload.content import ArrayAccess, Arrays, Slab
from workalike.workload.mesh import Mesh
from workalike.workload.model import Content, Family, Interface, Role, Schedule, Workload

RANKS = min(4, len(os.sched_getaffinity(0)))
DUMPS = 8
PART = 4 * 2**20  # bytes of a variable on a part
LEAST = 64 * 2**10
ALMOST_ALL = 0.999
TRANSFER, WALL = 1.03, 1.05


def workload_of(interface: Interface, content: Content) -> Workload:
    family = Family(
        role=Role.VISUALIZATION, interface=interface, schedule=Schedule(count=DUMPS), content=content
    )
    return Workload(ranks=RANKS, families=[family])


def as_arrays(path: Path) -> Content:
    """The large datasets of a file as arrays of which each rank writes an equal part."""
    sizes: collections.Counter[tuple[int, int]] = collections.Counter()

    def note(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.nbytes >= LEAST:
            sizes[item.dtype.itemsize, item.size] += 1

    with h5py.File(path) as file:
        file.visititems(note)
    arrays = []
    for (element, count), datasets in sizes.items():
        share = Slab(count=RANKS * datasets, shape=[count // RANKS])
        access = ArrayAccess(direction="write", slabs=[share], collective=True)
        arrays.append(
            Arrays(datasets=datasets, element=element, dims=[count // RANKS * RANKS], access=[access])
        )
    return Content(arrays=arrays)


def perform(workload: Workload, folder: Path, keep: bool = False) -> tuple[Record, float]:
    """The record of a run, and the wall clock of its process."""
    plan = resolve(workload, Options())
    begin = time.monotonic()
    record = run_plan(plan, RunOptions(data=folder / "data", out=folder, quiet=True, keep=keep))
    return record, time.monotonic() - begin


def transfer_s(record: Record) -> float:
    return sum(dump.kinds["write"].total_s for dump in record.dumps) / RANKS


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm"))
    given = parser.parse_args()
    mesh = workload_of(Interface.HDF5, Content(mesh=Mesh(part_size=PART)))
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        record, _ = perform(mesh, Path(folder), keep=True)
        arrays = workload_of(Interface.HDF5, as_arrays(Path(folder) / "data" / record.files[0].name))
    transfers, walls = [], []
    for pair in range(given.pairs + 1):
        found = {}
        order = ("mesh", "arrays") if pair % 2 else ("arrays", "mesh")
        for name in order:
            with tempfile.TemporaryDirectory(dir=given.dir) as folder:
                record, wall_s = perform(mesh if name == "mesh" else arrays, Path(folder))
            found[name] = (transfer_s(record), wall_s, sum(dump.bytes_written for dump in record.dumps))
        if not pair:
            written = found["arrays"][2] / found["mesh"][2]
            if written < ALMOST_ALL:
                raise RuntimeError(f"the arrays have {100 * written:.2f} % of the mesh's bytes only")
            continue  # the first pair warms up
        transfers.append(found["mesh"][0] / found["arrays"][0])
        walls.append(found["mesh"][1] / found["arrays"][1])
        print(f"{pair:3}: transfer {transfers[-1]:.3f}, process {walls[-1]:.3f}", flush=True)
    results = Results()
    good = True
    for what, ratios, most in (
        ("transfer time", transfers, TRANSFER),
        ("wall clock of the process", walls, WALL),
    ):
        median = statistics.median(ratios)
        good = good and median <= most
        results.add(
            f"meshes ÷ arrays, {what}, {RANKS} ranks, {given.dir}, {DUMPS} dumps "
            f"(arrays have {100 * written:.2f} % of the mesh's bytes), median of {given.pairs} pairs",
            f"{median:.3f} ({min(ratios):.2f} to {max(ratios):.2f})",
            target=f"≤ {most}",
            reached=median <= most,
            ratio=median,
        )
        print(f"{what}: {median:.3f}{'' if median <= most else '  MISSED'}")
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
