"""Reads from tmpfs: the engine beside programs in C and Python, whose buffers lie elsewhere in their pages.

A program reads one file in calls of 12 KiB or 1 MiB; the engine performs the same calls. They take turns; the ratio is
that of the medians of the seconds inside calls. Where in a page a buffer begins matters on some processors only: the
line "pages" has the time of a call into a buffer 16 bytes after the beginning of a page ÷ one 2048 bytes after it.

    python benchmarks/read_buffers.py [--rounds 15] [--dir /dev/shm]
    python benchmarks/read_buffers.py --prepare DIR                # plans for a machine without workalike, and then
    python benchmarks/read_buffers.py --plans DIR --engine PATH    # there, with the standard library alone
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS = {12288: 6000, 1 << 20: 256}
"""Calls of each size in bytes."""
LEAST, MOST = 0.8, 1.25
WORKLOAD = """\
workalike: 2
ranks: 1
families:
- role: input
  interface: posix
  sharing: per-rank
  schedule: {{count: 1, first: 0 s, every: 1 s}}
  content:
    streams: [{{direction: read, sizes: [{calls}/rank x {size} B]}}]
"""
READER = """
import os, sys, time
name, size, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
descriptor = os.open(name, os.O_RDONLY)
inside = 0.0
for call in range(calls):
    start = time.perf_counter()
    data = os.pread(descriptor, size, call * size)
    inside += time.perf_counter() - start
    assert len(data) == size
print(inside)
"""


def prepare(folder: Path) -> None:
    """Write PLANS/SIZE.json for each size."""
    from workalike.plan.plan_file import write_plan
    from workalike.plan.resolve import Options, resolve
    from workalike.workload.workload_file import read_workload

    folder.mkdir(parents=True, exist_ok=True)
    for size, calls in CALLS.items():
        text = folder / "workload.yaml"
        text.write_text(WORKLOAD.format(calls=calls, size=size))
        write_plan(resolve(read_workload(text), Options(time_scale=0)), folder / f"{size}.json")
        text.unlink()


def seconds_of_engine(engine: Path, plan: Path, folder: Path) -> float:
    record = folder / "run.jsonl"
    record.unlink(missing_ok=True)
    subprocess.run(
        [engine, "--plan", plan, "--dir", folder / "data", "--record", record, "--quiet"],
        check=True, env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated"},
    )  # fmt: skip
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return float(sum(line["kinds"]["read"]["total_s"] for line in lines if line["type"] == "dump"))


def write_file(file: Path, size: int) -> None:
    """A new file, as the engine prepares one: the first read of a page in memory takes longer than later ones."""
    file.unlink(missing_ok=True)
    block = os.urandom(4 << 20)
    with file.open("wb", buffering=0) as out:
        for _ in range(size * CALLS[size] // len(block) + 1):
            out.write(block)


def seconds_of(command: list[str], file: Path, size: int) -> float:
    write_file(file, size)
    words = [*command, str(file), str(size), str(CALLS[size])]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def ratio_of_pages(file: Path, size: int) -> float:
    """Time of a read to a buffer that begins 16 bytes after a page ÷ one to 2048 bytes after it."""
    room = mmap.mmap(-1, size + 8192)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    pread = ctypes.CDLL(None, use_errno=True).pread
    pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    descriptor = os.open(file, os.O_RDONLY)
    best = {}
    for place in (2048, 16, 2048, 16):
        times = []
        for call in range(200):
            start = time.perf_counter()
            pread(descriptor, address + place, size, call % 8 * size)
            times.append(time.perf_counter() - start)
        best[place] = min(best.get(place, 1e9), statistics.median(times))
    os.close(descriptor)
    return best[16] / best[2048]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--prepare", type=Path, metavar="DIR")
    parser.add_argument("--plans", type=Path, metavar="DIR")
    parser.add_argument("--engine", type=Path)
    given = parser.parse_args()
    if given.prepare:
        prepare(given.prepare)
        return
    found: dict[tuple[int, str], float] = {}
    pages: dict[int, float] = {}
    with tempfile.TemporaryDirectory(dir=given.dir) as name:
        folder = Path(name)
        (folder / "data").mkdir()
        plans, engine = given.plans, given.engine
        if plans is None:
            from workalike.launch.engines import find_engine

            plans, engine = folder / "plans", find_engine()
            prepare(plans)
        program = folder / "read_buffers"
        subprocess.run(["cc", "-O2", str(Path(__file__).with_suffix(".c")), "-o", str(program)], check=True)
        commands = {"C": [str(program)], "Python": [sys.executable, "-c", READER]}
        for size in CALLS:
            file = folder / "file"
            write_file(file, size)
            pages[size] = ratio_of_pages(file, size)
            seconds: dict[str, list[float]] = {"engine": [], **{name: [] for name in commands}}
            for number in range(given.rounds):
                for who in list(seconds) if number % 2 else reversed(list(seconds)):
                    seconds[who].append(
                        seconds_of(commands[who], file, size)
                        if who in commands
                        else seconds_of_engine(engine, plans / f"{size}.json", folder)
                    )
            ours = statistics.median(seconds["engine"])
            for who in commands:
                found[size, who] = ours / statistics.median(seconds[who])
                print(
                    f"{size:8} B: engine {ours:.4f} s, {who} {statistics.median(seconds[who]):.4f} s, ratio "
                    f"{found[size, who]:.2f}; pages {pages[size]:.2f}",
                    flush=True,
                )
    if given.plans is None:
        add_rows(found, pages, given.rounds)


def add_rows(found: dict[tuple[int, str], float], pages: dict[int, float], rounds: int) -> None:
    from results import Results

    results = Results()
    for (size, who), ratio in found.items():
        results.add(
            f"reads of {size // 1024} KiB from tmpfs, replica ÷ program in {who}, medians of {rounds} rounds",
            f"{ratio:.2f} (a buffer at the beginning of a page costs {pages[size]:.2f} × here)",
            target=f"{LEAST} to {MOST}",
            reached=LEAST <= ratio <= MOST,
            ratio=ratio,
            pages=pages[size],
        )
    results.write()


if __name__ == "__main__":
    main()
