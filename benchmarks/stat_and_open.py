"""Two costs that the library must not cause or can lower: stat at every open, and an unhinted open of the log.

As in Figs. 2 and 3 of the paper on the Cray XE6: all ranks stat a file of 1 GiB concurrently. All ranks open a file
and write 700 bytes each collectively, with and without its hints (romio_no_indep_rw, cb_nodes 4), which only ROMIO
uses. An open with and without capture is measured beside the stat: capture adds no stat. Times are medians of the
slowest rank's. Here the file is on one local disk, so the cost of striping over servers does not show.

    python benchmarks/stat_and_open.py [--ranks 2,4,8,16] [--repeat 20] [--runs 3] [--dir DIR]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from results import Results

from workalike.capture.library import find_library
from workalike.launch.launchers import Mpiexec

SOURCE = Path(__file__).with_suffix(".c")
FILE_BYTES, WRITE_BYTES = 2**30, 700
MPI_IO = ("ompio", "romio321")


def environment(folder: Path, mpi_io: str, captured: bool) -> dict[str, str]:
    base = {**os.environ, **Mpiexec().environment(), "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
    base |= {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_io": mpi_io}
    if captured:
        base |= {
            "LD_PRELOAD": str(find_library()),
            "WORKALIKE_CAPTURE_DIR": str(folder),
            "WORKALIKE_CAPTURE_MAPS": "/dev/shm",
            "WORKALIKE_CAPTURE_INCLUDE": f"^{folder}/",
        }
    return base


def run(folder: Path, ranks: int, repeat: int, mpi_io: str, hints: bool, captured: bool) -> dict[str, float]:
    """Median milliseconds of each kind of call; the first of a run, which warms up, is left out."""
    command = ["mpiexec", "-n", str(ranks), "./program", str(folder / "large"), str(repeat + 1)]
    done = subprocess.run(
        [*command, str(WRITE_BYTES), str(int(hints))],
        cwd=folder,
        env=environment(folder, mpi_io, captured),
        capture_output=True,
        text=True,
        check=True,
    )
    for path in [*folder.glob("*.darshan"), *folder.glob("*.small*")]:
        path.unlink()
    times: dict[str, list[float]] = defaultdict(list)
    for words in map(str.split, done.stderr.splitlines()):
        if len(words) == 2 and words[0] in ("stat", "open", "write"):
            times[words[0]].append(float(words[1]))
    return {kind: statistics.median(seconds[1:]) for kind, seconds in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3, help="alternating runs of each kind")
    parser.add_argument("--dir", type=Path, default=None, help="file system under test [a temporary folder]")
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="workalike-bench-", dir=options.dir) as name:
        folder = Path(name)
        subprocess.run(["mpicc", "-O2", str(SOURCE), "-o", str(folder / "program")], check=True)
        with (folder / "large").open("wb") as file:
            file.truncate(FILE_BYTES)
        print("all times in ms, slowest rank, median")
        print("ranks   stat   open  open captured")
        for ranks in map(int, options.ranks.split(",")):
            both = {
                captured: [
                    run(folder, ranks, options.repeat, "ompio", False, captured) for _ in range(options.runs)
                ]
                for captured in (False, True)
            }
            plain, seen = (
                {kind: statistics.median(trial[kind] for trial in runs) for kind in ("stat", "open")}
                for runs in both.values()
            )
            results.add(
                f"concurrent stat of a 1 GiB file, slowest of {ranks} ranks; an open; a captured open",
                f"{plain['stat']:.3f} ms; {plain['open']:.3f} ms; {seen['open']:.3f} ms",
                stat_ms=plain["stat"],
                open_ms=plain["open"],
                captured_ms=seen["open"],
            )
            print(f"{ranks:5} {plain['stat']:6.3f} {plain['open']:6.3f} {seen['open']:10.3f}")
        print("ranks  MPI-IO    open and write 700 B   with hints   ratio")
        for ranks in map(int, options.ranks.split(",")):
            for mpi_io in MPI_IO:
                pairs = [
                    [
                        run(folder, ranks, options.repeat, mpi_io, hints, False)["write"]
                        for hints in (False, True)
                    ]
                    for _ in range(options.runs)
                ]
                without, hinted = (statistics.median(column) for column in zip(*pairs, strict=True))
                results.add(
                    f"open and collective write of 700 bytes per rank, {ranks} ranks, {mpi_io}: with the paper's hints ÷ without",
                    f"{hinted / without:.2f}",
                    ratio=hinted / without,
                )
                print(
                    f"{ranks:5}  {mpi_io:9} {without:14.3f} {hinted:17.3f} {hinted / without:9.2f}",
                    flush=True,
                )
    results.write()


if __name__ == "__main__":
    main()
