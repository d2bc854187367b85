"""What the agenda costs: time for each operation, and memory with many dumps in progress.

    python benchmarks/agenda_cost.py

A small program of the core's (agenda_walk.cpp) goes through the operations of a rank twice: dump by dump, and in the
order of the agenda. The difference of their CPU times is the cost of the agenda. The engine performs plans of many
dumps in progress and of many operations; the memory is the largest resident set of its process, MPI included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import Results

OPERATIONS = 1_000_000
WALKS = 7
REPOSITORY = Path(__file__).parents[1]
TARGET_NS = 50
TARGET_MB = 256
ENGINE = Path(sys.executable).with_name("workalike-engine")
MEASURED = """
import os, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
import resource
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.stderr.write(done.stderr)
"""


def plan_of(dumps: int, operations: int, backend: str = "posix") -> dict[str, Any]:
    """So many dumps of a rank that are in progress together, each of so many writes."""
    families = [
        {
            "id": 0, "role": "checkpoint", "number": 1, "interface": "posix", "backend": backend, "level": "posix",
            "sharing": {"mode": "shared", "files": 1, "turns": "concurrent", "ranks": "all", "gather": False},
            "lifetime": "per-dump", "keep": 0, "rename": False, "reader": "writer", "drop_caches": False, "hints": {},
        }
    ]  # fmt: skip
    stream = {
        "ranks": "all", "direction": "write", "pattern": "contiguous", "collective": False, "base": 0,
        "entries": [[operations, 100]], "mixed": False, "stride": 0, "pieces": 1,
    }  # fmt: skip
    content = {
        "opens": 0,
        "stats": 0,
        "seeks": 0,
        "fsyncs": 0,
        "flushes": 0,
        "streams": [stream],
        "arrays": [],
    }
    times = {"start_s": 0.0, "end_s": 10.0, "writes": [5.0, 10.0, 0.0]}
    return {
        "format": "workalike-plan", "version": 2, "ranks": 1, "seed": 1, "clock": "gap", "time_scale": 0.0,
        "gap_fill": "sleep", "families": families, "contents": [content],
        "dumps": [{"family": 0, "index": i, "file": i, "content": 0, "base": 0, **times} for i in range(dumps)],
    }  # fmt: skip


def build_walk(folder: Path) -> Path:
    """The program that goes through a plan, linked with the core that was built last."""
    library = max(
        REPOSITORY.glob("build/cp*/engine/core/libworkalike_core.a"), key=lambda path: path.stat().st_mtime
    )
    program = folder / "agenda_walk"
    subprocess.run(
        [
            "c++", "-O3", "-DNDEBUG", "-std=c++20", "-DFMT_HEADER_ONLY", f"-I{REPOSITORY / 'engine/core'}",
            f"-I{REPOSITORY}", str(REPOSITORY / "benchmarks/agenda_walk.cpp"), str(library), "-o", str(program),
        ],
        check=True,
    )  # fmt: skip
    return program


def cost_ns(walk: Path, dumps: int) -> float:
    """Nanoseconds that the agenda adds to an operation, with so many dumps in progress."""
    plan = walk.parent / "plan.json"
    plan.write_text(json.dumps(plan_of(dumps, OPERATIONS // dumps)), encoding="utf-8")
    done = subprocess.run([str(walk), str(plan), str(WALKS)], capture_output=True, text=True, check=True)
    by_dump, in_time = (float(word) for word in done.stdout.split())
    return in_time - by_dump


def memory_mb(plan: dict[str, Any]) -> float:
    """Largest resident set of the engine that performs a plan; raises RuntimeError if it fails."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        (folder / "data").mkdir()
        command = [str(ENGINE), "--plan", str(folder / "plan.json"), "--dir", str(folder / "data")]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command, "--record", str(folder / "run.jsonl")],
            env={**os.environ, "OMPI_MCA_ess_singleton_isolated": "1"},
            capture_output=True,
            text=True,
        )
    code, kilobytes = (int(word) for word in done.stdout.split())
    if code != 0:
        raise RuntimeError(done.stderr.strip())
    return kilobytes / 1000


def main() -> int:
    results = Results()
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        walk = build_walk(Path(temporary))
        costs = {dumps: cost_ns(walk, dumps) for dumps in (1, 8, 100, 1000)}
    for dumps, ns in costs.items():
        good = good and ns <= TARGET_NS
        print(f"{dumps:5} dumps in progress: {ns:.0f} ns an operation")
        results.add(
            f"cost of the agenda for an operation, {dumps:,} dumps in progress",
            f"{ns:.0f} ns",
            target=f"≤ {TARGET_NS} ns",
            reached=ns <= TARGET_NS,
            ns=ns,
        )
    base = memory_mb(plan_of(1, 1))
    for name, plan in (
        ("10,000 dumps in progress, posix", plan_of(10_000, 3)),
        ("10,000 dumps in progress, null", plan_of(10_000, 3, "null")),
        ("1,000,000 operations, posix", plan_of(1, OPERATIONS)),
    ):
        used = memory_mb(plan)
        good = good and used <= TARGET_MB
        print(f"{name}: {used:.0f} MB, of which {base:.0f} MB with a single operation")
        results.add(
            f"memory of a rank: {name}",
            f"{used:.0f} MB, of which {base:.0f} MB with a single operation",
            target=f"≤ {TARGET_MB} MB",
            reached=used <= TARGET_MB,
            mb=used,
            base_mb=base,
        )
    results.write()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
