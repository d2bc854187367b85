"""Time to make the facts of a log, with the table of its files and its signature: fleets make millions.

    python benchmarks/facts_speed.py [LOG...] [--runs N]

Prints one JSON object: for each log milliseconds (the best of N runs, default 20) to open it, to make the facts, and
the table with the signature. A small log (at most 100 files) shall have its facts in 3 ms.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from full_scale import known_logs
from results import Results

from workalike.darshan import open_log
from workalike.errors import WorkalikeError
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
        try:
            facts = facts_of([open_log(path)])
        except WorkalikeError:
            continue  # nothing in it
        rows.append(
            {
                "log": path.name,
                "files": len(facts),
                "open_ms": best_ms(lambda path=path: open_log(path), given.runs),
                "facts_ms": best_ms(lambda path=path: facts_of([open_log(path)]), given.runs),
                "table_and_signature_ms": best_ms(
                    lambda facts=facts: signature_of(file_table(facts), facts.nprocs), given.runs
                ),
            }
        )
    slowest = max((row for row in rows if row["files"] <= SMALL_FILES), key=lambda row: row["facts_ms"])
    results = Results()
    results.add(
        f"facts of a log of at most {SMALL_FILES} files, slowest of {len(rows)} logs",
        f"{slowest['facts_ms']} ms (`{slowest['log']}`; best of {given.runs} runs)",
        target=f"≤ {LIMIT_MS:g} ms",
        reached=slowest["facts_ms"] <= LIMIT_MS,
        milliseconds=slowest["facts_ms"],
    )
    results.write()
    small = [row["facts_ms"] for row in rows if row["files"] <= SMALL_FILES]
    print(
        json.dumps(
            {"limit_ms": LIMIT_MS, "slowest_small_log_ms": max(small, default=None), "logs": rows}, indent=1
        )
    )


if __name__ == "__main__":
    main()
