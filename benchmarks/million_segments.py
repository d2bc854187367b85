"""Characterize logs with a complete trace (DXT) of a million segments: time, memory, and the segments of the plan.

    python benchmarks/million_segments.py [SEGMENTS]

The logs are made by rules (tests/support/large_traces.py): blocks of the ranks in turn, which a few rules give, and
samples of random sizes in random order, which only an operation table gives. Each is characterized in a process of its
own, imports included. Then its plan is expanded and set beside the trace as PyDarshan reads it
(benchmarks/traced_segments.py). Targets: under 10 s and 500 MB, and all segments.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

from catalogue import ROOT
from characterize_logs import measure
from results import Results
from traced_segments import score

from workalike.characterize import characterize
from workalike.darshan import open_log

sys.path.append(str(ROOT / "tests" / "support"))
from large_traces import RULES, large_trace

SEGMENTS = 1_000_000
RANKS = 64
MOST_S, MOST_MB = 10.0, 500.0


def main() -> int:
    warnings.simplefilter("ignore")
    segments = int(sys.argv[1]) if len(sys.argv) > 1 else SEGMENTS
    results = Results()
    all_reached = True
    with tempfile.TemporaryDirectory() as folder:
        for name, rule in RULES.items():
            path = large_trace(Path(folder) / f"{name}.darshan", rule, segments, RANKS)
            seconds, megabytes, code = measure(path)
            log = open_log(path)
            found = score(path, log, characterize([log]))
            reached = code == 0 and seconds < MOST_S and megabytes < MOST_MB
            whole = found.equal_segments == found.segments > 0
            print(
                f"{name:12} {found.segments:,} segments: {seconds:.2f} s, {megabytes:.0f} MB, exit {code}; "
                f"{found.equal_segments:,} in the plan"
            )
            results.add(
                f"characterize a log with a trace of {found.segments:,} segments, {name}",
                f"{seconds:.2f} s, {megabytes:.0f} MB; {found.equal_segments:,} segments in the plan",
                target=f"< {MOST_S:g} s, < {MOST_MB:g} MB, all segments",
                reached=reached and whole,
                seconds=seconds,
                megabytes=megabytes,
            )
            all_reached &= reached and whole
    if len(sys.argv) == 1:
        results.write()
    return 0 if all_reached else 1


if __name__ == "__main__":
    sys.exit(main())
