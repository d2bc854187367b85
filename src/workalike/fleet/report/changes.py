"""What changes: growing applications, jobs slower than their own past, storage targets that were slow for a week."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import MOST, Rows, rows
from workalike.fleet.sums import mean

WEEK_S = 7 * 86400.0
LEAST_WEEKS = 3
LEAST_PAST = 5
"""Earlier runs of the same workload without which a job is not judged."""
OUTLIER = 3.0
"""A job is an outlier if its time of I/O is so many times the median of its past, and beyond its scatter."""
SCATTER = 5.0
"""Median absolute deviations beyond which a time is not a scatter."""
SLOW_TARGET = 2.0
"""A target is slow in a week if its time per byte is so many times the median of all targets that week."""
LEAST_TARGETS = 4


def growth(connection: Any, period: Period, most: int = MOST) -> Rows:
    """Applications whose bytes per job grow or shrink: the slope of the logarithm of weekly medians, by Theil and Sen.

    `percent_per_week` is the change from week to week; applications of fewer than three weeks are left out.
    """
    weekly = rows(
        connection,
        f"""
        SELECT "user", application, floor(start / {WEEK_S}) AS week,
            median(bytes_read::DOUBLE + bytes_written::DOUBLE) AS bytes, count(*) AS logs
        FROM log WHERE {period.condition()} AND partial = '' GROUP BY 1, 2, 3 HAVING bytes > 0 ORDER BY 1, 2, 3
        """,
    )
    series: dict[tuple[str, str], list[tuple[float, float, int]]] = defaultdict(list)
    for row in weekly:
        series[row["user"], row["application"]].append((row["week"], row["bytes"], row["logs"]))
    found: Rows = []
    for (user, application), points in series.items():
        if len(points) < LEAST_WEEKS:
            continue
        week, size = np.array([p[0] for p in points]), np.log([p[1] for p in points])
        first, second = np.triu_indices(len(week), 1)
        slope = float(np.median((size[second] - size[first]) / (week[second] - week[first])))
        found.append(
            {
                "user": user,
                "application": application,
                "weeks": len(points),
                "logs": sum(p[2] for p in points),
                "percent_per_week": 100 * float(np.expm1(slope)),
                "last_bytes": points[-1][1],
            }
        )
    return sorted(found, key=lambda row: -abs(row["percent_per_week"]))[:most]


def outliers(connection: Any, period: Period, most: int = MOST) -> Rows:
    """Jobs whose I/O took far longer than in earlier runs of the same workload (the same families, user and program)."""
    return rows(
        connection,
        f"""
        WITH past AS (
            SELECT log_id, job_id, "user", application, start, io_s, nprocs,
                list(io_s) OVER (
                    PARTITION BY site, "user", application, nprocs, signature ORDER BY start, log_id
                    ROWS BETWEEN 100 PRECEDING AND 1 PRECEDING
                ) AS times
            FROM log WHERE signature <> '' AND io_s > 0
        ), judged AS (
            SELECT *, list_median(times) AS usual FROM past
            WHERE {period.condition()} AND len(times) >= {LEAST_PAST} AND io_s > {OUTLIER} * list_median(times)
        ), scattered AS (
            SELECT j.*, (SELECT median(abs(t - j.usual)) FROM (SELECT unnest(j.times) AS t)) AS scatter FROM judged j
        )
        SELECT log_id, job_id, "user", application, start, io_s, usual, len(times) AS runs, io_s / usual AS times_usual
        FROM scattered WHERE io_s > usual + {SCATTER} * scatter ORDER BY nprocs * (io_s - usual) DESC, log_id LIMIT {int(most)}
        """,
    )


def slow_targets(connection: Any, period: Period, most: int = MOST) -> Rows:
    """Storage targets whose time per byte in a week was far above that of the others.

    Each log is compared with the usual time per byte of its application first, so that a slow application on a target
    does not make the target look slow. Files lie on several targets, and all wait for the slowest: its neighbours look
    slow too, but less; they are marked `beside`.
    """
    found = rows(
        connection,
        f"""
        WITH base AS (
            SELECT t.mount, t.target, l.application, floor(l.start / {WEEK_S}) AS week,
                t.seconds / t.bytes AS cost FROM target t JOIN log l USING (log_id)
            WHERE t.bytes > 0 AND t.seconds > 0 AND {period.condition("l.start")}
        ), usual AS (SELECT application, median(cost) AS cost FROM base GROUP BY 1),
        weekly AS (
            SELECT b.mount, b.target, b.week, {mean("b.cost / u.cost")} AS factor, count(*) AS logs
            FROM base b JOIN usual u USING (application) GROUP BY 1, 2, 3
        ), others AS (
            SELECT mount, week, median(factor) AS factor, count(*) AS targets FROM weekly GROUP BY 1, 2
        )
        SELECT w.mount, w.target, w.week * {WEEK_S} AS week, w.factor / o.factor AS times_usual, w.logs
        FROM weekly w JOIN others o USING (mount, week)
        WHERE o.targets >= {LEAST_TARGETS} AND w.factor > {SLOW_TARGET} * o.factor ORDER BY times_usual DESC, w.mount, w.target, w.week
        """,
    )
    worst: dict[tuple[str, float], float] = {}
    for row in found:
        key = row["mount"], row["week"]
        row["beside"] = worst.setdefault(key, row["times_usual"]) > row["times_usual"]
    return found[:most]
