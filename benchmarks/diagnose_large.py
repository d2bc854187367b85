"""Diagnose logs of 2,048 ranks with a trace (DXT) of 600,000 segments in all: time and memory.

    python benchmarks/diagnose_large.py [SEGMENTS]

The logs are made by rules (tests/support/large_traces.py): blocks of the ranks in turn, samples of random sizes in
random order, and blocks of which each one overlaps those of all ranks. Each is diagnosed in a process of its own,
imports included. Targets: under 5 s and 1 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from catalogue import ROOT
from results import Results

sys.path.append(str(ROOT / "tests" / "support"))
from large_traces import RULES, large_trace, overlapping

SEGMENTS = 600_000
RANKS = 2048
MOST_S, MOST_MB = 5.0, 1000.0
COMMAND = """
import sys
from pathlib import Path
from workalike.darshan import open_logs
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.text import diagnosis_text
print(diagnosis_text(diagnose(open_logs([Path(sys.argv[1])]))))
"""


def measured(path: Path) -> tuple[float, float, int]:
    """(seconds, MB at the peak, exit code) of a diagnosis in a process of its own."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", COMMAND, str(path)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - begin, usage.ru_maxrss * 1024 / 1e6, process.returncode


def main() -> int:
    segments = int(sys.argv[1]) if len(sys.argv) > 1 else SEGMENTS
    results = Results()
    all_reached = True
    with tempfile.TemporaryDirectory() as folder:
        for name, rule in {**RULES, "overlapping": overlapping}.items():
            path = large_trace(Path(folder) / f"{name}.darshan", rule, segments, RANKS)
            seconds, megabytes, code = measured(path)
            reached = code == 0 and seconds < MOST_S and megabytes < MOST_MB
            print(f"{name:12} {segments:,} segments: {seconds:.2f} s, {megabytes:.0f} MB, exit {code}")
            results.add(
                f"diagnose a log of {RANKS:,} ranks with {segments:,} traced segments, {name}",
                f"{seconds:.2f} s, {megabytes:.0f} MB",
                target=f"< {MOST_S:g} s, < {MOST_MB / 1000:g} GB",
                reached=reached,
                seconds=seconds,
                megabytes=megabytes,
            )
            all_reached &= reached
    if len(sys.argv) == 1:
        results.write()
    return 0 if all_reached else 1


if __name__ == "__main__":
    sys.exit(main())
