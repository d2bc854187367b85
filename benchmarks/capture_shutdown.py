"""The cost of the end of an MPI program under capture, beside the bare MPI sequence in the same run.

For numbers of ranks (oversubscribed) and kinds of files, as in Figs. 5 and 6 of the paper: one shared file, 1,024
shared files, one file per process, 1,024 files per process. The time is that of MPI_Finalize on rank 0, less the
same without capture. The bare sequence is what any log needs: a reduction of the records' size, open, write_all, close.

The parts of the end are the paper's Table 2: records of shared files are reduced, packed, and stored in one file.

    python benchmarks/capture_shutdown.py [--ranks 2,8,32,64] [--repeat 3] [--dir /dev/shm]
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

SOURCE = Path(__file__).with_name("capture_shutdown.c")
CAPTURE = "workalike-capture: "
PHASES = ("reduce", "compress", "store")
"""The parts of writing a log (the paper's Table 2), each on the rank that took longest for it."""
KINDS = {"1 shared": (1, 0), "1024 shared": (1024, 0), "1 per process": (0, 1), "1024 per process": (0, 1024)}


def run(folder: Path, ranks: int, shared: int, own: int, captured: bool) -> dict[str, float]:
    environment = {
        **os.environ,
        **Mpiexec().environment(),
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,vader",
    }
    environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
    if captured:
        environment |= {
            "LD_PRELOAD": str(find_library()),
            "WORKALIKE_CAPTURE_DIR": str(folder),
            "WORKALIKE_CAPTURE_MAPS": str(folder),
            "WORKALIKE_CAPTURE_INCLUDE": f"^{folder}/",
            "WORKALIKE_CAPTURE_TIMING": "1",
        }
    command = ["mpiexec", "-n", str(ranks), "./shutdown", str(shared), str(own)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    for path in [*folder.glob("f.*"), *folder.glob("*.darshan"), *folder.glob("bare*")]:
        path.unlink()
    lines = [line.removeprefix(CAPTURE).removesuffix(" ms") for line in done.stderr.splitlines()]
    return {words[0]: float(words[1]) for words in map(str.split, lines) if len(words) == 2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="2,8,32,64")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm"))
    options = parser.parse_args()
    results = Results()
    print("ranks  files            finalize ms   without ms   bare sequence ms   added / bare")
    with tempfile.TemporaryDirectory(prefix="workalike-bench-", dir=options.dir) as name:
        folder = Path(name)
        subprocess.run(["mpicc", "-O2", str(SOURCE), "-o", str(folder / "shutdown")], check=True)
        for ranks in map(int, options.ranks.split(",")):
            for kind, (shared, own) in KINDS.items():
                with_it = [run(folder, ranks, shared, own, True) for _ in range(options.repeat)]
                without = [run(folder, ranks, shared, own, False) for _ in range(options.repeat)]
                finalize, plain = (
                    statistics.median(trial["finalize"] for trial in runs) for runs in (with_it, without)
                )
                bare = statistics.median(trial["bare"] for trial in with_it)
                ratio = (finalize - plain) / bare
                results.add(
                    f"shutdown, {ranks} ranks, {kind}: time added to `MPI_Finalize` ÷ bare reduce, open, write_all, close",
                    f"{ratio:.1f}",
                    target="≤ 3" if kind == "1 shared" else "–",
                    reached=ratio <= 3 if kind == "1 shared" else None,
                    ratio=ratio,
                )
                parts = {name: statistics.median(trial[name] for trial in with_it) for name in PHASES}
                whole = sum(parts.values())
                results.add(
                    f"… {ranks} ranks, {kind}: reduce, compress, store; share of storing",
                    f"{', '.join(f'{parts[name]:.1f} ms' for name in PHASES)}; {100 * parts['store'] / whole:.0f} %",
                    store_share=parts["store"] / whole,
                )
                print(f"{ranks:5}  {kind:15} {finalize:11.1f} {plain:12.1f} {bare:18.1f} {ratio:14.2f}")
    results.write()


if __name__ == "__main__":
    main()
