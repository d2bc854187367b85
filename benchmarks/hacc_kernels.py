"""HACC-IO through HDF5 against the same layout through MPI-IO: bandwidth without open and close.

    python benchmarks/hacc_kernels.py [--dir /dev/shm] [--pairs 10] [--independent] [--untuned]

HDF5 Individual against MPI Contiguous and HDF5 Compound against MPI Interleaved (docs/reference/hacc-kernels.md),
2 ranks, 1 and 16 MiB per rank and variable, repeated to 1 GiB. A run's bandwidth is its bytes over the sum of its dumps' `transfer_s`
(first to last data operation). Pairs alternate in order; the target is a median ratio of 0.95.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from results import Results

from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Schedule, Tunable
from workalike.workload.workload_file import read_workload

WORKLOADS = Path(__file__).parents[1] / "workloads/hacc"
RANKS, VARIABLES = 2, 9
MIB, GIB = 2**20, 2**30
SHIPPED = 16 * MIB  # per rank and variable
PAIRS = (("hdf5-individual", "mpi-contiguous"), ("hdf5-compound", "mpi-interleaved"))
TARGET = 0.95

# Metadata in one block at the head, data after it on a boundary; a rank's slab is one piece, so nothing is exchanged.
TUNED = Tunable(
    alignment=MIB, threshold=64 * 1024, metadata_block=MIB, collective_metadata=True, individual_io=True
)


def plan_of(name: str, size: int, collective: bool, tuned: bool) -> Plan:
    workload = read_workload(WORKLOADS / f"{name}.yaml")
    family = workload.families[0]
    content = family.content
    assert content is not None
    for part in [*content.streams, *(a for arrays in content.arrays for a in arrays.access)]:
        part.collective = collective
    if tuned and name.startswith("hdf5"):
        family.tunable = TUNED
    dumps = -(-GIB // (RANKS * VARIABLES * size))
    family.schedule = Schedule(count=dumps, first=0.0, every=0.0)
    options = Options(ranks=RANKS, scaling="weak", bytes_scale=Fraction(size, SHIPPED), scale_by="size")
    return resolve(workload, options)


def bandwidth(plan: Plan, where: Path) -> float:
    """Bytes per second of one run, data operations only."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        record = run_plan(plan, RunOptions(data=Path(folder) / "data", out=Path(folder), quiet=True))
    seconds = sum(dump.transfer_s or 0.0 for dump in record.dumps)
    return sum(dump.bytes_written for dump in record.dumps) / seconds


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm"), help="file system under test")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--independent", action="store_true", help="independent instead of collective calls")
    parser.add_argument("--untuned", action="store_true", help="HDF5 as it comes")
    given = parser.parse_args()
    good = True
    results = Results()
    for hdf5, mpi in PAIRS:
        for size in (MIB, 16 * MIB):
            plans = [plan_of(name, size, not given.independent, not given.untuned) for name in (hdf5, mpi)]
            found: tuple[list[float], list[float]] = ([], [])
            for pair in range(given.pairs):
                for which in (0, 1) if pair % 2 else (1, 0):
                    found[which].append(bandwidth(plans[which], given.dir))
            ratio = statistics.median(ours / theirs for ours, theirs in zip(*found, strict=True))
            good &= ratio >= TARGET
            results.add(
                f"HACC-IO, {given.dir}, 2 ranks, 1 GiB, {'independent' if given.independent else 'collective'}, "
                f"{size // MIB} MiB per rank and variable, median of {given.pairs} pairs: {hdf5} ÷ {mpi}",
                f"{ratio:.2f}",
                target=f"≥ {TARGET}",
                reached=ratio >= TARGET,
                ratio=ratio,
            )
            speeds = [statistics.median(found_of) / GIB for found_of in found]
            print(
                f"{hdf5:16} {speeds[0]:6.2f} GiB/s  {mpi:16} {speeds[1]:6.2f} GiB/s  {size // MIB:2} MiB  "
                f"{'independent' if given.independent else 'collective':11}  ratio {ratio:.3f}"
                f"{'' if ratio >= TARGET else '  MISSED'}",
                flush=True,
            )
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
