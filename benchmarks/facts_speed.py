"""Time to make the facts of a log, with the table of its files and its signature: fleets make millions.

    python benchmarks/facts_speed.py [LOG...] [--runs N]

For each log (default: all known ones) milliseconds, the best of N runs (default 20): to open it and make the facts, and
to make the table of its files with the signature. A small log has at most 100 files.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from full_scale import known_logs
from results import Results

from workalike.darshan import open_log
from workalike.facts.file_table import file_table
from workalike.facts.gather import facts_of
from workalike.facts.signature import signature_of

SMALL_FILES = 100
LIMIT_MS = 3.0


def best_ms(work: Callable[[], Any], runs: int) -> float:
    """The shortest of so many runs: what the work takes when nothing else does."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return round(1000 * min(times), 3)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    rows = []
    for path in given.logs or known_logs():
        facts = facts_of([open_log(path)])
        made = best_ms(lambda path=path: facts_of([open_log(path)]), given.runs)
        table = best_ms(lambda facts=facts: signature_of(file_table(facts), facts.nprocs), given.runs)
        rows.append((made, table, len(facts)))
        print(f"{path.name[:60]:60} {len(facts):5} files {made:8.2f} ms, table and signature {table:8.2f} ms")
    small = [made for made, _, files in rows if files <= SMALL_FILES]
    slowest = max(small)
    results = Results()
    results.add(
        f"facts of a small log ({len(small)} logs of at most {SMALL_FILES} files), opened and read",
        f"at most {slowest:.1f} ms, half of them within {median(small):.1f} ms",
        target=f"≤ {LIMIT_MS:g} ms",
        reached=slowest <= LIMIT_MS,
        milliseconds=slowest,
        median_milliseconds=median(small),
    )
    results.write()


if __name__ == "__main__":
    main()
