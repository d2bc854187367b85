"""The earlier runs of a program: from a folder of logs, or from a database."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workalike.darshan import Log, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.signature import FamilySignature
from workalike.fleet.families import Row
from workalike.fleet.rows import identity, log_id_of, log_rows, program_of
from workalike.fleet.site import Site
from workalike.fleet.store import ABOUT, Store, damage_named, open_store

MOST_RUNS = 1000
"""Earlier runs of the program that are looked at: the newest."""
WEIGHTY = ("HIGH", "MEDIUM")


@dataclass(frozen=True)
class Run:
    """What is compared of one run.

    `start` is seconds since 1970. `numbers` has columns of the `log` table, and `bandwidth` in bytes per second of
    the slowest rank's time in I/O. `findings` are the rules that were HIGH or MEDIUM.
    """

    log_id: int
    application: str
    nprocs: int
    start: float
    numbers: dict[str, float]
    signature: tuple[FamilySignature, ...]
    library: str
    mounts: frozenset[str]
    findings: frozenset[str]


@dataclass(frozen=True)
class Earlier:
    """The earlier runs of a program with as many ranks, newest first. Of one second, a smaller log id is earlier.

    `logs` were looked through; `damaged` of them could not be read.
    """

    runs: list[Run]
    logs: int
    damaged: int = 0


def run_of(log: Log) -> Run:
    """The run of one log."""
    rows = log_rows(log, Site()).rows
    return _run(rows["log"][0], rows["family"], rows["log_fs"], rows["finding"])


def earlier_runs(
    this: Run, source: Path, progress: Callable[[int, int], None] = lambda _, __: None
) -> Earlier:
    """The earlier runs of a run's program, in a folder of logs or in a database.

    `progress` is called with the number of logs of a folder that were looked at, and of those to look at.

    Raises:
        WorkalikeError: MISSING where there is no such folder, and as `open_store`.
    """
    if not source.is_dir():
        raise WorkalikeError(
            ErrorKind.MISSING,
            "is not a folder",
            file=source,
            hint="name a folder of logs, or a database that workalike fleet ingest made",
        )
    if (source / ABOUT).is_file():
        with damage_named(source):
            return _in_database(this, open_store(source))
    return _in_folder(this, source, progress)


def _run(log: Row, families: Sequence[Row], mounts: Sequence[Row], findings: Sequence[Row]) -> Run:
    numbers = {name: float(value) for name, value in log.items() if isinstance(value, int | float)}
    moved = numbers["bytes_read"] + numbers["bytes_written"]
    if moved > 0 and numbers["io_s"] > 0:
        numbers["bandwidth"] = moved / numbers["io_s"]
    return Run(
        log_id=log["log_id"],
        application=log["application"],
        nprocs=log["nprocs"],
        start=log["start"],
        numbers=numbers,
        signature=tuple(sorted(FamilySignature.of_text(row["signature"]) for row in families)),
        library=log["library"],
        mounts=frozenset(row["mount"] for row in mounts),
        findings=frozenset(row["rule"] for row in findings if row["severity"] in WEIGHTY),
    )


def _in_folder(this: Run, folder: Path, progress: Callable[[int, int], None]) -> Earlier:
    """Logs below a folder; of those of other programs only the header is read."""
    damaged = 0
    found: list[tuple[float, Path]] = []
    paths = sorted(folder.rglob("*.darshan"))
    for done, path in enumerate(paths, start=1):
        progress(done, len(paths))
        try:
            job = open_log(path).job
        except WorkalikeError:
            damaged += 1
            continue
        same = (program_of(job.exe), job.nprocs) == (this.application, this.nprocs)
        if same and _is_earlier(job.start_time, path, this):
            found.append((job.start_time, path))
    runs = []
    newest = heapq.nlargest(MOST_RUNS, found)
    for done, (_, path) in enumerate(newest, start=1):
        progress(len(paths) + done, len(paths) + len(newest))
        try:
            runs.append(run_of(open_log(path)))
        except WorkalikeError:
            damaged += 1
    return Earlier(runs, len(paths), damaged)


def _is_earlier(start: float, path: Path, this: Run) -> bool:
    """As in a database: runs that start in the same second are in the order of their log ids."""
    if start != this.start:
        return start < this.start
    try:
        return log_id_of(identity(path)[0]) < this.log_id
    except WorkalikeError:
        return False


def _in_database(this: Run, store: Store) -> Earlier:
    """Logs of a database. Its site may have named the program otherwise: where it holds this log, that name counts."""
    connection = store.connect()

    def rows(sql: str, *values: Any) -> list[Row]:
        result = connection.execute(sql, list(values))
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    (total,) = rows("SELECT count(*) AS logs FROM log")
    known = rows("SELECT application FROM log WHERE log_id = ?", this.log_id)
    if store.hides and not known:
        raise WorkalikeError(
            ErrorKind.MISSING,
            "the log is not in this database, which has a key and so does not hold the names of programs",
            file=store.folder,
            hint="ingest the log first, or name a folder of logs",
        )
    logs = rows(
        "SELECT * FROM log WHERE application = ? AND nprocs = ? AND (start, log_id) < (?, ?) "
        f"ORDER BY start DESC, log_id DESC LIMIT {MOST_RUNS}",
        known[0]["application"] if known else this.application,
        this.nprocs,
        this.start,
        this.log_id,
    )
    ids = [row["log_id"] for row in logs]
    families, mounts, findings = (
        _by_log(rows(f"SELECT * FROM {table} WHERE log_id IN (SELECT unnest(?::BIGINT[]))", ids))
        for table in ("family", "log_fs", "finding")
    )
    try:
        runs = [
            _run(row, *(by_log.get(row["log_id"], []) for by_log in (families, mounts, findings)))
            for row in logs
        ]
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise WorkalikeError(
            ErrorKind.BAD_FILE,
            "a row of this database is impossible",
            file=store.folder,
            hint="ingest the logs into a new database",
        ) from error
    return Earlier(runs, total["logs"])


def _by_log(rows: Sequence[Row]) -> dict[int, list[Row]]:
    out: dict[int, list[Row]] = {}
    for row in rows:
        out.setdefault(row["log_id"], []).append(row)
    return out
