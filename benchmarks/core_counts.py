"""Counting a plan in process: the core, imported by Python, with no MPI and no launcher.

    python benchmarks/core_counts.py [--runs N]

The full-scale count of the demo's log (2,048 ranks), from the plan's text to NumPy columns, and its memory above an
interpreter with NumPy; and a workload of the paper, weak-scaled to 65,536 and 1,048,576 ranks, in seconds of CPU.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

from full_scale import known_logs
from results import Results

from workalike import _core
from workalike.characterize import characterize
from workalike.darshan import open_log
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import read_workload

ROOT = Path(__file__).parents[1]
DEMO = "example.darshan"
PAPER = ROOT / "workloads" / "mphys-e.yaml"
COUNT_MS = 50.0
MEMORY_MB = 50.0
CPU_S = {65_536: 1.0, 1_048_576: 5.0}
MEMORY = """
import resource, sys
import numpy
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
from workalike import _core
_core.Plan(sys.stdin.read()).count()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def memory_mb(plan: str) -> float:
    """Memory of a count above an interpreter with NumPy, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], input=plan, capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    runs: int = parser.parse_args().runs
    results = Results()
    (demo,) = [path for path in known_logs() if path.name == DEMO]
    plan = plan_text(resolve(characterize([open_log(demo)]).workload, Options()))
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        _core.Plan(plan).count()
        times.append(1000 * (time.perf_counter() - start))
    memory = memory_mb(plan)
    results.add(
        "full-scale count of the demo's log (2,048 ranks) in process",
        f"{max(times):.2f} ms at most of {runs} runs, {memory:.1f} MB above the interpreter with NumPy",
        target=f"≤ {COUNT_MS:g} ms, ≤ {MEMORY_MB:g} MB",
        reached=max(times) <= COUNT_MS and memory <= MEMORY_MB,
        milliseconds=round(max(times), 3),
        megabytes=round(memory, 1),
    )
    workload = read_workload(PAPER)
    for ranks, limit in CPU_S.items():
        text = plan_text(resolve(workload, Options(ranks=ranks, scaling="weak", bytes_scale=Fraction(1))))
        start = time.process_time()
        _core.Plan(text).count()
        seconds = time.process_time() - start
        results.add(
            f"count of {PAPER.name}, weak-scaled to {ranks:,} ranks",
            f"{seconds:.2f} s of CPU",
            target=f"≤ {limit:g} s",
            reached=seconds <= limit,
            seconds=round(seconds, 3),
        )
    results.write()


if __name__ == "__main__":
    main()
