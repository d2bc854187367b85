"""The paper's five workloads: bytes at full scale (null) and on real HDF5 files, and start times.

    python benchmarks/mphys_replicas.py [--dir DIR] [--only bytes|starts] [--mesh]

Bytes: `--backend null` at full scale, then the hdf5 backend with 4 ranks, strong scaling and 1 % of the bytes, files
kept and their sizes taken from the file system. Targets: checkpoints' mean and max error and the visualisation total
at most 0.1 %. Starts: A, C and E with the deadline clock at time-scale 0.01; each dump within 1 % of the run or 50 ms,
whichever is larger. With --mesh the dumps are unstructured TyphonIO meshes of 43 variables.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from results import Results

from workalike.characterize.contents.arrays.meshes import as_mesh
from workalike.compare.fidelity import Fidelity, compare
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record
from workalike.workload.model import Workload
from workalike.workload.workload_file import read_workload

WORKLOADS = Path(__file__).parents[1] / "workloads"
BYTES_PCT, START_S, START_SHARE = 0.1, 0.05, 0.01


def perform(
    workload: Workload, options: Options, folder: Path, backend: str | None, keep: bool
) -> tuple[Record, Fidelity]:
    plan = resolve(workload, options)
    run = RunOptions(data=folder / "data", out=folder, backend=backend, keep=keep, quiet=True)
    record = run_plan(plan, run)
    return record, compare(workload, record, plan=plan)


def bytes_of(
    name: str,
    where: str,
    workload: Workload,
    options: Options,
    backend: str | None,
    folder: Path,
    results: Results,
) -> bool:
    record, fidelity = perform(workload, options, folder, backend, keep=backend is None)
    checkpoint = next(f for f in fidelity.families if f.name.startswith("checkpoint"))
    shown = next(f for f in fidelity.families if f.name.startswith("visualization"))
    errors = (
        checkpoint.bytes_error_mean_pct,
        checkpoint.bytes_error_max_pct,
        abs(shown.total_bytes_error_pct),
    )
    sizes = "" if backend else f"  {equal_sizes(record, folder / 'data')}"
    good = all(error <= BYTES_PCT for error in errors)
    results.add(
        f"{name}, {where}: checkpoints mean and max, visualisation total",
        " %, ".join(f"{error:.2g}" for error in errors) + f" %{';' if sizes else ''}{sizes}",
        target=f"≤ {BYTES_PCT} %",
        reached=good,
        mean_pct=errors[0],
        max_pct=errors[1],
        total_pct=errors[2],
    )
    print(
        f"{name:8} {where:22} checkpoints mean {errors[0]:8.5f} % max {errors[1]:8.5f} %  visualisation total "
        f"{errors[2]:8.5f} %{sizes}{'' if good else '  MISSED'}"
    )
    return good


def equal_sizes(record: Record, data: Path) -> str:
    """Whether the record's file sizes are those on disk."""
    wrong = [f.name for f in record.files if (data / f.name).stat().st_size != f.size]
    return f"{len(record.files)} files on disk as recorded" if not wrong else f"SIZES DIFFER: {wrong[:3]}"


def starts_of(name: str, workload: Workload, folder: Path, results: Results) -> bool:
    options = Options(ranks=4, clock="deadline", time_scale=0.01)
    record, _ = perform(workload, options, folder, "null", keep=False)
    allowed = max(START_S, START_SHARE * (record.wall_s or 0.0))
    worst = max(abs(d.start_s - d.due_s) for d in record.dumps)
    results.add(
        f"{name}: start times, deadline clock at 0.01, {len(record.dumps)} dumps",
        f"at most {worst * 1e3:.2f} ms off",
        target="1 % of the run or 50 ms",
        reached=worst <= allowed,
        milliseconds=worst * 1e3,
    )
    print(
        f"{name:8} {len(record.dumps)} dumps in {record.wall_s:.1f} s: a start at most {worst * 1e3:.2f} ms off "
        f"(allowed {allowed * 1e3:.0f} ms){'' if worst <= allowed else '  MISSED'}"
    )
    return worst <= allowed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dir", type=Path, default=None, help="file system under test [default: a temporary folder]"
    )
    parser.add_argument("--mesh", action="store_true", help="TyphonIO meshes instead of equal datasets")
    parser.add_argument("--only", choices=("bytes", "starts"), default=None)
    given = parser.parse_args()
    good = True
    results = Results()
    for letter in "abcde":
        workload = read_workload(WORKLOADS / f"mphys-{letter}.yaml")
        name = f"mphys-{letter}"
        if given.mesh:
            families = [as_mesh(family, workload.ranks, variables=43) for family in workload.families]
            workload = workload.model_copy(update={"families": families})
        if given.only != "starts":
            with tempfile.TemporaryDirectory(dir=given.dir) as folder:
                good &= bytes_of(name, "full scale, null", workload, Options(), "null", Path(folder), results)
            with tempfile.TemporaryDirectory(dir=given.dir) as folder:
                options = Options(ranks=4, bytes_scale=Fraction(1, 100))
                good &= bytes_of(name, "4 ranks, 1 %, files", workload, options, None, Path(folder), results)
        if given.only != "bytes" and letter in "ace":
            with tempfile.TemporaryDirectory(dir=given.dir) as folder:
                good &= starts_of(name, workload, Path(folder), results)
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
