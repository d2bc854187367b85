"""How long `make test` takes, and its ten slowest tests.

python benchmarks/slowest_tests.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from results import Results

MINUTES = 10.0
COMMAND = ("make", "test", "PYTEST_OPTIONS=--durations=10")


def main() -> int:
    begin = time.perf_counter()
    done = subprocess.run(COMMAND, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    minutes = (time.perf_counter() - begin) / 60
    summary = done.stdout.strip().splitlines()[-1]
    print(done.stdout[-5000:])
    if done.returncode != 0:
        return 1
    results = Results()
    results.add(
        "`make test`",
        f"{minutes:.1f} min: {summary}",
        target=f"≤ {MINUTES:g} min, idle",
        reached=minutes <= MINUTES,
    )
    for seconds, phase, name in re.findall(
        r"^([\d.]+)s (call|setup|teardown) +(\S.*)$", done.stdout, flags=re.MULTILINE
    ):
        results.add(f"slowest tests: `{name}`, {phase}", f"{seconds} s", seconds=float(seconds))
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
