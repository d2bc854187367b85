"""The ECP study's tuning of HACC-IO's kernels, and MINIO's study of TyphonIO, on a real parallel file system.

    python benchmarks/cephfs_kernels.py [--blocks N] [--minio-blocks N] [--keep DIR]

tools/testbed starts a CephFS whose four storage daemons are limited in bandwidth. `studies/hdf5-tuning.yaml` runs there,
and each kernel has its own effect of each setting, with its interval: what the ECP study claims of stripes and of the
metadata block is reproduced where an interval leaves out 1. Then each daemon waits before each operation, and
`studies/typhonio-vs-hdf5.yaml` runs, and the study's own slopes say how many seconds a process adds. It needs root, Ceph, and network namespaces.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from behaviour_programs import workalike
from catalogue import ROOT
from results import Results

from workalike.study.journal import read_finished
from workalike.study.report.slopes import growths_of
from workalike.study.results_page import study_table
from workalike.study.statistics.effects import main_effects
from workalike.study.statistics.slopes import BlockSlopes, Slope, block_slopes, slope_ratio
from workalike.study.statistics.table import Trials

sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "tests" / "support"))
from system.testbed import CephBed

LIMIT, DELAY_MS = "400mbit", 2
LAYOUT = {"layout.stripe_size": "1 MiB", "layout.object_size": "64 MiB"}
"""With large objects, a file of one stripe is on one daemon."""
QUESTIONS = {
    "stripes": ("4 stripes ÷ 1", "4"),
    "metadata_block": ("metadata block of 1 MiB ÷ 2 KiB", "1 MiB"),
    "alignment": ("alignment of 1 MiB ÷ none", "1MiB"),
    "calls": ("collective ÷ independent", "collective"),
}
"""Factor -> what its ratio compares, and the level on top of it."""
LIBRARIES = ("typhonio", "hdf5")
SECONDS = 3000
Row = dict[str, Any]


def run_study(bed: CephBed, name: str, folder: Path, change: Callable[[Row], None]) -> list[Row]:
    """Run a ready study on the mount, changed; returns its trials, all of which must count."""
    document = yaml.safe_load((ROOT / "studies" / f"{name}.yaml").read_text(encoding="utf-8"))
    document["workloads"] = {
        key: str((ROOT / "studies" / path).resolve()) for key, path in document["workloads"].items()
    }
    change(document)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    data = bed.mount / name
    data.mkdir()
    words = (folder / "study.yaml", "-o", folder / "out", "--dir", data, "--no-ceiling", "--quiet")
    done = workalike("study", *map(str, words), cwd=folder, seconds=SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    trials = [json.loads(line)["trial"] for line in (folder / "out/trials.jsonl").read_text().splitlines()]
    if not all(trial["counted"] for trial in trials):
        raise RuntimeError("a trial does not count")
    shutil.rmtree(data)
    return [trial for trial in trials if not trial["arm"]]


def ratio_of(trials: Sequence[Row], factor: str, level: str) -> tuple[float, float, float] | None:
    """Bandwidth with a level of a factor of two ÷ that with the other, with its interval; None without that factor."""
    factors = {
        name: [str(row[name]) for row in trials]
        for name in ("stripes", "alignment", "metadata_block", "calls", "bytes_scale")
        if all(row.get(name) is not None for row in trials) and len({str(row[name]) for row in trials}) > 1
    }
    if factor not in factors:
        return None
    effects = main_effects(
        Trials(
            np.array([row["block"] for row in trials]),
            [row["setting"] for row in trials],
            np.array([row["bandwidth"] for row in trials]),
            factors,
        )
    )
    found = next(e for e in effects if e.factors == (factor,) and e.levels == (level,))
    # An effect is a level ÷ the mean of both levels, so its square is one level ÷ the other.
    return found.ratio**2, found.low**2, found.high**2


def add_kernels(bed: CephBed, folder: Path, blocks: int, results: Results) -> None:
    def change(document: Row) -> None:
        document["fixed"] |= LAYOUT
        document["blocks"] = blocks

    rows = run_study(bed, "hdf5-tuning", folder, change)
    kernels = list(dict.fromkeys(row["workload"] for row in rows))
    for row in rows:
        row["calls"] = row["mpi_calls"] or row["hdf5_calls"]
    for factor, (question, level) in QUESTIONS.items():
        texts, clear = [], 0
        for kernel in kernels:
            found = ratio_of([row for row in rows if row["workload"] == kernel], factor, level)
            if found is not None:
                ratio, low, high = found
                clear += low > 1 or high < 1
                texts.append(f"{kernel} {ratio:.2f} ({low:.2f} to {high:.2f})")
        text = f"{'; '.join(texts)}: {clear} of {len(texts)} kernels differ"
        print(f"{question}: {text}", flush=True)
        results.add(
            f"HACC-IO's kernels on CephFS, 4 daemons of {LIMIT[:-4]} Mbit/s, {blocks} blocks: bandwidth with {question}",
            text,
            kernels=float(clear),
        )


def add_minio(bed: CephBed, folder: Path, blocks: int, results: Results) -> None:
    def change(document: Row) -> None:
        document["blocks"] = blocks

    rows = run_study(bed, "typhonio-vs-hdf5", folder, change)
    table = study_table("MINIO", ["workload", "ranks"], read_finished(folder / "out"))
    for growth in growths_of(table):
        texts = [f"{library} {text_of(growth.slopes[library])}" for library in LIBRARIES]
        difference = growth.differences[LIBRARIES]
        text = f"{'; '.join(texts)}; TyphonIO adds {text_of(difference)} more"
        print(f"{growth.measure}: {text}", flush=True)
        results.add(
            f"MINIO's study on CephFS, daemons {DELAY_MS} ms late, 1 to 64 processes, {blocks} blocks: "
            f"{growth.measure} that a process adds",
            text,
            difference_s=difference.value,
        )
    what = f"MINIO's study on CephFS, daemons {DELAY_MS} ms late, {blocks} blocks"
    ratio = slope_ratio(*(slopes_of(rows, library) for library in LIBRARIES))
    text = f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
    results.add(
        f"{what}: slope of the I/O time over 1 to 64 processes, TyphonIO ÷ HDF5", text, ratio=ratio.value
    )
    results.add(f"{what}: slowest write or read, median of the blocks", slowest_calls(rows))


def slopes_of(rows: Sequence[Row], library: str) -> BlockSlopes:
    own = [row for row in rows if row["workload"] == library]
    columns = (np.array([row[name] for row in own], dtype=float) for name in ("block", "ranks", "io_time_s"))
    blocks, ranks, times = columns
    return block_slopes(blocks.astype(np.int64), ranks, times)


def slowest_calls(rows: Sequence[Row]) -> str:
    """Of each library by the number of processes: seconds, and the bytes that these calls move."""
    texts = []
    for ranks in (4, 16, 64):
        for library in LIBRARIES:
            own = [row for row in rows if (row["workload"], row["ranks"]) == (library, ranks)]
            sizes = sorted({row["slowest_call_bytes"] for row in own})
            middle = statistics.median(row["slowest_call_s"] for row in own)
            texts.append(f"{ranks} processes, {library}: {1e3 * middle:.0f} ms, of {_sizes_text(sizes)}")
    return "; ".join(texts)


def _sizes_text(sizes: Sequence[int]) -> str:
    return f"{sizes[0]:,} B" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} B"


def text_of(slope: Slope) -> str:
    return f"{1e3 * slope.value:.0f} ms ({1e3 * slope.low:.0f} to {1e3 * slope.high:.0f})"


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--blocks", type=int, default=4)
    options.add_argument("--minio-blocks", type=int, default=5)
    options.add_argument("--keep", type=Path, help="keep the studies there")
    given = options.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as scratch, CephBed() as bed:
        folder = (given.keep or Path(scratch)).resolve()
        bed.limit(LIMIT)
        add_kernels(bed, folder / "kernels", given.blocks, results)
        results.write()  # what follows takes as long again
        bed("delay", "all", DELAY_MS / 1e3)
        add_minio(bed, folder / "minio", given.minio_blocks, results)
    results.write()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
