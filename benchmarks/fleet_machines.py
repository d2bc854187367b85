"""Ingestion beyond one process: two Dask workers and a Slurm array of two tasks, against two local workers.

    python benchmarks/fleet_machines.py [--logs 10000] [--rounds 3]

All three read the same logs in turn, into new databases, which must have the same rows. All run on this machine, so
what is compared is the cost of the ways, not the speed of more machines. Slurm runs in the testbed (as root), with the
logs and the database on the local disk; the wait for the batch system is a part of its time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fleet_ingest import copies
from results import Results

from workalike.fleet.schema import OF_LOGS
from workalike.fleet.store import open_store

ROOT = Path(__file__).parents[1]
TESTBED = [sys.executable, str(ROOT / "tools" / "testbed")]
INGEST = [sys.executable, "-m", "workalike", "fleet", "ingest"]
TARGET = 0.9
WORKERS = 2

Run = Callable[[Path, Path], list[str]]
"""(logs, database) -> the command."""


def local(logs: Path, db: Path) -> list[str]:
    return [*INGEST, str(logs), "--db", str(db), "-q", "-j", str(WORKERS)]


@contextlib.contextmanager
def dask_cluster() -> Iterator[Run]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--nthreads",
        "1",
        "--no-dashboard",
    ]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in (scheduler, *[worker] * WORKERS)
    ]
    try:
        import distributed

        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=60)
        yield lambda logs, db: [*INGEST, str(logs), "--db", str(db), "-q", "--scheduler", address]
    finally:
        for process in processes:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def slurm() -> Iterator[Run]:
    def testbed(*arguments: str) -> str:
        return subprocess.run(
            [*TESTBED, *arguments], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
        ).stdout

    name = str(json.loads(testbed("start", "--pin"))["name"])
    try:
        testbed("slurm", "--name", name, "start")
        inside = [*TESTBED, "run", "--name", name, "--", *INGEST]
        yield lambda logs, db: [*inside, str(logs), "--db", str(db), "-q", "--array", str(WORKERS)]
    finally:
        testbed("stop", "--name", name)


def rows_of(db: Path) -> list[tuple[object, ...]]:
    """Number and hash of the rows of each table, but for the part that a log is in."""
    connection = open_store(db).connect()
    return [
        connection.execute(
            f"SELECT count(*), sum(hash(t::VARCHAR)::HUGEINT) FROM (SELECT {'* EXCLUDE (part)' if name == 'log' else '*'} "
            f"FROM {name}) t"
        ).fetchone()
        for name in OF_LOGS
    ]


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"the ingestion ended with {done.returncode}: {' '.join(command)}")
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as started:
        folder = Path(scratch)
        copies(ROOT.parent / "shared" / "logs", folder / "logs", given.logs)
        ways: dict[str, Run] = {
            "two local workers": local,
            "two Dask workers": started.enter_context(dask_cluster()),
            "a Slurm array of two": started.enter_context(slurm()),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        same: dict[str, bool] = dict.fromkeys(ways, True)
        expected = None
        for _ in range(given.rounds):
            for name, command in ways.items():
                db = folder / "db"
                times[name].append(seconds(command(folder / "logs", db)))
                found = rows_of(db)
                expected = expected or found
                same[name] &= found == expected
                shutil.rmtree(db)
                print(
                    f"{name:22} {times[name][-1]:6.1f} s, {'same' if same[name] else 'OTHER'} rows",
                    flush=True,
                )
    base = times.pop("two local workers")
    for name, taken in times.items():
        ratios = [own / other for own, other in zip(base, taken, strict=True)]
        ratio = statistics.median(ratios)
        rates = f"{given.logs / statistics.median(taken):.0f} against {given.logs / statistics.median(base):.0f} logs/s"
        results.add(
            f"rate of {name} against two local workers, {given.logs:,} logs",
            f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f}; {rates}); "
            f"{'the same rows' if same[name] else 'other rows'}",
            target=f"≥ {TARGET}; the same database",
            reached=ratio >= TARGET and same[name],
            ratio=ratio,
        )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
