"""MINIO's run under weak scaling, counted at up to 10,000 ranks: the calls that the poster's machine performed.

    python benchmarks/minio_counts.py

Counts are those of the plan: what an application asks of TyphonIO or HDF5. What these libraries add below is measured by
`minio_study.py` at 1 to 64 ranks: TyphonIO 84 independent writes per step, HDF5 21, at any number of ranks.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from behaviour_programs import workalike
from catalogue import ROOT
from results import Results

LIBRARIES = {"TyphonIO": "unstructured-typhonio", "HDF5": "unstructured-hdf5"}
RANKS = (100, 1000, 2000, 7000, 10_000)
MOST_S = 5.0


def counted(name: str, ranks: int, folder: Path) -> tuple[int, int, float]:
    """Writes and bytes of one step, and the seconds of the command."""
    out = folder / f"{name}-{ranks}"
    began = time.monotonic()
    workload = ROOT / "workloads" / "minio" / f"{name}.yaml"
    options = (
        "--ranks",
        ranks,
        "--scaling",
        "weak",
        "--backend",
        "null",
        "--dir",
        folder,
        "-o",
        out,
        "--quiet",
    )
    done = workalike("run", str(workload), *map(str, options), seconds=60)
    took = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    step = json.loads((out / "run.json").read_text(encoding="utf-8"))["dumps"][0]
    return step["counters"]["WRITES"], step["bytes_written"], took


def main() -> int:
    results = Results()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for library, name in LIBRARIES.items():
            found = {ranks: counted(name, ranks, Path(folder)) for ranks in RANKS}
            slowest = max(slowest, *(took for _, _, took in found.values()))
            figure = "; ".join(
                f"{ranks:,}: {writes:,}, mean {moved / writes:,.0f} B"
                for ranks, (writes, moved, _) in found.items()
            )
            print(f"{library}: {figure}")
            results.add(
                f"MINIO with {library}, weak scaling, counted: writes of data per step and their mean size, by ranks",
                figure,
                writes_at_10000=found[10_000][0],
            )
    results.add(
        "… time of the slowest of these counts",
        f"{slowest:.2f} s",
        target=f"≤ {MOST_S:.0f} s",
        reached=slowest <= MOST_S,
        seconds=slowest,
    )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
