"""TyphonIO files in the library's own calls against the same files in fewer and larger ones.

    python benchmarks/typhonio_patterns.py [--dir DIR] [--pairs 10] [--ranks 4,16] [--part-size BYTES]

An unstructured 2-D mesh of 43 variables, one part per rank, a few dumps. Both patterns are captured once (POSIX writes
by size, Darshan's meaning) and then timed alternately without capture. Target: at least 5 times fewer POSIX writes
under 4 KiB. The bins of a log end at 100, 1024 and 10240 bytes: data pieces are larger than the last, so all writes
below it are the library's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from results import Results

from workalike.darshan import open_log
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload

TARGET = 5
DUMPS = 5
PART_SIZE = 512 * 1024
SMALL = ("SIZE_WRITE_0_100", "SIZE_WRITE_100_1K", "SIZE_WRITE_1K_10K")


def plan_of(pattern: str, ranks: int, part_size: int) -> Plan:
    family = {
        "role": "checkpoint",
        "interface": "typhonio",
        "schedule": {"count": DUMPS},
        "content": {"mesh": {"part_size": part_size, "variables": 43}},
        "tunable": {"typhonio": pattern},
    }
    return resolve(Workload.model_validate({"ranks": ranks, "families": [family]}), Options())


def small_writes(plan: Plan, where: Path) -> int:
    """POSIX writes of at most 10 KiB, of all ranks, a dump."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        out = Path(folder)
        run_plan(plan, RunOptions(data=out / "data", out=out, quiet=True, capture=True))
        table = open_log(out / "replica.darshan").records("POSIX")
    assert table is not None
    return int(sum(int(table[name].sum()) for name in SMALL)) // DUMPS


def seconds(plan: Plan, where: Path) -> float:
    """I/O time of all dumps, open and close included."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        out = Path(folder)
        record = run_plan(plan, RunOptions(data=out / "data", out=out, quiet=True))
    return sum(d.io_s or 0.0 for d in record.dumps)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=None, help="file system under test [a temporary folder]")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--ranks", default="4,16")
    parser.add_argument("--part-size", type=int, default=PART_SIZE, help="bytes of a variable on a part")
    given = parser.parse_args()
    good = True
    results = Results()
    for ranks in map(int, given.ranks.split(",")):
        plans = {p: plan_of(p, ranks, given.part_size) for p in ("faithful", "optimised")}
        counts = {p: small_writes(plan, given.dir) for p, plan in plans.items()}
        times: dict[str, list[float]] = {p: [] for p in plans}
        for pair in range(given.pairs):
            for pattern in sorted(plans, reverse=pair % 2 == 1):
                times[pattern].append(seconds(plans[pattern], given.dir))
        fewer = counts["faithful"] / max(1, counts["optimised"])
        ratio = statistics.median(f / o for f, o in zip(times["faithful"], times["optimised"], strict=True))
        good &= fewer >= TARGET
        results.add(
            f"small POSIX writes (≤ 10 KiB) per dump, `faithful` ÷ `optimised`, 43 quants, {ranks} ranks; their time",
            f"{fewer:.0f} × ({counts['faithful']} against {counts['optimised']}); time {ratio:.2f}",
            target=f"≥ {TARGET} × fewer",
            reached=fewer >= TARGET,
            fewer=fewer,
            time_ratio=ratio,
        )
        component = os.environ.get("OMPI_MCA_io", "the default MPI-IO component")  # noqa: SIM112
        print(
            f"{ranks:3} ranks, {component}: small POSIX writes a dump {counts['faithful']} faithful, "
            f"{counts['optimised']} optimised: {fewer:.1f} x fewer{'' if fewer >= TARGET else '  MISSED'}; time faithful / "
            f"optimised {ratio:.2f} (median of {given.pairs} pairs)"
        )
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
