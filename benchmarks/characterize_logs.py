"""Time and memory of characterizing each known log, one process per log (imports included).

    python benchmarks/characterize_logs.py [LOG ...]

Targets: less than 2 s and 500 MB for every log.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from full_scale import known_logs
from results import Results

SECONDS, MEGABYTES = 2.0, 500.0
COMMAND = "from workalike.cli import main; main()"


def measure(path: Path) -> tuple[float, float, int]:
    """(seconds, MB at the peak, exit code) of `workalike characterize`."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "characterize", str(path), "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - begin, usage.ru_maxrss / 1000, process.returncode


def main() -> int:
    rows = []
    results = Results()
    for path in [Path(a) for a in sys.argv[1:]] or known_logs():
        rows.append((*measure(path), path.name))
    for seconds, megabytes, code, name in sorted(rows):
        print(f"{name[:60]:60} {seconds:6.2f} s {megabytes:7.1f} MB  exit {code}")
    slowest, largest = max(r[0] for r in rows), max(r[1] for r in rows)
    reached = slowest < SECONDS and largest < MEGABYTES
    print(
        f"{len(rows)} logs: at most {slowest:.2f} s and {largest:.0f} MB ({'reached' if reached else 'MISSED'})"
    )
    results.add(
        f"characterize any log (of {len(rows)}), one process per log",
        f"at most {slowest:.2f} s, {largest:.0f} MB",
        target=f"< {SECONDS:g} s, < {MEGABYTES:g} MB",
        reached=reached,
        seconds=slowest,
        megabytes=largest,
    )
    results.write()
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
