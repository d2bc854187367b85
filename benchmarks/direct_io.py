"""Does a direct family move data as `fio --direct=1` does? One process, O_DIRECT, posix backend and `ioengine=psync`.

Same sizes, same pattern, aligned memory, one file of 256 MiB on a disk. The engine makes it, writes it again and reads it;
then fio writes and reads the same file, so that both have the same blocks of the disk. Time without open and close. The
figure is the median of engine bandwidth / fio bandwidth over pairs. Target: 0.9 to 1.1.

    python benchmarks/direct_io.py [--pairs 11] [--dir DIR]     # DIR on a disk: by default a folder in the home
"""

from __future__ import annotations

import argparse
import json
import os
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

TOTAL = 256 * 2**20
LEAST, MOST = 0.9, 1.1
SIZES = (64 * 2**10, 2**20)
Bandwidths = dict[str, float]
"""Bytes per second by direction."""


def engine_bandwidths(folder: Path, size: int) -> Bandwidths:
    """A dump makes the file, one writes it again, one reads it; the latter two between their first and last operation.

    They are a second apart, as fio's processes are not at once after each other: what the journal does after the file
    was made is over. The file stays.
    """
    contents = [
        Content(streams=[Stream(direction=direction, sizes=[Entry(count=TOTAL // size, size=size)])])
        for direction in ("write", "write", "read")
    ]
    family = Family(
        role=Role.SCRATCH,
        interface=Interface.POSIX,
        direct=True,
        lifetime="reused",
        schedule=Schedule(count=3, first=0.0, every=1.0),
        contents=contents,
    )
    plan = resolve(Workload(ranks=1, families=[family]), Options(time_scale=1.0))
    record = run_plan(plan, RunOptions(data=folder / "data", out=folder, keep=True, quiet=True))
    _, write, read = record.dumps
    assert write.direct and read.direct
    return {"write": write.bytes_written / write.transfer_s, "read": read.bytes_read / read.transfer_s}


def fio_bandwidths(file: Path, size: int) -> Bandwidths:
    """The same on the engine's file, as fio measures it: its run time, without open and close."""
    found = {}
    for direction in ("write", "read"):
        command = [
            "fio", "--name=w", f"--filename={file}", f"--rw={direction}", "--ioengine=psync", "--direct=1",
            f"--bs={size}", f"--size={TOTAL}", "--scramble_buffers=0", "--fsync=0", "--end_fsync=0",
            "--fallocate=none", "--output-format=json", "--thread",
        ]  # fmt: skip
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        job = json.loads(out)["jobs"][0][direction]
        found[direction] = job["io_bytes"] / (job["runtime"] / 1000)
    return found


def pair(parent: Path, size: int) -> tuple[Bandwidths, Bandwidths]:
    """Both on one file: where a file lies on the disk decides more than who reads it."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        ours = engine_bandwidths(Path(folder), size)
        (file,) = Path(folder, "data").glob("*.dat")
        return ours, fio_bandwidths(file, size)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--dir", type=Path, default=Path.home())
    given = parser.parse_args()
    if shutil.which("fio") is None:
        print("needs the Debian package fio", file=sys.stderr)
        return 2
    missed = 0
    results = Results()
    for size in SIZES:
        os.sync()
        pairs = [pair(given.dir, size) for _ in range(given.pairs + 1)][1:]  # the first one warms up
        for direction in ("write", "read"):
            ratios = [ours[direction] / theirs[direction] for ours, theirs in pairs]
            median = statistics.median(ratios)
            reached = LEAST <= median <= MOST
            missed += not reached
            results.add(
                f"direct family ÷ `fio --direct=1`, {direction}s of {size // 1024} KiB, one process, 256 MiB on a disk, "
                f"median of {given.pairs} pairs",
                f"{median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                target=f"{LEAST} to {MOST}",
                reached=reached,
                ratio=median,
            )
            ours, theirs = (
                statistics.median(side[direction] for side in sides) for sides in zip(*pairs, strict=True)
            )
            print(
                f"{direction} {size // 1024:5} KiB: engine {ours / 1e6:.0f} MB/s, fio {theirs / 1e6:.0f} MB/s, median ratio "
                f"{median:.3f} (from {min(ratios):.3f} to {max(ratios):.3f}; {'reached' if reached else 'MISSED'})"
            )
    results.write()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
