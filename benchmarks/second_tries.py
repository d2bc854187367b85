"""Claims of the papers that were not reproduced, tried again in another way (docs/claims.md).

    python benchmarks/second_tries.py [NAME ...] [--repeats N]

The first tries had one client. Here two clients of one CephFS write one file, a file is examined while another client
writes it, and MPI-IO's hints are compared on a parallel file system. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from catalogue import ROOT
from claim_place import MIB, Found, Place, ratio_text, spread
from full_scale import known_logs
from results import Results
from stat_and_open import SOURCE as STAT_AND_OPEN
from stat_and_open import run as run_opens

sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "tests" / "support"))
from applications import ENVIRONMENT

from system.testbed import CephBed
from workalike.darshan import open_log
from workalike.diagnose.costs import META, READ, WRITE, seconds
from workalike.diagnose.job import read_job
from workalike.errors import WorkalikeError

MODES = {"N-1": "one", "N-N": "own", "N-M": "some", "root": "root"}
PIECES, PIECE = 8, 64 * 1024
LEAST_S = 1.0


def two_clients(place: Place) -> list[Found]:
    """File modes where two clients write one file: each loses its cache, and waits for the daemons."""
    found: dict[str, list[float]] = {mode: [] for mode in MODES}
    with tempfile.TemporaryDirectory() as other, tempfile.TemporaryDirectory() as built_in:
        program = Path(built_in) / "program"
        subprocess.run(
            ["mpicc", "-O2", str(Path(__file__).with_name("two_clients.c")), "-o", str(program)], check=True
        )
        place.bed("client", other)
        for _ in range(place.repeats):
            for mode in random.sample(list(MODES), len(MODES)):
                words = [program, place.bed.mount, other, MODES[mode], PIECES, PIECE, 3]
                done = subprocess.run(
                    ["mpiexec", "-n", "16", *map(str, words)],
                    env={**os.environ, **ENVIRONMENT},
                    capture_output=True,
                    text=True,
                    check=True,
                    timeout=300,
                )
                found[mode] += [float(line) for line in done.stdout.split()]
        place.bed("client", "--remove", other)
    times = "; ".join(f"{mode} {statistics.median(values):.0f} ms" for mode, values in found.items())
    ratios = "; ".join(
        f"{mode} ÷ N-1 {ratio_text(found[mode], found['N-1'], statistics.median)}" for mode in list(MODES)[1:]
    )
    what = f"16 ranks on two clients, {PIECES} pieces of 64 KiB each, synced, {3 * place.repeats} runs"
    return [
        Found("W20, W23, M13, D41", f"time of {what}", f"{times}; {ratios}"),
        Found(
            "D42",
            f"coefficient of variation, N-N ÷ N-1, {what}",
            ratio_text(found["N-N"], found["N-1"], spread),
        ),
    ]


def stats_while_written(place: Place) -> list[Found]:
    """A stat of a file that another client is writing: who is asked, and what it takes."""
    file, texts = place.bed.mount / "growing", []
    with tempfile.TemporaryDirectory() as other:
        place.bed("client", other)
        file.write_bytes(bytes(16 * MIB))
        for written in (False, True):
            ended = threading.Event()
            writer = threading.Thread(target=_write_until, args=(Path(other) / "growing", ended))
            if written:
                writer.start()
                time.sleep(1)
            reads, took = _reads(place), []
            for _ in range(50):
                began = time.monotonic()
                file.stat()
                took.append(1e3 * (time.monotonic() - began))
                time.sleep(0.01)
            reads = _reads(place) - reads
            ended.set()
            if written:
                writer.join()
            texts.append(
                f"{statistics.median(took):.2f} ms (at most {max(took):.1f}), {reads} reads of daemons"
            )
        place.bed("client", "--remove", other)
    return [
        Found(
            "D13, D15",
            "a stat of a file of 4 objects, of 50: at rest; while another client writes it",
            "; ".join(texts),
        )
    ]


def _write_until(file: Path, ended: threading.Event) -> None:
    with file.open("r+b", buffering=0) as opened:
        while not ended.is_set():
            opened.seek(0)
            for _ in range(16):
                opened.write(bytes(MIB))


def _reads(place: Place) -> int:
    return sum(each["reads"] for each in place.bed("counters").values())


def hints_on_cephfs(place: Place) -> list[Found]:
    """Open and collective write of 700 bytes a rank through ROMIO, with and without the paper's hints."""
    folder = place.bed.mount / "hints"
    folder.mkdir()
    subprocess.run(["mpicc", "-O2", str(STAT_AND_OPEN), "-o", str(folder / "program")], check=True)
    (folder / "large").write_bytes(bytes(MIB))
    texts = []
    for ranks in (4, 16, 32):
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(place.repeats):
            for hints in random.sample([True, False], 2):
                found = run_opens(folder, ranks, 5, "romio321", hints=hints, captured=False)
                times[hints].append(found["write"])
        texts.append(f"{ranks} ranks {ratio_text(times[True], times[False], statistics.median)}")
    return [
        Found(
            "D27", "open and collective write of 700 B a rank, ROMIO, with ÷ without hints", "; ".join(texts)
        )
    ]


def metadata_of_long_jobs(_place: Place) -> list[Found]:
    """The share of metadata time and the rate of jobs whose I/O takes at least a second."""
    pairs = []
    for path in known_logs():
        try:
            job = read_job([open_log(path)])
        except WorkalikeError:
            continue
        total = float(seconds(job, READ, WRITE, META)[job.own].sum())
        moved = float(job.total("POSIX", "BYTES_READ", "BYTES_WRITTEN")[job.own].sum())
        if total >= LEAST_S and moved > 0:
            pairs.append((float(seconds(job, META)[job.own].sum()) / total, moved / total))
    ranks = np.argsort(np.argsort(np.array(pairs), axis=0), axis=0)
    return [
        Found(
            "D74",
            f"rank correlation as before, of known logs with at least {LEAST_S:g} s of I/O time",
            f"{float(np.corrcoef(ranks.T)[0, 1]):.2f} over {len(pairs)} logs",
        )
    ]


EXPERIMENTS: tuple[Callable[[Place], list[Found]], ...] = (
    metadata_of_long_jobs,
    two_clients,
    stats_while_written,
    hints_on_cephfs,
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(e.__name__ for e in EXPERIMENTS))
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    results = Results()
    with CephBed("--daemons", "4") as bed:
        place = Place(bed, given.repeats)
        for experiment in EXPERIMENTS:
            if given.names and experiment.__name__ not in given.names:
                continue
            for found in experiment(place):
                print(f"{found.claims}: {found.measure}: {found.figure}", flush=True)
                results.add(f"{found.claims}: {found.measure}", found.figure)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
