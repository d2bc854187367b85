"""The numbers of each picture as tables, unrounded: bytes, seconds, and seconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workalike.darshan.bins import SIZE_BINS
from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import coverage
from workalike.fleet.serve import queries
from workalike.fleet.serve.access import Viewer
from workalike.fleet.serve.queries import Row
from workalike.fleet.serve.snapshot import Snapshot

DAY = ("day", "jobs", "users", "bytes_read", "bytes_written", "io_rank_hours")
RUN = ("job_key", "job_id", "start", "run_time", "nprocs", "bytes_read", "bytes_written", "io_s")
FAMILY = (
    "log_id", "family", "role", "interface", "sharing", "ranks", "files", "dumps", "interval_s", "first_s", "last_s",
    "bytes_read", "bytes_written",
)  # fmt: skip
COVERED = ("day", "jobs", "jobs_percent", "users_percent", "hours_percent")
LOAD = ("mount", "minute", "bytes_read", "bytes_written", "operations", "fullness")


@dataclass(frozen=True)
class Table:
    heads: Sequence[str]
    rows: list[list[object]]


def table_of(heads: Sequence[str], rows: Sequence[Row]) -> Table:
    return Table(heads, [[row[name] for name in heads] for row in rows])


def days(data: Snapshot, viewer: Viewer, parameters: Mapping[str, str]) -> Table:
    """Bytes by day of all jobs, or of a user's or an application's."""
    given = {name: parameters[name] for name in ("user", "application") if parameters.get(name)}
    where = " AND ".join(f'"{name}" = ?' for name in given) or "true"
    values = [value[: queries.LONGEST_VALUE] for value in given.values()]
    return table_of(DAY, queries.days(data, viewer, where, values))


def covered(data: Snapshot) -> Table:
    """The share of the scheduler's jobs, users and node-hours with a log, by day."""
    return table_of(COVERED, coverage(data.connection(), Period()))


def sizes(data: Snapshot, viewer: Viewer, key: str) -> Table | None:
    """How many calls of a job have a size in each range; None where the viewer may not see the job."""
    job = queries.one_job(data, viewer, key)
    if job is None:
        return None
    logs = queries.logs_of(data, job)
    columns = ("read_sizes", "write_sizes")
    rows = [[name, *(sum(log[c][i] for log in logs) for c in columns)] for i, name in enumerate(SIZE_BINS)]
    return Table(("size", "reads", "writes"), rows)


def timeline(data: Snapshot, viewer: Viewer, key: str) -> Table | None:
    """First and last access of each file family, in seconds from the start of its log."""
    job = queries.one_job(data, viewer, key)
    if job is None:
        return None
    logs = queries.logs_of(data, job)
    begin = {log["log_id"]: log["start"] for log in logs}
    families = queries.of_logs(data, "family", logs, "first_s")
    rows = [{**row, "log_start": begin[row["log_id"]]} for row in families]
    return table_of(("log_start", *FAMILY), rows)


def runs(data: Snapshot, viewer: Viewer, key: str) -> Table | None:
    """The newest runs of the workload of a job."""
    job = queries.one_job(data, viewer, key)
    return None if job is None else table_of(RUN, queries.runs(data, viewer, job))


def load(data: Snapshot, viewer: Viewer, key: str) -> Table | None:
    """The load of the file systems of a job while it ran, by minute."""
    job = queries.one_job(data, viewer, key)
    return None if job is None else table_of(LOAD, queries.load_during(data, queries.logs_of(data, job)))
