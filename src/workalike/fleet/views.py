"""The views of a database, as SQL for DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workalike.fleet.schema import DUCK, TABLES
from workalike.fleet.sums import total

JOB_GAP_S = 86400.0
"""Job numbers are used again: logs of one number are of one job if no more than this lies between them, in seconds."""

JOB = f"""
WITH ordered AS (
    SELECT *, start + run_time AS finish,
        max(start + run_time) OVER (
            PARTITION BY site, job_id, "user" ORDER BY start, log_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM log
), numbered AS (
    SELECT *, sum(CASE WHEN before IS NULL OR start > before + {JOB_GAP_S} THEN 1 ELSE 0 END) OVER (
        PARTITION BY site, job_id, "user" ORDER BY start, log_id ROWS UNBOUNDED PRECEDING
    ) AS turn
    FROM ordered
)
SELECT
    arg_min(log_id, (start, log_id)) AS job_key, site, job_id, "user",
    arg_max(application, (nprocs * run_time, log_id)) AS application,
    min(start) AS start, max(finish) AS finish, count(*) AS logs, max(nprocs) AS nprocs,
    {total("run_time")} AS run_time, {total("nprocs * run_time")} AS rank_s,
    sum(bytes_read)::DOUBLE AS bytes_read, sum(bytes_written)::DOUBLE AS bytes_written,
    sum(files)::BIGINT AS files, sum(reads)::DOUBLE AS reads, sum(writes)::DOUBLE AS writes,
    {total("io_s")} AS io_s, {total("read_s")} AS read_s, {total("write_s")} AS write_s, {total("meta_s")} AS meta_s,
    {total("stdio_s")} AS stdio_s, {total("stdio_meta_s")} AS stdio_meta_s,
    {total("meta_s / nprocs")} AS meta_per_rank_s, {total("(meta_s + stdio_meta_s) / nprocs")} AS all_meta_per_rank_s,
    sum(redundant_read)::DOUBLE AS redundant_read, sum(redundant_read_only)::DOUBLE AS redundant_read_only,
    sum(small_shared_writes)::DOUBLE AS small_shared_writes, sum(collective_writes)::DOUBLE AS collective_writes,
    arg_max(slowest_call, (slowest_call_s, log_id)) AS slowest_call, max(slowest_call_s) AS slowest_call_s,
    arg_max(slowest_call_bytes, (slowest_call_s, log_id)) AS slowest_call_bytes,
    bool_or(partial <> '') AS partial, arg_max(signature, (nprocs * run_time, log_id)) AS signature
FROM numbered GROUP BY site, job_id, "user", turn
"""
"""One row per job: the logs of one site, number and user. Sums of whole numbers may exceed 64 bits, so they are real."""

STORED = {"finding": "stored_finding"}
"""Views of tables that are a part of the view of their name."""


def create(tables: Mapping[str, Sequence[Path]], past: Path | None, below: Path | None = None) -> list[str]:
    """The statements that make all views; `tables` has the Parquet files of each table, which are named as they are seen
    from the folder `below`.

    The findings are those of single logs, and those of logs against their past, which are in the file `past`.
    """
    files = {STORED.get(table, table): (table, tables.get(table, ())) for table in TABLES}
    files["past_finding"] = ("finding", [past] if past else [])
    return [
        *(
            f'CREATE OR REPLACE VIEW "{view}" AS {_select(table, paths, below)}'
            for view, (table, paths) in files.items()
        ),
        f"CREATE OR REPLACE VIEW job AS {JOB}",
        "CREATE OR REPLACE VIEW finding AS SELECT * FROM stored_finding UNION ALL SELECT * FROM past_finding",
    ]


def quoted(text: str) -> str:
    """A string constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _select(table: str, files: Sequence[Path], below: Path | None) -> str:
    columns = TABLES[table]
    if files:
        names = ", ".join(f'"{name}"' for name in columns)
        seen = ", ".join(quoted(str(f.relative_to(below) if below else f)) for f in files)
        return f"SELECT {names} FROM read_parquet([{seen}])"
    empty = ", ".join(f'NULL::{DUCK[kind]} AS "{name}"' for name, kind in columns.items())
    return f"SELECT {empty} WHERE false"
