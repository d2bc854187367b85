"""The memory that capture adds to a process: its mapping of counters, its tables, its code.

A program writes to files and prints its own resident set (Rss: everything, also pages of the library that other
processes share) and proportional set (Pss: shared pages divided by the number of sharers), with and without capture,
alternating.

    python benchmarks/capture_memory.py [--files 10,1000] [--repeat 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from results import Results

from workalike.capture.library import find_library
from workalike.launch.launchers import Mpiexec

SOURCE = Path(__file__).with_suffix(".c")
TARGET_MIB, TARGET_FILES = 2.0, 10
KINDS = {"serial": [], "2 MPI ranks": ["mpiexec", "-n", "2"]}


def memory(folder: Path, kind: str, files: int, captured: bool) -> dict[str, int]:
    """Kilobytes by name, of rank 0."""
    data, logs = folder / "data", folder / "logs"
    environment = {**os.environ, **Mpiexec().environment()}
    if captured:
        environment |= {
            "LD_PRELOAD": str(find_library()),
            "WORKALIKE_CAPTURE_DIR": str(logs),
            "WORKALIKE_CAPTURE_MAPS": "/dev/shm",
        }
    program = folder / kind.replace(" ", "-")
    done = subprocess.run(
        [*KINDS[kind], str(program), str(data), str(files)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for path in [*data.iterdir(), *logs.iterdir()]:
        path.unlink()
    lines = (line.split() for line in done.stderr.splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in lines if words[-1] == "kB"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", default="10,1000")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="workalike-bench-") as name:
        folder = Path(name)
        for made in ("data", "logs"):
            (folder / made).mkdir()
        for kind, launcher in KINDS.items():
            compiler = ["mpicc", "-DWITH_MPI"] if launcher else ["cc"]
            target = folder / kind.replace(" ", "-")
            subprocess.run([*compiler, "-O2", str(SOURCE), "-o", str(target)], check=True)
        print("program      files   added Rss MiB   added Pss MiB   (median)")
        for kind in KINDS:
            for files in map(int, options.files.split(",")):
                pairs = [
                    [memory(folder, kind, files, c) for c in (False, True)] for _ in range(options.repeat)
                ]
                rss, pss = (
                    statistics.median(seen[which] - plain[which] for plain, seen in pairs) / 1024
                    for which in ("Rss", "Pss")
                )
                results.add(
                    f"memory added to a process, {kind}, {files} files (resident)",
                    f"{rss:.2f} MiB",
                    target=f"≤ {TARGET_MIB:g} MiB" if files == TARGET_FILES else "–",
                    reached=rss <= TARGET_MIB if files == TARGET_FILES else None,
                    rss_mib=rss,
                    pss_mib=pss,
                )
                verdict = ("reached" if rss <= TARGET_MIB else "MISSED") if files == TARGET_FILES else ""
                print(f"{kind:12} {files:5} {rss:15.2f} {pss:15.2f}   {verdict}", flush=True)
    results.write()


if __name__ == "__main__":
    main()
