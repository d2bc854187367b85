"""Collective MPI-IO writes of 1 MiB into one shared file: the engine beside a program like IOR, at several numbers of ranks.

Both write a new file in tmpfs, in turn; a run's rate is its bytes over the seconds from the first open to the last close.

    python benchmarks/collective_writes.py [--ranks 1,2] [--rounds 9] [--dir /dev/shm]
    python benchmarks/collective_writes.py --prepare DIR                # plans for a machine without workalike, and then
    python benchmarks/collective_writes.py --plans DIR --engine PATH    # there, with the standard library alone
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

MIB = 2**20
CALLS = 64
"""Of each rank."""
RANKS = "1,2,4,8,16"
LEAST = 0.9
WORKLOAD = """\
workalike: 2
ranks: {ranks}
families:
- role: checkpoint
  interface: mpiio
  sharing: shared
  schedule: {{count: 1, first: 0 s, every: 1 s}}
  content:
    streams: [{{direction: write, sizes: [{calls}/rank x 1 MiB], collective: true}}]
"""
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def prepare(ranks: list[int], folder: Path) -> None:
    """Write PLANS/RANKS.json for each number of ranks."""
    from workalike.plan.plan_file import write_plan
    from workalike.plan.resolve import Options, resolve
    from workalike.workload.workload_file import read_workload

    folder.mkdir(parents=True, exist_ok=True)
    for number in ranks:
        text = folder / "workload.yaml"
        text.write_text(WORKLOAD.format(ranks=number, calls=CALLS))
        write_plan(resolve(read_workload(text), Options(time_scale=0)), folder / f"{number}.json")
        text.unlink()


def run(*command: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def seconds_of_engine(engine: Path, plan: Path, ranks: int, folder: Path) -> float:
    record = folder / "run.jsonl"
    record.unlink(missing_ok=True)
    data = folder / "data"
    run("mpiexec", "-n", ranks, engine, "--plan", plan, "--dir", data, "--record", record, "--quiet")
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return float(sum(line["io_s"] for line in lines if line["type"] == "dump"))


def seconds_of_program(program: Path, ranks: int, folder: Path) -> float:
    file = folder / "file"
    block = CALLS * MIB
    found = float(run("mpiexec", "-n", ranks, program, file, "collective", 1, block, MIB, "none"))
    file.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default=RANKS)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--prepare", type=Path, metavar="DIR")
    parser.add_argument("--plans", type=Path, metavar="DIR")
    parser.add_argument("--engine", type=Path)
    given = parser.parse_args()
    ranks = [int(word) for word in given.ranks.split(",")]
    if given.prepare:
        prepare(ranks, given.prepare)
        return
    with tempfile.TemporaryDirectory(dir=given.dir) as name:
        folder = Path(name)
        (folder / "data").mkdir()
        plans, engine = given.plans, given.engine
        if plans is None:
            from workalike.launch.engines import find_engine

            plans, engine = folder / "plans", find_engine()
            prepare(ranks, plans)
        program = folder / "ior_like"
        subprocess.run(
            ["mpicc", "-O2", str(Path(__file__).with_name("ior_like.c")), "-o", str(program)], check=True
        )
        found = {
            number: measure(engine, plans / f"{number}.json", program, number, given.rounds, folder)
            for number in ranks
        }
    if given.plans is None:
        add_rows(found, given.rounds)


def measure(
    engine: Path, plan: Path, program: Path, ranks: int, rounds: int, folder: Path
) -> tuple[float, float]:
    """Median bytes a second of the engine and of the program."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            seconds[which].append(
                seconds_of_program(program, ranks, folder)
                if which
                else seconds_of_engine(engine, plan, ranks, folder)
            )
    ours, theirs = (ranks * CALLS * MIB / statistics.median(values) for values in seconds)
    print(
        f"{ranks:3} ranks: engine {ours / MIB:,.0f} MiB/s, program {theirs / MIB:,.0f}, ratio {ours / theirs:.2f}",
        flush=True,
    )
    return ours, theirs


def add_rows(found: dict[int, tuple[float, float]], rounds: int) -> None:
    from results import Results

    results = Results()
    for ranks, (ours, theirs) in found.items():
        results.add(
            f"collective writes of 1 MiB, {ranks} ranks, tmpfs: engine ÷ program like IOR, medians of {rounds} rounds",
            f"{ours / theirs:.2f} ({ours / MIB:,.0f} MiB/s)",
            target=f"≥ {LEAST}",
            reached=ours / theirs >= LEAST,
            ratio=ours / theirs,
        )
    results.write()


if __name__ == "__main__":
    main()
