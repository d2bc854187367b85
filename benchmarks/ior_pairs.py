"""Does a replica take as long inside calls as a program like IOR? Both run in turn, on tmpfs and on the local disk.

    python benchmarks/ior_pairs.py [PATTERN ...] [--pairs N] [--disk DIR]

`ior_like.c` has the patterns. The tmpfs is mounted for the run, which needs root: paths below /dev are the system's, and no
capture counts them. There are no more ranks than cores. On the disk, writers sync before they close, so that
what the kernel writes back later is not a part of the figure.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import pairs as of_pairs
from beds import in_memory
from pairs import DISTANCE, IO_ALL, Pair, pair_of
from results import Results

PAIRS = 7
RANKS = 2
MIB = 2**20
PATTERNS = {
    "block": (1, 256 * MIB, MIB),
    "segmented": (16, 16 * MIB, MIB),
    "views": (16, 16 * MIB, MIB // 4),
    "random": (1, 256 * MIB, MIB // 4),
    "sync": (1, 64 * MIB, MIB),
    "shifted": (16, 16 * MIB, MIB),
    "rewritten": (4, 64 * MIB, MIB),
}
"""Segments, block and transfer in bytes."""


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="PATTERN")
    options.add_argument("--pairs", type=int, default=PAIRS, help=f"runs of each (default {PAIRS})")
    options.add_argument("--disk", type=Path, default=None, help="a folder on a disk [a temporary one]")
    given = options.parse_args()
    results = Results()
    good = True
    with (
        tempfile.TemporaryDirectory(dir=given.disk) as disk,
        in_memory() as memory,
    ):
        program = Path(disk) / "ior_like"
        source = Path(__file__).with_name("ior_like.c")
        subprocess.run(["mpicc", "-O2", str(source), "-o", str(program)], check=True)
        for kind, place in (("tmpfs", memory), ("disk", Path(disk))):
            for pattern in given.names or PATTERNS:
                found = [measured(program, pattern, kind, place / "pair") for _ in range(given.pairs)]
                good = show(results, pattern, kind, found) and good
    results.write()
    return 0 if good else 1


def measured(program: Path, pattern: str, kind: str, work: Path) -> Pair:
    folder = work / "app"
    folder.mkdir(parents=True)
    sizes = map(str, PATTERNS[pattern])
    end = "sync" if kind == "disk" else "none"
    command = ["mpiexec", "-n", str(RANKS), str(program), "shared.dat", pattern, *sizes, end]
    try:
        return pair_of(
            pattern,
            command,
            folder,
            work,
            data=work / "data",
            same_memory=True,
        )
    finally:
        shutil.rmtree(work)


def show(results: Results, pattern: str, kind: str, found: list[Pair]) -> bool:
    inside = of_pairs.inside_calls(found)
    assert inside is not None
    apart = of_pairs.overlap(found)
    ratios = [b / a for a, b in zip(inside.originals, inside.replicas, strict=True)]
    good = IO_ALL[0] <= inside.ratio <= IO_ALL[1] and apart <= DISTANCE
    figure = f"{inside.ratio:.2f} × ({min(ratios):.2f} to {max(ratios):.2f}) of {inside.original:.3f} s; overlap {apart:.3f} apart"
    print(f"{kind:6} {pattern:10} {figure}  {'reached' if good else 'MISSED'}", flush=True)
    results.add(
        f"like IOR, {pattern}, {RANKS} ranks, {kind}, {len(found)} pairs: I/O time inside calls, replica ÷ original",
        figure,
        target=f"{IO_ALL[0]} to {IO_ALL[1]} ×; overlap ≤ {DISTANCE}",
        reached=good,
        ratio=inside.ratio,
        original_s=inside.original,
        overlap_distance=apart,
    )
    return good


if __name__ == "__main__":
    raise SystemExit(main())
