"""Logs that are slower than their own past, as findings: from all logs of a database, in SQL for DuckDB.

A log alone does not tell its earlier runs, and logs arrive in any order. So these findings are computed anew from the
table `log` when an ingestion ends (`stored_past`): they are those of the logs that are there. One run of twenty is below the 5th
percentile by chance: only those of weight (MEDIUM, HIGH) are findings here. Workloads without any are left out early.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Self, cast

from workalike.diagnose.registry import rule_of
from workalike.diagnose.rules.slower_than_its_past import CHANGED, FORMULA, RULE, Limits, numbers, sentence
from workalike.diagnose.site import Site
from workalike.fleet.findings import RULES_VERSION
from workalike.fleet.report.changes import SCATTER
from workalike.fleet.views import quoted

KEY = "slower_than_its_past"
"""The limits in `fleet.json`, where the site's differ from the defaults."""
MOST_RUNS = 1000
LEAST_CHANGE = 0.2
"""As in `history`: earlier runs that are looked at, and the share of its median by which a count must differ."""
BLOCK = MOST_RUNS // 4
"""Runs of a workload that are joined as one: a slow run meets those of five blocks, not all runs of its workload."""


@dataclass(frozen=True)
class PastLimits:
    """What decides: a place among the earlier runs (percent), their number, and shares of the run time."""

    percentile: float
    runs: int
    high: float
    medium: float

    @classmethod
    def of_site(cls, site: Site) -> Self:
        limits = cast("Limits", site.parameters(RULE.id))
        return cls(limits.percentile, limits.runs, site.job.high, site.job.medium)

    @classmethod
    def of_about(cls, about: dict[str, Any]) -> Self:
        """Those of a database; the defaults where it has none, or none that can be."""
        default = cls.of_site(Site())
        try:
            found = {name: float(value) for name, value in about[KEY].items()}
            limits = cls(found["percentile"], int(found["runs"]), found["high"], found["medium"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return default
        usable = all(map(math.isfinite, found.values())) and 0 < limits.percentile <= 100 and limits.runs >= 1
        return limits if usable and 0 < limits.medium <= limits.high <= 1 else default

    def as_about(self) -> dict[str, float]:
        return asdict(self)


def add_words(connection: Any) -> None:
    """Let a connection make the words of findings: those of the rule, which alone has them."""
    connection.create_function("past_summary", _summary, ["DOUBLE", "BIGINT", "DOUBLE", "VARCHAR"], "VARCHAR")
    connection.create_function("past_evidence", _evidence, ["DOUBLE"] * 9, "VARCHAR")


def _summary(rate: float, runs: int, usual_rate: float, changed: str) -> str:
    return sentence(rate, runs, usual_rate, changed.split(", ") if changed else ())


def _evidence(
    io_s: float,
    usual_io_s: float,
    excess_s: float,
    ranks: float,
    run_time_s: float,
    percentile: float,
    runs: float,
    rate: float,
    usual_rate: float,
) -> str:
    """As the `finding` table has it of other rules (`findings`)."""
    terms = {
        "io_s": io_s,
        "usual_io_s": usual_io_s,
        "excess_s": excess_s,
        "ranks": int(ranks),
        "run_time_s": run_time_s,
    }
    return json.dumps(
        {
            "families": [],
            "formula": FORMULA,
            "terms": terms,
            "numbers": numbers(percentile, int(runs), rate, usual_rate),
            "also": [],
            "sure": "likely",
            "assumes": "",
        }
    )


def past_findings(limits: PastLimits) -> str:
    """A query for the findings, with the columns of the table `finding`; it reads `log` and `stored_finding`, and needs
    `add_words`."""
    explaining = ", ".join(f"'{rule_of(name).id}'" for name in RULE.explained_by)
    return f"""
WITH every AS (
    SELECT log_id, site, application, nprocs, signature, start, run_time, io_s, opens::DOUBLE AS opens,
        syncs::DOUBLE AS syncs, (bytes_read::DOUBLE + bytes_written::DOUBLE) / io_s AS rate
    FROM log
    WHERE signature <> '' AND io_s > 0 AND run_time > 0 AND bytes_read::DOUBLE + bytes_written::DOUBLE > 0
), worth AS (
    SELECT site, application, nprocs, signature, min(log_id) AS workload FROM every
    GROUP BY site, application, nprocs, signature
    HAVING count(*) > {limits.runs} AND max(io_s - {limits.medium!r} * run_time) >= min(io_s)
), run AS (
    SELECT workload, log_id, nprocs, start, run_time, io_s, opens, syncs, rate,
        row_number() OVER (PARTITION BY workload ORDER BY start, log_id) AS number
    FROM every JOIN worth USING (site, application, nprocs, signature)
), judged AS (
    SELECT *, count(*) OVER past AS runs, quantile_disc(rate, {limits.percentile / 100!r}) OVER past AS low,
        median(rate) OVER past AS usual_rate, median(io_s) OVER past AS usual_io_s,
        {_changed("opens")} AS opens_changed, {_changed("syncs")} AS syncs_changed
    FROM run WINDOW past AS (
        PARTITION BY workload ORDER BY start, log_id ROWS BETWEEN {MOST_RUNS} PRECEDING AND 1 PRECEDING
    )
), slow AS (
    SELECT * FROM judged
    WHERE runs >= {limits.runs} AND rate <= low AND io_s - usual_io_s >= {limits.medium!r} * run_time
), pair AS (
    SELECT s.log_id, CASE WHEN r.rate < s.rate THEN 1 WHEN r.rate = s.rate THEN 0.5 ELSE 0 END AS below
    FROM (
        SELECT *, unnest(range(greatest(number - {MOST_RUNS}, 0) // {BLOCK}, number // {BLOCK} + 1)) AS block FROM slow
    ) s JOIN (SELECT *, number // {BLOCK} AS block FROM run) r USING (workload, block)
    WHERE r.number < s.number AND r.number >= s.number - {MOST_RUNS}
), placed AS (
    SELECT slow.*, p.place FROM slow JOIN (SELECT log_id, 100 * avg(below) AS place FROM pair GROUP BY log_id) p
    USING (log_id)
), found AS (
    SELECT *, least(greatest(io_s - usual_io_s, 0), run_time) AS excess,
        concat_ws(', ', CASE WHEN opens_changed THEN 'opens' END, CASE WHEN syncs_changed THEN 'syncs' END) AS changed
    FROM placed WHERE place < {limits.percentile!r}
)
SELECT f.log_id, '{RULE.id}' AS rule, {RULES_VERSION}::BIGINT AS version,
    CASE WHEN excess / run_time >= {limits.high!r} THEN 'HIGH' ELSE 'MEDIUM' END AS severity,
    CASE WHEN changed = '' THEN 'not-your-fault' ELSE 'problem' END AS answer,
    excess AS cost_s, CASE WHEN changed = '' THEN 0.0 ELSE excess END AS bound_s,
    past_summary(rate, runs, usual_rate, changed) AS summary,
    past_evidence(io_s, usual_io_s, excess, nprocs, run_time, place, runs, rate, usual_rate) AS evidence,
    CASE WHEN changed = '' THEN {quoted(RULE.advice)} ELSE {quoted(CHANGED)} END AS advice
FROM found f ANTI JOIN (
    SELECT log_id, max(cost_s) AS known FROM stored_finding WHERE rule IN ({explaining}) GROUP BY log_id
) e ON e.log_id = f.log_id AND e.known >= 0.5 * f.excess
"""


def _changed(column: str) -> str:
    """SQL: whether a count is far from its median in the earlier runs, and beyond their scatter."""
    far = f"abs({column} - median({column}) OVER past)"
    return f"({far} > {SCATTER} * mad({column}) OVER past AND {far} > {LEAST_CHANGE} * median({column}) OVER past)"
