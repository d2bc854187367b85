"""Does alignment pay where an unaligned write costs something? HACC-IO's kernels on an erasure-coded CephFS.

    python benchmarks/hacc_erasure.py [--blocks N]

tools/testbed starts a CephFS of four storage daemons whose data pool is coded (2 parts, 1 of parity; 128 KiB at once),
and whose client keeps no data, as where several clients write one file. A write of a part of these 128 KiB makes the
daemons read the rest. Each daemon waits 2 ms before an operation, as a disk does.

`studies/hdf5-tuning.yaml` runs there with HDF5's alignment and metadata block on and off: each kernel has the effect of
both with its interval, and HDF5 aligned stands beside MPI-IO of the same layout. Then one run with each alignment says
how often the daemons read their store. It needs root, Ceph, and network namespaces.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import yaml
from behaviour_programs import workalike
from catalogue import ROOT
from cephfs_kernels import CephBed, Row, ratio_of, run_study
from results import Results

OPTIONS = ("--erasure", "2+1", "--no-cache")
DELAY_S = 0.002
"""Before each operation of a daemon, as a disk has it: the stores of the testbed's daemons are in the machine's memory."""
QUESTIONS = {
    "alignment": ("alignment of 1 MiB ÷ none", "1MiB"),
    "metadata_block": ("metadata block of 1 MiB ÷ 2 KiB", "1 MiB"),
}
KERNELS = ("hdf5-individual", "hdf5-compound")
LEAST = 1.3
"""Target: aligned ÷ not, of HDF5 Individual's independent writes."""
SCALE = "1/16"
"""1 MiB for each rank and variable."""


def change(blocks: int) -> object:
    def changed(document: Row) -> None:
        del document["factors"]["stripes"]
        document["factors"]["bytes_scale"] = [SCALE]
        document["fixed"]["dumps"] = 1
        document["blocks"] = blocks

    return changed


def bandwidths(rows: list[Row], kernel: str, **settings: str) -> list[float]:
    return [
        row["bandwidth"]
        for row in rows
        if row["workload"] == kernel and all(str(row[name]) == level for name, level in settings.items())
    ]


def stored_reads(bed: CephBed) -> int:
    return sum(values["stored_reads"] for values in bed("counters").values())


def reads_of_a_run(bed: CephBed, alignment: str | None, folder: Path) -> int:
    """How often the daemons read their store while HDF5 Individual runs once."""
    document = yaml.safe_load((ROOT / "workloads/hacc/hdf5-individual.yaml").read_text(encoding="utf-8"))
    for family in document["families"]:
        if alignment is not None:
            family.setdefault("tunable", {})["alignment"] = alignment
    file = folder / f"individual-{alignment or 'none'}.yaml".replace(" ", "")
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    before = stored_reads(bed)
    words = (
        file,
        "--dir",
        bed.mount / file.stem,
        "--bytes-scale",
        SCALE,
        "--scale-by",
        "size",
        "--time-scale",
        0,
        "--quiet",
    )
    done = workalike("run", *map(str, words), "-o", str(folder / file.stem), cwd=folder, seconds=600)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return stored_reads(bed) - before


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--blocks", type=int, default=4)
    blocks = options.parse_args().blocks
    results = Results()
    with tempfile.TemporaryDirectory() as scratch, CephBed(*OPTIONS) as bed:
        folder = Path(scratch)
        bed("delay", "all", DELAY_S)
        rows = run_study(bed, "hdf5-tuning", folder / "study", change(blocks))
        for row in rows:
            row["calls"] = row["mpi_calls"] or row["hdf5_calls"]
        for factor, (question, level) in QUESTIONS.items():
            texts, first = [], None
            for kernel in KERNELS:
                for calls in ("independent", "collective"):
                    of_kernel = [r for r in rows if r["workload"] == kernel and r["calls"] == calls]
                    found = ratio_of(of_kernel, factor, level)
                    if found is not None:
                        first = first or found
                        texts.append(f"{kernel}, {calls} {found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f})")
            text = "; ".join(texts)
            print(f"{question}: {text}", flush=True)
            aligned = factor == "alignment"
            results.add(
                f"HACC-IO's kernels on an erasure-coded CephFS, {blocks} blocks: bandwidth with {question}",
                text,
                target=f"≥ {LEAST}" if aligned else "–",
                reached=first is not None and first[0] >= LEAST if aligned else None,
                ratio=first[0] if first is not None else 0.0,
            )
        for kernel, peer in (("hdf5-individual", "mpi-contiguous"),):
            base = statistics.median(bandwidths(rows, peer, calls="independent"))
            parts = {
                word: statistics.median(bandwidths(rows, kernel, calls="independent", alignment=level)) / base
                for word, level in (("not aligned", "none"), ("aligned", "1MiB"))
            }
            text = ", ".join(f"{word} {value:.2f}" for word, value in parts.items())
            print(f"{kernel} ÷ {peer}: {text}", flush=True)
            results.add(
                f"… {kernel} ÷ {peer}, independent, medians of bandwidth",
                text,
                **{word.replace(" ", "_"): value for word, value in parts.items()},
            )
        reads = {
            word: reads_of_a_run(bed, level, folder) for word, level in (("none", None), ("1 MiB", "1 MiB"))
        }
        text = ", ".join(f"{count:,} with alignment {word}" for word, count in reads.items())
        print(f"reads of the daemons' stores: {text}")
        results.add(
            "… reads of the daemons' own stores in a run of HDF5 Individual",
            text,
            none=reads["none"],
            aligned=reads["1 MiB"],
        )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
