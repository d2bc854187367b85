"""How fast logs get into a database: real logs, copied with other job numbers and starts.

    python benchmarks/fleet_ingest.py [FOLDER] [--logs 10000] [--jobs 2] [--peer-logs 400]

FOLDER holds the logs that are copied (default: ../shared/logs). Beside the rate by the clock it gives the CPU time of
all workers, which another load on the machine changes less. A quarter of the logs is ingested first, on its own: a
worker's memory must not grow with the number of logs. `python -m darshan job_stats` gets the first of the same logs,
and the generator of fleets makes logs of its own.
"""

from __future__ import annotations

import argparse
import bz2
import json
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from results import Results

from workalike.darshan import layouts, open_log
from workalike.errors import WorkalikeError
from workalike.fleet.generate.logs import write_fleet
from workalike.fleet.report.paper import Thresholds, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.store import open_or_make

TARGET = 300
SHIFT_S = 61
MEMORY_GROWTH = 1.1
"""Most memory of a worker, ÷ that of a quarter of the logs."""
GENERATED, GENERATED_TARGET = 5000, 1000
INGEST = """
import json, resource, sys
from pathlib import Path
from workalike.fleet.ingest import ingest
from workalike.fleet.site import Site
from workalike.fleet.store import open_or_make
logs, database, jobs = sys.argv[1:]
outcome = ingest(open_or_make(Path(database), ""), [Path(logs)], Site(), jobs=int(jobs))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([outcome.seconds, outcome.counts["ingested"], used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


@dataclass(frozen=True)
class Ingested:
    """Wall-clock seconds, logs in the database, CPU seconds of all workers, and the most MiB of a worker."""

    seconds: float
    logs: int
    cpu_s: float
    worker_mib: float


def ingested(logs: Path, database: Path, jobs: int) -> Ingested:
    """Ingest a folder in a process of its own, so that its memory is that of nothing else."""
    command = [sys.executable, "-c", INGEST, str(logs), str(database), str(jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Ingested(*json.loads(done.stdout.splitlines()[-1]))


def peer_rate(logs: Sequence[Path]) -> float | None:
    """Logs per second of PyDarshan's job_stats; None where it does not go through them."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as manifest:
        manifest.write("".join(f"{log}\n" for log in logs))
        manifest.flush()
        command = [sys.executable, "-m", "darshan", "job_stats", "--csv", "--log_paths_file", manifest.name]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode else len(logs) / (time.perf_counter() - begin)


def rewritten(path: Path, number: int) -> bytes:
    """The bytes of a log with another job number, begun and ended `SHIFT_S` seconds later for each number."""
    log = open_log(path)
    header = log._header
    data, layout, code = path.read_bytes(), header.layout, header.code
    job = data[header.job.offset : header.job.end]
    pack, unpack = {
        layouts.ZLIB: (zlib.compress, zlib.decompress),
        layouts.BZIP2: (bz2.compress, bz2.decompress),
    }.get(header.compression, (bytes, bytes))
    plain = bytearray(unpack(job))
    nanoseconds = layout.nanoseconds and log.job.job_id == struct.unpack_from(code + "q", plain, 48)[0]
    start, end, job_id = (8, 24, 48) if nanoseconds else (8, 16, 32)
    for place in (start, end):
        (seconds,) = struct.unpack_from(code + "q", plain, place)
        struct.pack_into(code + "q", plain, place, seconds + SHIFT_S * number)
    struct.pack_into(code + "q", plain, job_id, 10**6 + number)
    stored = pack(bytes(plain))
    moved = len(stored) - len(job)
    head = bytearray(data[: header.job.offset])
    for place in (layout.names, *(layout.maps + 16 * slot for slot in range(layout.slots))):
        (offset,) = struct.unpack_from(code + "Q", head, place)
        if offset:
            struct.pack_into(code + "Q", head, place, offset + moved)
    return bytes(head) + stored + data[header.job.end :]


def copies(source: Path, folder: Path, count: int) -> int:
    """So many logs in a folder; returns their bytes."""
    origins = []
    for path in sorted(source.rglob("*.darshan")):
        try:
            open_log(path)
            origins.append(path)
        except WorkalikeError:
            continue
    size = 0
    for number in range(count):
        data = rewritten(origins[number % len(origins)], number)
        place = folder / f"{number // 1000:04d}" / f"{number}.darshan"
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_bytes(data)
        size += len(data)
    return size


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[2] / "shared" / "logs")
    parser.add_argument("--logs", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--peer-logs", type=int, default=400)
    given = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        size = copies(given.folder, folder / "logs", given.logs)
        few = folder / "few"
        copies(given.folder, few, given.logs // 4)
        quarter = ingested(few, folder / "few.db", given.jobs)
        all_logs = ingested(folder / "logs", folder / "db", given.jobs)
        add_rates(results, given, all_logs, quarter)
        print(f"{given.logs} logs, {size / 2**20:.0f} MiB: {all_logs}")
        begin = time.perf_counter()
        paper_tables(open_or_make(folder / "db", "").connect(), Period(), Thresholds())
        tables = time.perf_counter() - begin
        results.add("the paper's three tables of them", f"{tables:.2f} s", seconds=tables)
        rate = peer_rate(sorted((folder / "logs").rglob("*.darshan"))[: given.peer_logs])
        results.add(
            f"`python -m darshan job_stats` on {given.peer_logs} of these logs, one process",
            "ends with an error" if rate is None else f"{rate:.0f} logs/s",
            **({} if rate is None else {"logs_per_second": rate}),
        )
        begin = time.perf_counter()
        write_fleet(folder / "made", GENERATED)
        made = GENERATED / (time.perf_counter() - begin)
        results.add(
            f"generator of fleets, {GENERATED:,} logs, one process",
            f"{made:,.0f} logs/s",
            target="thousands",
            reached=made >= GENERATED_TARGET,
            logs_per_second=made,
        )
    for figure in results.figures:
        print(f"{figure.measure}: {figure.figure}")
    results.write()


def add_rates(results: Results, given: argparse.Namespace, found: Ingested, quarter: Ingested) -> None:
    rate, of_cpu = given.logs / found.seconds, given.jobs * given.logs / found.cpu_s
    results.add(
        f"{given.logs:,} real logs into a database, {given.jobs} workers",
        f"{rate:.0f} logs/s ({of_cpu:.0f} by CPU time), {found.logs:,} ingested",
        target=f"≥ {TARGET} logs/s",
        reached=rate >= TARGET,
        logs_per_second=rate,
        logs_per_second_of_cpu=of_cpu,
    )
    growth = found.worker_mib / quarter.worker_mib
    results.add(
        f"most memory of a worker, {given.logs:,} logs and {given.logs // 4:,} logs",
        f"{found.worker_mib:.0f} and {quarter.worker_mib:.0f} MiB",
        target=f"flat (≤ {MEMORY_GROWTH} ×)",
        reached=growth <= MEMORY_GROWTH,
        worker_mib=found.worker_mib,
        growth=growth,
    )


if __name__ == "__main__":
    main()
