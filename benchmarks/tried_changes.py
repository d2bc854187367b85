"""Pairs of engine runs, before and after a change: is the cause found first, and does the bound hold?

    python benchmarks/tried_changes.py [--blocks N]

Each workload has one known problem. It is run and captured, its log is diagnosed, and `diagnose --try` measures the
change that the finding asks for, at the same ranks and bytes. The bound holds if the lower end of the measured gain's
95 % interval is at most the gain that was printed; what could not be measured holds no bound. Workloads without a
problem must promise no gain.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import Results

RANKS = min(4, os.cpu_count() or 1)
"""A core for each rank: where ranks share cores, one rank's time between calls is time that another one waits."""
RANKS_OF = {"every rank reads the whole file": 4, "one rank writes the data of all": 8}
"""Ranks of the cases whose finding is about many."""

CASES = {
    "a sync after each write, posix": ("sync-each-write", "sync-once", """\
- {role: checkpoint, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {sync: each, streams: [{direction: write, sizes: [150/rank x 64 KiB]}]}}
"""),
    "a sync after each write, one file": ("sync-each-write", "sync-once", """\
- {role: checkpoint, interface: posix, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {sync: each, streams: [{direction: write, sizes: [150/rank x 64 KiB]}]}}
"""),
    "a flush after each write, stdio": ("sync-each-write", "sync-once", """\
- {role: log, interface: stdio, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {flush: each, streams: [{direction: write, sizes: [20000/rank x 100 B]}]}}
"""),
    "independent interleaved pieces": ("independent-access", "collective", """\
- {role: checkpoint, interface: mpiio, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: write, pattern: interleaved, sizes: [4000/rank x 1 KiB]}]}}
"""),
    "independent hyperslabs": ("independent-access", "collective", """\
- {role: checkpoint, interface: hdf5, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {arrays: [{dims: [4096, 256], access: [{direction: write, slabs: [{count: 4096, shape: [1, 256]}]}]}]}}
"""),
    "fill values": ("fill-values", "no-fill", """\
- {role: checkpoint, interface: hdf5, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {arrays: [{datasets: 4, dims: [4096, 1024], chunk: [1024, 1024], fill_values: true,
   access: [{direction: write, slabs: [{count: 16, shape: [1024, 1024]}]}]}]}}
"""),
    "random small reads": ("small-reads", "in-order", """\
- {role: input, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: read, pattern: random, sizes: [8000/rank x 8 KiB]}]}}
"""),
    "a seek before each read": ("useless-seeks", "no-seeks", """\
- {role: input, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {seeks: each, streams: [{direction: read, sizes: [20000/rank x 4 KiB]}]}}
"""),
    "small interleaved writes": ("small-writes", "aggregated", """\
- {role: checkpoint, interface: posix, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: write, pattern: interleaved, sizes: [20000/rank x 512 B]}]}}
"""),
    "every rank reads the whole file": ("all-ranks-read-all", "one-reader", """\
- {role: input, interface: posix, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: read, pattern: replicated, sizes: [512/rank x 1 MiB]}]}}
"""),
    "passes over the same bytes": ("redundant-reads", "read-once", """\
- {role: input, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {passes: 6, streams: [{direction: read, sizes: [256/rank x 1 MiB]}]}}
"""),
    "opened again and again": ("reopened-often", "opened-once", """\
- {role: checkpoint, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {opens: 20000, streams: [{direction: write, sizes: [8/rank x 1 MiB]}]}}
"""),
    "bulk data through STDIO": ("bulk-stdio", "without-stdio", """\
- {role: output, interface: stdio, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: write, sizes: [400000/rank x 1 KiB]}]}}
"""),
    "one rank writes the data of all": ("one-writer", "all-write", """\
- {role: checkpoint, interface: posix, sharing: root, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: write, sizes: [1024 x 1 MiB]}]}}
"""),
    "asked for its status": ("stat-storm", "no-stats", """\
- {role: input, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {stats: 400000, streams: [{direction: read, sizes: [8/rank x 1 MiB]}]}}
"""),
    "chunks across what is read": ("read-amplification", "chunked", """\
- {role: input, interface: hdf5, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {arrays: [{dims: [2048, 2048], chunk: [128, 512],
   access: [{direction: read, slabs: [{count: 2048, shape: [1, 2048]}]}]}]}}
"""),
}  # fmt: skip

