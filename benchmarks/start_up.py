"""CPU time of `workalike --help` and of each command's help, beside that of an empty Python.

    python benchmarks/start_up.py [RUNS]

Prints one JSON object: seconds (user and system), the median of RUNS (default 7) each.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence

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
LIMIT_S = 0.25


def cpu_seconds(command: Sequence[str], runs: int) -> float:
    """Median CPU time of a command over so many runs, after one that warms the caches."""
    times = []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times[1:])


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    program = [sys.executable, "-m", "workalike"]
    bare = cpu_seconds([sys.executable, "-c", "pass"], runs)
    help_s = cpu_seconds([*program, "--help"], runs)
    results = Results()
    results.add(
        "`workalike --help`, CPU time above that of an empty Python",
        f"{help_s - bare:.3f} s (median of {runs})",
        target=f"≤ {LIMIT_S} s",
        reached=help_s - bare <= LIMIT_S,
        seconds=help_s - bare,
    )
    results.write()
    print(
        json.dumps(
            {
                "python_s": round(bare, 4),
                "help_s": round(help_s, 4),
                "help_above_python_s": round(help_s - bare, 4),
                "limit_s": LIMIT_S,
                "help_of_s": {
                    name: round(cpu_seconds([*program, name, "--help"], runs), 4) for name in COMMANDS
                },
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
