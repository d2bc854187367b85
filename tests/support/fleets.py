"""Logs and databases for the tests of fleets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workalike.darshan import LogBuilder
from workalike.fleet.ingest import Outcome, ingest
from workalike.fleet.report.paper import PaperTables, Thresholds, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.schema import OF_LOGS
from workalike.fleet.site import Site
from workalike.fleet.store import Store, open_or_make, open_store

START = 1_767_225_600.0
"""2026-01-01 UTC."""
MOUNTS = (("lustre", "/scratch"), ("nfs", "/home"))


def builder(
    job: int, *, day: float = 0.0, uid: int = 1000, nprocs: int = 4, run: float = 600.0, **more: Any
) -> LogBuilder:
    return LogBuilder(
        nprocs,
        run,
        start_time=START + day * 86400,
        uid=uid,
        job_id=job,
        **{"exe": "./app", "mounts": MOUNTS, **more},
    )


def plain_log(folder: Path, job: int, **more: Any) -> Path:
    """A job that writes 4 MiB into a shared file and reads 1 MiB of another."""
    folder.mkdir(exist_ok=True, parents=True)
    log = builder(job, **more)
    log.posix(
        f"/scratch/out_{job}.dat",
        OPENS=4,
        WRITES=4,
        BYTES_WRITTEN=4 << 20,
        MAX_BYTE_WRITTEN=(4 << 20) - 1,
        SIZE_WRITE_1M_4M=4,
        F_WRITE_TIME=8.0,
        F_META_TIME=0.4,
        F_SLOWEST_RANK_TIME=2.5,
    )
    log.posix(
        "/scratch/in.dat",
        rank=0,
        OPENS=1,
        READS=1,
        BYTES_READ=1 << 20,
        MAX_BYTE_READ=(1 << 20) - 1,
        F_READ_TIME=0.5,
    )
    return log.write(folder / f"job_{job}.darshan")


def stored(folder: Path, logs: Path, site: Site | None = None, **more: Any) -> tuple[Store, Outcome]:
    """The database of a folder of logs."""
    store = open_or_make(folder, site.key_mark if site else "")
    return store, ingest(store, [logs], site or Site(), jobs=1, **more)


def query(store: Store, sql: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = store.connect().execute(sql).fetchall()
    return found


def tables(store: Store, **thresholds: Any) -> PaperTables:
    return paper_tables(store.connect(), Period(), Thresholds(**thresholds))


def rows_of(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows, sorted; but for the part that a log is in, which depends on who read it with which others."""
    connection = open_store(folder).connect()
    columns = {"log": "* EXCLUDE (part)"}
    return {
        t: sorted(connection.execute(f"SELECT {columns.get(t, '*')} FROM {t}").fetchall(), key=repr)
        for t in OF_LOGS
    }
