"""CPU time of `workalike --help`, of each command's help and of completion, beside that of an empty Python.

    python benchmarks/start_up.py [RUNS]

Seconds are user and system time, the median of RUNS (default 7) each.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from results import Results

COMMANDS = (
    "characterize",
    "check",
    "plan",
    "run",
    "compare",
    "replicate",
    "profile",
    "inspect",
    "import",
    "export",
    "calibrate",
)
LIMIT_S = 0.15
COMPLETION_LIMIT_S = 0.1
COMPLETED = {"a command": "workalike cha", "an option": "workalike run --ba"}
PLAN_LIMIT_S = 0.4
SMALL = Path(__file__).parents[1] / "studies" / "workloads" / "small-checkpoints.yaml"


def cpu_seconds(command: Sequence[str], runs: int, **variables: str) -> float:
    """Median CPU time of a command over so many runs, after one that warms the caches."""
    times = []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env={**os.environ, **variables})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times[1:])


def completion_seconds(program: Sequence[str], line: str, runs: int) -> float:
    """Median CPU time in which bash gets the words that the last one of the line may become."""
    at = str(len(line.split()) - 1)
    asked = {"_WORKALIKE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": at}
    return cpu_seconds(program, runs, **asked)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    program = [sys.executable, "-m", "workalike"]
    bare = cpu_seconds([sys.executable, "-c", "pass"], runs)
    help_s = cpu_seconds([*program, "--help"], runs)
    above = help_s - bare
    of_command = {name: cpu_seconds([*program, name, "--help"], runs) for name in COMMANDS}
    slowest = max(of_command, key=lambda name: of_command[name])
    print(f"empty Python {bare:.3f} s, workalike --help {help_s:.3f} s, {above:.3f} s more")
    for name, seconds in of_command.items():
        print(f"workalike {name} --help {seconds:.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        planned = cpu_seconds([*program, "plan", str(SMALL), "-o", f"{folder}/plan.json"], runs)
    print(f"workalike plan of a small workload {planned:.3f} s")
    results = Results()
    results.add(
        "CPU time of `workalike plan` of a small workload",
        f"{planned:.2f} s",
        target=f"≤ {PLAN_LIMIT_S} s",
        reached=planned <= PLAN_LIMIT_S,
        seconds=planned,
    )
    results.add(
        "CPU time of `workalike --help` above an empty Python",
        f"{above:.2f} s (of a command's help at most {of_command[slowest] - bare:.2f} s)",
        target=f"≤ {LIMIT_S} s",
        reached=above <= LIMIT_S,
        seconds=above,
        python_s=bare,
        slowest_help_s=of_command[slowest] - bare,
    )
    script = [str(Path(sys.executable).parent / "workalike")]
    of_completion = {what: completion_seconds(script, line, runs) - bare for what, line in COMPLETED.items()}
    for what, seconds in of_completion.items():
        print(f"completion of {what} {seconds:.3f} s more")
    results.add(
        "CPU time in which a shell completes, above an empty Python",
        "; ".join(f"{what} {seconds:.2f} s" for what, seconds in of_completion.items()),
        target=f"≤ {COMPLETION_LIMIT_S} s",
        reached=max(of_completion.values()) <= COMPLETION_LIMIT_S,
        **{f"{what.split()[1]}_s": seconds for what, seconds in of_completion.items()},
    )
    results.write()


if __name__ == "__main__":
    main()
