"""What pages ask of the database; each query is limited to the jobs that the viewer may see."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.report.period import moment
from workalike.fleet.report.rankings import SPENT
from workalike.fleet.serve.access import Viewer
from workalike.fleet.serve.snapshot import Snapshot
from workalike.fleet.sums import total

Row = dict[str, Any]
PAGE = 50
MOST_PAGES = 10_000
LONGEST_VALUE = 200
ORDERS = {
    "newest": "start DESC",
    "most time in I/O": "io_s * nprocs DESC",
    "most written": "bytes_written DESC",
    "most read": "bytes_read DESC",
    "largest share of I/O": "io_s / nullif(run_time, 0) DESC NULLS LAST",
}
UNIQUE = {"family": "log_id, family", "log_fs": "log_id, mount", "finding": "log_id, rule, summary"}
"""What tells the rows of a table apart, so that their order does not depend on that of the files."""


@dataclass(frozen=True)
class Search:
    """A search for jobs, as its URL states it."""

    user: str = ""
    application: str = ""
    job_id: str = ""
    since: str = ""
    until: str = ""
    percent: str = ""
    order: str = "newest"
    page: int = 0
    where: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


def search_of(parameters: Mapping[str, str], now: float) -> Search:
    """The search that a URL's parameters state.

    Raises:
        WorkalikeError: USAGE where a value is none of its kind.
    """
    given = {
        name: parameters.get(name, "").strip()[:LONGEST_VALUE]
        for name in ("user", "application", "job_id", "since", "until", "percent")
    }
    where: list[str] = []
    values: list[Any] = []
    for name in ("user", "application"):
        if given[name]:
            where.append(f'"{name}" = ?')
            values.append(given[name])
    if given["job_id"]:
        where.append("job_id = ?")
        values.append(_whole(given["job_id"], "job"))
    for name, test in (("since", "start >= ?"), ("until", "start < ?")):
        if given[name]:
            where.append(test)
            values.append(moment(given[name], name, now))
    if given["percent"]:
        where.append("100 * io_s / nullif(run_time, 0) > ?")
        values.append(_real(given["percent"], "percent"))
    order = parameters.get("order", "newest")
    page = _whole(parameters.get("page", "0") or "0", "page")
    if order not in ORDERS or not 0 <= page < MOST_PAGES:
        raise WorkalikeError(ErrorKind.USAGE, "no such order or page", hint="use the form")
    return Search(**given, order=order, page=page, where=where, values=values)


def _whole(text: str, name: str) -> int:
    try:
        number = int(text) if len(text) <= 20 else 2**63
    except ValueError as error:
        raise WorkalikeError(ErrorKind.USAGE, f"{name} is not a whole number") from error
    if not -(2**63) <= number < 2**63:
        raise WorkalikeError(ErrorKind.USAGE, f"{name} is too large")
    return number


def _real(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise WorkalikeError(ErrorKind.USAGE, f"{name} is not a number") from error
    if not math.isfinite(number):
        raise WorkalikeError(ErrorKind.USAGE, f"{name} is not a number")
    return number


def found_jobs(data: Snapshot, viewer: Viewer, search: Search) -> tuple[list[Row], bool]:
    """The jobs of one page of a search, and whether there are more."""
    visible, values = viewer.condition()
    rows = data.rows(
        f"SELECT * FROM job WHERE {' AND '.join([visible, *search.where])} "
        f"ORDER BY {ORDERS[search.order]}, job_key LIMIT {PAGE + 1} OFFSET {search.page * PAGE}",
        [*values, *search.values],
    )
    return rows[:PAGE], len(rows) > PAGE


def one_job(data: Snapshot, viewer: Viewer, key: str) -> Row | None:
    """A job by its key; None where there is none, or the viewer may not see it."""
    visible, values = viewer.condition()
    try:
        number = _whole(key, "job")
    except WorkalikeError:
        return None
    rows = data.rows(f"SELECT * FROM job WHERE job_key = ? AND {visible}", [number, *values])
    return rows[0] if rows else None


def logs_of(data: Snapshot, job: Row) -> list[Row]:
    """The logs of a job, in the order of their starts."""
    return data.rows(
        'SELECT * FROM log WHERE site = ? AND job_id = ? AND "user" = ? AND start BETWEEN ? AND ? '
        "ORDER BY start, log_id",
        [job["site"], job["job_id"], job["user"], job["start"], job["finish"]],
    )


def of_logs(data: Snapshot, table: str, logs: list[Row], order: str, most: int = 200) -> list[Row]:
    """The rows of a table for some logs, straight from the Parquet files of their parts.

    Findings of logs against their past are in no file: they come with those of the files.
    """
    folders = sorted({row["part"] for row in logs})
    known = {part.part: part for part in data.store.parts}
    files = [data.store.file(known[f], table) for f in folders if f in known and known[f].tables.get(table)]
    names = ", ".join("'" + str(f).replace("'", "''") + "'" for f in files)
    sources = [f"read_parquet([{names}])"] if files else []
    sources += ["past_finding"] if table == "finding" else []
    ids = ", ".join(str(int(row["log_id"])) for row in logs)
    if not sources or not ids:
        return []
    every = " UNION ALL BY NAME ".join(
        f"SELECT * FROM {source} WHERE log_id IN ({ids})" for source in sources
    )
    return data.rows(f"SELECT * FROM ({every}) ORDER BY {order}, {UNIQUE[table]} LIMIT {int(most)}")


def days(data: Snapshot, viewer: Viewer, where: str = "true", values: list[Any] | None = None) -> list[Row]:
    """Jobs, bytes and rank-hours in I/O by day, newest first; at most a year."""
    visible, own = viewer.condition()
    return data.rows(
        f"""SELECT floor(start / 86400) * 86400 AS day, count(*) AS jobs, count(DISTINCT "user") AS users,
            {total("bytes_read")} AS bytes_read, {total("bytes_written")} AS bytes_written,
            {total(SPENT)} / 3600 AS io_rank_hours
        FROM job WHERE {visible} AND {where} GROUP BY 1 ORDER BY 1 DESC LIMIT 366""",
        [*own, *(values or [])],
    )


def runs(data: Snapshot, viewer: Viewer, job: Row) -> list[Row]:
    """The newest jobs of the same user, application and signature, the job itself included; at most 20."""
    visible, values = viewer.condition()
    return data.rows(
        f"SELECT * FROM job WHERE {visible} AND \"user\" = ? AND application = ? AND signature = ? AND signature <> '' "
        "ORDER BY start DESC, job_key LIMIT 20",
        [*values, job["user"], job["application"], job["signature"]],
    )


def load_during(data: Snapshot, logs: list[Row]) -> list[Row]:
    """The server load of the file systems that some logs used, minute by minute while those ran; at most a week."""
    if not logs:
        return []
    mounts = sorted({row["mount"] for row in of_logs(data, "log_fs", logs, "mount")})
    first = min(row["start"] for row in logs)
    last = max(row["start"] + row["run_time"] for row in logs)
    return data.rows(
        """SELECT mount, minute, sum(bytes_read)::DOUBLE AS bytes_read, sum(bytes_written)::DOUBLE AS bytes_written,
            sum(operations)::DOUBLE AS operations, max(fullness) AS fullness
        FROM server_load WHERE list_contains(?, mount) AND minute > ? - 60 AND minute <= ?
        GROUP BY ALL ORDER BY mount, minute LIMIT 10080""",
        [mounts, first, last],
    )
