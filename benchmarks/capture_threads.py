"""Threads that use one file: calls a second with capture, without, and with one pthread mutex around the counters.

All threads call on one descriptor (`pread`, `pwrite` of 4 KiB), or each opens and closes a file of its own. The ways take turns,
in an order that changes from round to round; the figures are ratios of medians of one run.

    python benchmarks/capture_threads.py [--threads 2,4,16,64] [--rounds 9] [--seconds 0.4] [--dir /dev/shm]
    python benchmarks/capture_threads.py --library new=NEW.so --library old=OLD.so     # two versions, beside each other
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("pread", "pwrite", "open")
OF_BARE, OF_MUTEX = {2: 0.75}, {2: 1.0, 4: 1.0, 16: 1.3, 64: 1.3}
"""Least ratios by number of threads."""


def compile_program(folder: Path) -> Path:
    target = folder / "capture_threads"
    source = Path(__file__).with_name("capture_threads.c")
    flags = ["-O2", "-D_GNU_SOURCE", "-pthread", "-I", str(ROOT)]
    subprocess.run(["cc", *flags, str(source), "-o", str(target)], check=True)
    return target


def rate(
    program: Path, kind: str, how: str, threads: int, seconds: float, folder: Path, library: str
) -> float:
    """Calls a second. `how` is bare, mutex or captured; then `library` is preloaded."""
    environment = dict(os.environ)
    if how == "captured":
        environment |= {
            "LD_PRELOAD": library, "WORKALIKE_CAPTURE_DIR": str(folder / "logs"),
            "WORKALIKE_CAPTURE_MAPS": str(folder / "maps"), "WORKALIKE_CAPTURE_INCLUDE": f"^{folder}/",
        }  # fmt: skip
        how = "bare"
    command = [str(program), kind, how, str(threads), str(seconds), str(folder / "data")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for log in (folder / "logs").rglob("*.darshan"):
        log.unlink()
    return float(done.stdout)


def measure(
    program: Path,
    folder: Path,
    kind: str,
    threads: int,
    rounds: int,
    seconds: float,
    libraries: Mapping[str, str],
) -> dict[str, float]:
    """Median calls a second of each way."""
    ways = [("bare", ""), ("mutex", ""), *(("captured", path) for path in libraries.values())]
    names = ["bare", "mutex", *libraries]
    rates: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        turn = [(number + i) % len(ways) for i in range(len(ways))]
        for at in turn if number % 2 else reversed(turn):
            how, path = ways[at]
            rates[names[at]].append(rate(program, kind, how, threads, seconds, folder, path))
    return {name: statistics.median(values) for name, values in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="2,4,16,64")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--library", action="append", default=[], metavar="NAME=PATH")
    given = parser.parse_args()
    libraries = dict(word.split("=", 1) for word in given.library)
    if not libraries:
        from workalike.capture.library import find_library

        libraries = {"capture": str(find_library())}
    found: dict[tuple[str, int], dict[str, float]] = {}
    with tempfile.TemporaryDirectory(dir=given.dir) as name:
        folder = Path(name)
        for part in ("logs", "maps", "data"):
            (folder / part).mkdir()
        program = compile_program(folder)
        for kind in KINDS:
            for threads in map(int, given.threads.split(",")):
                rates = measure(program, folder, kind, threads, given.rounds, given.seconds, libraries)
                found[kind, threads] = rates
                print(f"{kind:7} {threads:3} threads: {line_of(rates)}", flush=True)
    if not given.library:
        add_rows(found, given.rounds)


def line_of(rates: Mapping[str, float]) -> str:
    bare, mutex = rates["bare"], rates["mutex"]
    words = [f"bare {bare:,.0f} calls/s, mutex {mutex:,.0f}"]
    words += [
        f"{name} {value:,.0f} = {value / bare:.2f} x bare, {value / mutex:.2f} x mutex"
        for name, value in rates.items()
        if name not in ("bare", "mutex")
    ]
    return "; ".join(words)


def add_rows(found: Mapping[tuple[str, int], Mapping[str, float]], rounds: int) -> None:
    from results import Results

    results = Results()
    for threads in sorted({threads for _, threads in found}):
        for base, least in (("bare", OF_BARE), ("mutex", OF_MUTEX)):
            ratios = {kind: found[kind, threads]["capture"] / found[kind, threads][base] for kind in KINDS}
            words = ", ".join(f"{kind} {value:.2f}" for kind, value in ratios.items())
            wanted = least.get(threads)
            against = "without capture" if base == "bare" else "one pthread mutex around the same counters"
            results.add(
                f"{threads} threads, calls a second with capture ÷ {against}, medians of {rounds} rounds",
                words,
                target=f"≥ {wanted:g}" if wanted else "",
                reached=None if wanted is None else min(ratios.values()) >= wanted,
                **ratios,
            )
    results.write()


if __name__ == "__main__":
    main()
