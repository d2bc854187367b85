"""Users and applications by their time of I/O, checkpoints that nobody reads, and coverage."""

from __future__ import annotations

from typing import Any

from workalike.fleet.report.period import Period
from workalike.fleet.sums import total

Rows = list[dict[str, Any]]
MOST = 20
SPENT = "read_s + write_s + meta_s + stdio_s + stdio_meta_s"
"""Time of all ranks in the calls of a log."""


def rows(connection: Any, sql: str) -> Rows:
    """The result of a query, a dictionary for each row."""
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def ranked(connection: Any, period: Period, by: str, most: int = MOST) -> Rows:
    """Users or applications (`by`), ordered by wasted rank-hours, then by rank-hours in I/O.

    Wasted rank-hours are the costs of findings that are problems of the job, of each log at most its rank-hours in I/O. `io_rank_hours` is the time
    of all ranks in calls; `io_percent` the share of it in the rank-hours of the jobs.
    """
    if by not in ("user", "application"):
        raise ValueError(by)
    return rows(
        connection,
        f"""
        WITH cost AS (SELECT log_id, {total("cost_s")} AS cost_s FROM finding WHERE answer = 'problem' GROUP BY log_id)
        SELECT "{by}" AS name, count(DISTINCT (site, job_id, "user")) AS jobs, count(*) AS logs,
            {total("least(coalesce(cost_s, 0), spent)")} / 3600 AS wasted_rank_hours,
            {total("spent")} / 3600 AS io_rank_hours,
            100 * {total("spent")} / nullif({total("nprocs * run_time")}, 0) AS io_percent,
            sum(bytes_read)::DOUBLE AS bytes_read, sum(bytes_written)::DOUBLE AS bytes_written
        FROM (SELECT *, {SPENT} AS spent FROM log
              WHERE {period.condition()}) LEFT JOIN cost USING (log_id)
        GROUP BY 1 ORDER BY wasted_rank_hours DESC, io_rank_hours DESC, name LIMIT {int(most)}
        """,
    )


def rules(connection: Any, period: Period, most: int = MOST) -> Rows:
    """What hurts most: rules by the wasted rank-hours of their problems, each at most the rank-hours in I/O of its log."""
    return rows(
        connection,
        f"""
        SELECT rule, count(*) AS logs, count(DISTINCT "user") AS users, count(DISTINCT application) AS applications,
            {total("least(cost_s, spent)")} / 3600 AS wasted_rank_hours
        FROM finding JOIN (
            SELECT log_id, "user", application, start, {SPENT} AS spent
            FROM log WHERE {period.condition()}
        ) USING (log_id)
        WHERE answer = 'problem' GROUP BY 1 ORDER BY wasted_rank_hours DESC, rule LIMIT {int(most)}
        """,
    )


def unread_checkpoints(connection: Any, period: Period, most: int = MOST) -> Rows:
    """Applications whose checkpoints no later log of the database reads, with their bytes.

    A checkpoint is a file of a family with that role which is written. It counts as read if a log that begins after
    the writer reads the same path. An upper bound: readers without a log, and renamed files, are not seen.
    """
    return rows(
        connection,
        f"""
        WITH written AS (
            SELECT f.record_id, l."user", l.application, l.start, f.bytes_written FROM file f
            JOIN family m ON m.log_id = f.log_id AND m.family = f.family
            JOIN log l ON l.log_id = f.log_id
            WHERE m.role IN ('checkpoint', 'restart') AND f.bytes_written > 0 AND {period.condition("l.start")}
        ), reads AS (
            SELECT f.record_id, max(l.start) AS start FROM file f JOIN log l ON l.log_id = f.log_id
            WHERE f.bytes_read > 0 GROUP BY 1
        )
        SELECT "user", application, count(*) AS files, sum(w.bytes_written)::DOUBLE AS bytes_written,
            count(*) FILTER (WHERE r.start IS NULL) AS unread_files,
            sum(CASE WHEN r.start IS NULL THEN w.bytes_written ELSE 0 END)::DOUBLE AS unread_bytes
        FROM written w LEFT JOIN reads r ON r.record_id = w.record_id AND r.start > w.start
        GROUP BY 1, 2 HAVING unread_files * 2 > files ORDER BY unread_bytes DESC, "user", application LIMIT {int(most)}
        """,
    )


def slowest_calls(connection: Any, period: Period, most: int = MOST) -> Rows:
    """The logs whose slowest read or write took longest, and what it moved: a slow call of few bytes has waited."""
    return rows(
        connection,
        f"""
        SELECT log_id, job_id, "user", application, start, nprocs, slowest_call, slowest_call_s AS seconds,
            slowest_call_bytes AS bytes, 100 * slowest_call_s / nullif(run_time, 0) AS percent_of_run
        FROM log WHERE slowest_call_s > 0 AND {period.condition()}
        ORDER BY seconds DESC, log_id LIMIT {int(most)}
        """,
    )


def coverage(connection: Any, period: Period) -> Rows:
    """For each day of accounting, the percentage of jobs, users and node-hours with a log (the paper's Fig. 7 and 8).

    A user is active who ended a job that day. Jobs are matched by number and a start no more than a day apart.
    """
    newest = '("end", start, node_hours, "user")'
    return rows(
        connection,
        f"""
        WITH jobs AS (
            SELECT site, job_id, arg_max("user", {newest}) AS "user", arg_max(start, {newest}) AS start,
                max("end") AS finish, arg_max(node_hours, {newest}) AS hours
            FROM accounting WHERE {period.condition()} GROUP BY site, job_id, floor(start / 86400)
        ), seen AS (
            SELECT j.*, EXISTS (
                SELECT 1 FROM log l WHERE l.site = j.site AND l.job_id = j.job_id
                    AND l.start BETWEEN j.start - 86400 AND j.finish + 86400
            ) AS logged FROM jobs j
        )
        SELECT floor(start / 86400) * 86400 AS day, count(*) AS jobs,
            100 * avg(logged::INT) AS jobs_percent,
            100.0 * count(DISTINCT "user") FILTER (WHERE logged) / count(DISTINCT "user") AS users_percent,
            100 * {total("CASE WHEN logged THEN hours ELSE 0 END")} / nullif({total("hours")}, 0) AS hours_percent
        FROM seen GROUP BY 1 ORDER BY 1
        """,
    )
