"""Time and memory of the report of a study of 10,000 recorded trials.

    python benchmarks/study_report.py

A hundred trials are measured, in 5 blocks of 20 settings. Their lines are then repeated for 500 blocks, each trial with
times of its own (a factor with a spread of 10 %). The study is called again with 500 blocks: all trials are there, so
that what is left is to read them and to write tables, figures and page.
"""

from __future__ import annotations

import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from results import Results

from workalike.study.journal import LINES

MEASURED, BLOCKS = 5, 500
TRANSFERS = ("4KiB", "16KiB", "64KiB", "256KiB")
SCALES = ("1/16", "1/8", "1/4", "1/2", "1")
SETTINGS = len(TRANSFERS) * len(SCALES)
TRIALS = BLOCKS * SETTINGS
SPREAD = 0.1
WORKLOAD = """\
workalike: 2
ranks: 1
families:
- {role: checkpoint, interface: posix, sharing: per-rank, schedule: {count: 4, first: 0 s, every: 1 s},
   content: {streams: [{direction: write, sizes: [16/rank x 64 KiB]}]}}
"""
STUDY = f"""\
study: 1
workload: w.yaml
launcher: serial
fixed: {{time_scale: 0}}
factors: {{transfer: [{", ".join(TRANSFERS)}], bytes_scale: [{", ".join(f'"{scale}"' for scale in SCALES)}]}}
a_a: false
"""
TIMES = ("wall_s", "io_time_s", "slowest_dump_s", "transfer_time_s", "start_s", "end_s")
TARGET_S = 30.0
TARGET_BYTES = 10**9


def study(folder: Path, blocks: int) -> float:
    """Seconds of the command."""
    path = folder / "study.yaml"
    path.write_text(f"{STUDY}blocks: {blocks}\n", encoding="utf-8")
    command = [sys.executable, "-m", "workalike", "study", "run", str(path), "-o", str(folder / "out"), "-q"]
    begin = time.perf_counter()
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(f"the study ended with {done.returncode}")
    return time.perf_counter() - begin


def slower(row: dict[str, Any], factor: float) -> dict[str, Any]:
    """A trial or a dump whose times are longer by a factor."""
    times = {name: row[name] * factor for name in TIMES if row.get(name) is not None}
    return row | times | {"bandwidth": row["bandwidth"] / factor}


def repeat(path: Path) -> int:
    """Repeat the lines of a study's measured blocks up to `BLOCKS`; returns the number of all."""
    measured = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    noise = random.Random(1)
    number = len(measured)
    with path.open("a", encoding="utf-8") as out:
        for shift in range(MEASURED, BLOCKS, MEASURED):
            for line in measured:
                factor = math.exp(noise.gauss(0, SPREAD))
                place = {"block": line["trial"]["block"] + shift, "trial": number}
                number += 1
                trial = slower(line["trial"], factor) | place
                dumps = [slower(dump, factor) | place for dump in line["dumps"]]
                out.write(json.dumps({"trial": trial, "dumps": dumps}) + "\n")
    return number


def main() -> int:
    results = Results()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "w.yaml").write_text(WORKLOAD, encoding="utf-8")
        study(folder, MEASURED)
        lines, page = folder / "out" / LINES, folder / "out" / "report.html"
        if (recorded := repeat(lines)) != TRIALS:
            sys.exit(f"{recorded:,} trials are recorded, not {TRIALS:,}")
        page.unlink()
        taken = study(folder, BLOCKS)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        if len(lines.read_text(encoding="utf-8").splitlines()) != TRIALS:
            sys.exit("the second call ran trials again")
        size = page.stat().st_size
    results.add(
        f"report of a study of {TRIALS:,} recorded trials: time, memory",
        f"{taken:.1f} s, {memory / 1e6:.0f} MB (page {size / 1e6:.1f} MB)",
        target="< 30 s, < 1 GB",
        reached=taken < TARGET_S and memory < TARGET_BYTES,
        report_s=taken,
        memory_bytes=float(memory),
    )
    print(results.figures[-1].figure)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
