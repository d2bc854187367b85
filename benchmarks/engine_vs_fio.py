"""Is the engine as fast as fio? Sequential writes of one process, posix backend against `ioengine=psync`.

Same sizes, same pattern, tmpfs, no fsync, at least 1 GiB a run, time without open and close, alternating pairs, and
memory that does not begin a page (fio's would, an application's does not: engine/core/data/ring.hpp). The figure is the
median of engine bandwidth / fio bandwidth. Target: at least 0.97.

    python benchmarks/engine_vs_fio.py [--pairs 11] [--dir /dev/shm]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from results import Results

from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Content, Entry, Family, Interface, Role, Schedule, Stream, Workload

TOTAL = 2**30
TARGET = 0.97
MEMORY_AT = 16
"""Bytes: where large memory of malloc begins in a page."""
SIZES = (64 * 2**10, 4 * 2**20)


def engine_bandwidth(folder: Path, size: int) -> float:
    """Bytes per second between the first and the last write."""
    stream = Stream(direction="write", sizes=[Entry(count=TOTAL // size, size=size)])
    family = Family(
        role=Role.OUTPUT,
        interface=Interface.POSIX,
        schedule=Schedule(count=1),
        content=Content(streams=[stream]),
    )
    plan = resolve(Workload(ranks=1, families=[family]), Options())
    record = run_plan(plan, RunOptions(data=folder, out=folder, quiet=True))
    (dump,) = record.dumps
    return dump.bytes_written / dump.transfer_s


def fio_bandwidth(folder: Path, size: int) -> float:
    """Bytes per second as fio measures them: its run time, without open and close."""
    command = [
        "fio", "--name=w", f"--directory={folder}", "--rw=write", "--ioengine=psync", f"--bs={size}",
        f"--size={TOTAL}", "--scramble_buffers=0", "--fsync=0", "--end_fsync=0", "--fallocate=none",
        f"--iomem_align={MEMORY_AT}", "--output-format=json", "--thread",
    ]  # fmt: skip
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    job = json.loads(out)["jobs"][0]["write"]
    for file in folder.glob("w.*"):
        file.unlink()
    return job["io_bytes"] / (job["runtime"] / 1000)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm"))
    given = parser.parse_args()
    if shutil.which("fio") is None:
        print("needs the Debian package fio", file=sys.stderr)
        return 2
    missed = 0
    results = Results()
    for size in SIZES:
        ratios, ours, theirs = [], [], []
        for _ in range(given.pairs + 1):
            with tempfile.TemporaryDirectory(dir=given.dir) as folder:
                ours.append(engine_bandwidth(Path(folder), size))
                theirs.append(fio_bandwidth(Path(folder), size))
            ratios.append(ours[-1] / theirs[-1])
        median = statistics.median(ratios[1:])  # the first pair warms up
        missed += median < TARGET
        results.add(
            f"engine ÷ fio, one process, {given.dir}, 1 GiB, calls of {size // 1024} KiB, median of {given.pairs} pairs",
            f"{median:.2f} ({min(ratios[1:]):.2f} to {max(ratios[1:]):.2f})",
            target=f"≥ {TARGET}",
            reached=median >= TARGET,
            ratio=median,
        )
        print(
            f"{size // 1024:5} KiB: engine {statistics.median(ours[1:]) / 1e9:.2f} GB/s, "
            f"fio {statistics.median(theirs[1:]) / 1e9:.2f} GB/s, median ratio of {given.pairs} pairs {median:.3f} "
            f"(from {min(ratios[1:]):.3f} to {max(ratios[1:]):.3f}; {'reached' if median >= TARGET else 'MISSED'}: {TARGET})"
        )
    results.write()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