CONTROLS = {
    "already collective": """\
- {role: checkpoint, interface: mpiio, sharing: shared, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: write, pattern: interleaved, collective: true, sizes: [64/rank x 4 MiB]}]}}
""",
    "synced once": """\
- {role: checkpoint, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {fsyncs: 4, streams: [{direction: write, sizes: [64/rank x 4 MiB]}]}}
""",
    "sequential": """\
- {role: input, interface: posix, sharing: per-rank, schedule: {count: 1, first: 0 s},
   content: {streams: [{direction: read, sizes: [64/rank x 4 MiB]}]}}
""",
}  # fmt: skip
"""Workloads without a problem: they must promise no gain."""


def workalike(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "workalike", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"workalike {arguments[0]}: {done.stderr}")
    return done.stdout


def diagnosed(family: str, folder: Path, *tried: object, ranks: int = RANKS) -> dict[str, Any]:
    """The diagnosis of a captured run of a workload with one family, in a folder."""
    log = folder / "run" / "replica.darshan"
    if not log.exists():
        (folder / "w.yaml").write_text(f"workalike: 2\nranks: {ranks}\nfamilies:\n{family}")
        workalike("run", folder / "w.yaml", "--dir", folder / "data", "--capture", "-o", folder / "run", "-q")
    found: dict[str, Any] = json.loads(workalike("diagnose", log, *tried, "--json"))
    return found


def promised(found: dict[str, Any]) -> list[str]:
    """Findings of weight that promise a gain."""
    return [
        f"{f['rule']}: at most {f['gain_at_most_s']:.3f} s"
        for f in found["findings"]
        if f["severity"] != "NOTE" and f["gain_at_most_s"]
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=6)
    given = parser.parse_args()
    results = Results()
    first_right = holds = silent = 0
    for name, (rule, change, family) in CASES.items():
        with tempfile.TemporaryDirectory(dir=".") as place:
            folder = Path(place)
            ranks = RANKS_OF.get(name, RANKS)
            bounds = diagnosed(family, folder, ranks=ranks)["findings"]
            extra = ("--try", folder / "tried", "--ranks", ranks, "--blocks", given.blocks)
            found = diagnosed(family, folder, *extra)
        first = next((f for f in found["findings"] if f["rule"] != "partial-log"), None)
        right = first is not None and first["rule"] == rule
        first_right += right
        tried = next((trial for trial in found["tried"] if trial["change"] == change), None)
        text = f"first: {first and first['rule']}"
        if first and tried and tried["ratio"] is not None:
            bound = next(f["gain_at_most_s"] for f in bounds if f["rule"] == first["rule"])
            low, high = tried["saved_low_s"], tried["saved_high_s"]
            holds += low <= bound
            pays = {True: "pays", False: "does not pay", None: "no difference found"}[tried["pays"]]
            text += f"; at most {bound:.3f} s; measured {tried['saved_s']:.3f} s ({low:.3f} to {high:.3f}): {pays}"
        else:
            text += f"; not measured: {tried['reason'] if tried else f'{change} was not tried'}"
        print(f"{name:36} {text}", flush=True)
        results.add(name, text, target=f"{rule} first", reached=right)
    for name, family in CONTROLS.items():
        with tempfile.TemporaryDirectory(dir=".") as place:
            gains = promised(diagnosed(family, Path(place)))
        silent += not gains
        text = "; ".join(gains) or "no gain promised"
        print(f"{name:36} {text}", flush=True)
        results.add(name, text, target="no gain promised", reached=not gains)
    results.add("bounds that hold", f"{holds} of {len(CASES)}", target="all", reached=holds == len(CASES))
    print(
        f"{first_right} of {len(CASES)} causes first; {holds} of {len(CASES)} bounds hold; "
        f"{silent} of {len(CONTROLS)} without a problem promise no gain"
    )
    results.write()


if __name__ == "__main__":
    main()
