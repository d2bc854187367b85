"""Experiments of `paper_claims.py` on what storage daemons and MPI-IO do: stats, hints, stripes, a faster tier."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from beds import in_memory
from claim_place import MIB, Found, Place, ratio_text, workload
from stat_and_open import FILE_BYTES, SOURCE, environment
from stat_and_open import run as run_program

from workalike.darshan import open_log

RANKS = (2, 8, 16, 32)
ROMIO = "OMPI_MCA_io"


def stats_of_ranks(place: Place) -> list[Found]:
    """A stat and an open by all ranks at once, of a file of 1 GiB over all daemons."""
    folder = place.bed.mount / "stats"
    folder.mkdir()
    subprocess.run(["mpicc", "-O2", str(SOURCE), "-o", str(folder / "program")], check=True)
    with (folder / "large").open("wb") as file:
        file.truncate(FILE_BYTES)
    found = {ranks: run_program(folder, ranks, 10, "ompio", hints=False, captured=False) for ranks in RANKS}
    return [
        Found(
            "D12, D17",
            "time of a stat, and of an open, by all ranks at once, slowest rank, by ranks",
            "; ".join(
                f"{ranks}: {times['stat']:.2f} ms and {times['open']:.2f} ms"
                for ranks, times in found.items()
            ),
        )
    ]


def hinted_opens(place: Place) -> list[Found]:
    """How many ranks open the file, and write it, below one collective open and write through ROMIO."""
    shown = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = workload(
            16, "{direction: write, sizes: [1/rank x 700 B], pattern: interleaved, collective: true}"
        )
        for words, nodes in (
            ("collective buffering", "  tunable: {collective_buffering: true}\n"),
            ("and cb_nodes 4", "  tunable: {collective_buffering: true, cb_nodes: 4}\n"),
        ):
            os.environ[ROMIO] = "romio321"
            try:
                job = place.run(text.replace("  schedule", f"{nodes}  schedule", 1), capture=True).job
            finally:
                del os.environ[ROMIO]
            assert job is not None
            opens, writes = (
                int(job.total("POSIX", counter)[job.own].sum()) for counter in ("OPENS", "WRITES")
            )
            shown.append(f"{words}: {opens} opens, {writes} writes")
        subprocess.run(["mpicc", "-O2", str(SOURCE), "-o", str(folder / "program")], check=True)
        (folder / "large").write_bytes(bytes(MIB))
        opened = [_opens(folder, hints) for hints in (False, True)]
    return [
        Found("D25", "700 B of each of 16 ranks, one collective write through ROMIO", "; ".join(shown)),
        Found(
            "D24",
            "opens at POSIX for 10 opens of a file by 8 ranks through ROMIO: without the paper's hints; with romio_no_indep_rw "
            "and cb_nodes 4",
            f"{opened[0]}; {opened[1]}",
        ),
    ]


def _opens(folder: Path, hints: bool) -> int:
    """Opens of the file that all ranks open together, by the log."""
    log = folder / "opens.darshan"
    words = ["mpiexec", "-n", "8", "./program", str(folder / "large"), "10", "700", str(int(hints))]
    command = ["workalike", "profile", "-o", str(log), "--", *words]
    log.unlink(missing_ok=True)
    subprocess.run(
        command,
        cwd=folder,
        env=environment(folder, "romio321", captured=False),
        capture_output=True,
        check=True,
    )
    read = open_log(log)
    table = read.records("POSIX")
    return sum(
        int(table["OPENS"][row])
        for row, number in enumerate(table.ids.tolist())
        if ".small" in read.names.get(number, "")
    )


def stripes_and_daemons(place: Place) -> list[Found]:
    shown = []
    for stripes in (1, 4):
        folder = place.bed.mount / f"stripes-{stripes}"
        folder.mkdir()
        os.setxattr(
            folder,
            "ceph.dir.layout",
            f"stripe_unit={MIB} stripe_count={stripes} object_size={4 * MIB}".encode(),
        )
        before = place.bed("counters")
        with (folder / "file").open("wb") as file:
            for _ in range(32):
                file.write(bytes(MIB))
            file.flush()
            os.fsync(file.fileno())
        after = place.bed("counters")
        counts = [after[key]["writes"] - before[key]["writes"] for key in after]
        shown.append(f"{stripes}: {sum(counts)} ({', '.join(map(str, counts))})")
    return [Found("W104", "writes of each storage daemon for a file of 32 MiB, by stripes", "; ".join(shown))]


def burst_buffer(place: Place) -> list[Found]:
    """Dumps to a tier in memory, against the same on the file system; a drain copies them later."""
    text = workload(4, "{direction: write, sizes: [8/rank x 256 KiB]}", dumps=3, interface="posix")
    slow: list[float] = []
    fast: list[float] = []
    with in_memory() as tier:
        for _ in range(place.repeats):
            slow.append(place.run(text).io_s)
            fast.append(place.run(text, data=tier / "dumps").io_s)
    return [
        Found(
            "W17",
            "time of three dumps of 8 MiB on CephFS ÷ on a tier in memory",
            ratio_text(slow, fast, statistics.median),
        )
    ]
