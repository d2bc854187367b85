"""Does a workload say what its log says? The share of determined counters within 5 %, log by log.

    python benchmarks/agreement.py [LOG ...]
    python benchmarks/agreement.py --misses [LOG ...]

Each log is characterized, its full-scale plan predicted (nothing is run), and every counter that the application
determines is set beside the log's. With `--misses` each counter that is off is printed. Traces (DXT) are used where a
log has them. Targets: median 1.0, every log at least 0.95.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from full_scale import known_logs
from results import Results

from workalike.characterize import characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.predict.agreement import DeterminedRow, share

LEAST = 0.95


def print_log(name: str, rows: list[DeterminedRow], misses: bool) -> None:
    agree = sum(row.agrees for row in rows)
    print(f"{name[:50]:50} {agree:6} of {len(rows):6}   {share(rows):.3f}")
    for row in rows if misses else ():
        if not row.agrees:
            group = " + ".join(f"{role.value} {number}" for role, number in row.group)
            print(
                f"    {group}: {row.module} {row.counter}: {row.expected:,} in the log, {row.found:,} predicted"
            )


def main() -> int:
    given = [word for word in sys.argv[1:] if word != "--misses"]
    found: dict[str, float] = {}
    for path in [Path(word) for word in given] or known_logs():
        try:
            rows = model_against_log(pair_up(characterize([open_log(path)]), None))
        except WorkalikeError as error:
            print(f"{path.name[:50]:50} {error.one_line().replace(str(path), '')[:90]}")
            continue
        agreement = share(rows)
        if agreement is not None:
            found[path.name] = agreement
            print_log(path.name, rows, "--misses" in sys.argv)
    if not found:
        return 2
    lowest = min(found, key=lambda name: found[name])
    reached = sum(value >= LEAST for value in found.values())
    median = statistics.median(found.values())
    print(f"median {median:.3f}; {reached} of {len(found)} logs at least {LEAST}")
    results = Results()
    results.add(
        "agreement, workload against log: median",
        f"{median:.3f} over {len(found)} logs",
        target="1.0",
        reached=median == 1.0,
        median=median,
    )
    results.add(
        "… logs of at least 0.95",
        f"{reached} of {len(found)}; lowest {found[lowest]:.2f} (`{lowest}`)",
        target="all",
        reached=reached == len(found),
        logs=float(reached),
    )
    if not given:
        results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
