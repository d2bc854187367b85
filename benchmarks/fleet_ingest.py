"""How fast logs get into a database: real logs, copied with other job numbers and starts.

    python benchmarks/fleet_ingest.py [FOLDER] [--logs 10000] [--jobs 2]

FOLDER holds the logs that are copied (default: ../shared/logs). Beside the rate by the clock it gives the CPU time of
all workers, which another load on the machine changes less.
"""

from __future__ import annotations

import argparse
import bz2
import resource
import struct
import tempfile
import time
import zlib
from pathlib import Path

from results import Results

from workalike.darshan import layouts, open_log
from workalike.errors import WorkalikeError
from workalike.fleet.ingest import ingest
from workalike.fleet.report.paper import Thresholds, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.site import Site
from workalike.fleet.store import open_or_make

TARGET = 300
SHIFT_S = 61


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
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        size = copies(given.folder, folder / "logs", given.logs)
        store = open_or_make(folder / "db", "")
        outcome = ingest(store, [folder / "logs"], Site(), jobs=given.jobs)
        workers = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = workers.ru_utime + workers.ru_stime
        rate, of_cpu = given.logs / outcome.seconds, given.jobs * given.logs / cpu
        print(f"{given.logs} logs, {size / 2**20:.0f} MiB: {outcome.to_json()}")
        print(
            f"{rate:.0f} logs/s by the clock, {of_cpu:.0f} by CPU time; a worker held {workers.ru_maxrss / 1024:.0f} MiB"
        )
        begin = time.perf_counter()
        paper_tables(store.connect(), Period(), Thresholds())
        tables = time.perf_counter() - begin
    results = Results()
    results.add(
        f"{given.logs:,} real logs into a database, {given.jobs} workers",
        f"{rate:.0f} logs/s ({of_cpu:.0f} by CPU time), {outcome.counts['ingested']:,} ingested",
        target=f"≥ {TARGET} logs/s",
        reached=rate >= TARGET,
        logs_per_second=rate,
        logs_per_second_of_cpu=of_cpu,
        worker_mib=workers.ru_maxrss / 1024,
    )
    results.add("the paper's three tables of them", f"{tables:.2f} s", seconds=tables)
    results.write()


if __name__ == "__main__":
    main()
