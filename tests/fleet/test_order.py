"""Reports and pages are the same to the last digit for any order of the rows and any number of threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleets import START, builder, plain_log

from workalike.fleet.generate.logs import write_fleet
from workalike.fleet.generate.parts import write_parts
from workalike.fleet.ingest import ingest
from workalike.fleet.report.paper import Thresholds
from workalike.fleet.report.period import Period
from workalike.fleet.report.whole import plain, whole_report
from workalike.fleet.rows import rows_of
from workalike.fleet.schema import TABLES
from workalike.fleet.serve import pages, queries
from workalike.fleet.serve.access import Viewer
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store, open_or_make
from workalike.fleet.suite.features import measured
from workalike.fleet.tables_in import read_accounting

STAFF = Viewer("boss", True, "")
ORDERS = [("rowid", 1), ("hash(rowid)", 1), ("hash(rowid + 7)", 3), ("-rowid", 2), ("hash(-rowid)", 4)]


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Made-up jobs by parts, some that are read from logs, and accounting with entries that tie."""
    folder = tmp_path_factory.mktemp("centre")
    store = open_or_make(folder / "db", "")
    write_parts(store, 4000, 4)
    write_fleet(folder, 60)
    ingest(store, [folder / "logs"], read_site(folder / "site.yaml"), folder / "site.yaml", jobs=1)
    rows = [
        f"{job % 700},user{job % 13},{START + 1000 * (job % 90)},{START + 1000 * (job % 90) + 77.7},{1 + job % 7}"
        for job in range(2000)
    ]
    (folder / "jobs.csv").write_text("job_id,user,start,end,nodes\n" + "\n".join(rows) + "\n")
    read_accounting(store, folder / "jobs.csv", Site())
    return store


class Permuted:
    """The database with the rows of each table in another order, as the portal reads it."""

    def __init__(self, store: Store, order: str, threads: int) -> None:
        self.store = store
        self._connection = store.connect(threads=threads)
        for table in (*TABLES.keys() - {"finding"}, "stored_finding"):
            self._connection.execute(f"CREATE TABLE first_{table} AS SELECT * FROM {table}")
            self._connection.execute(
                f"CREATE TABLE kept_{table} AS SELECT * FROM first_{table} ORDER BY {order}"
            )
            self._connection.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM kept_{table}")

    def connection(self) -> Any:
        return self._connection

    def rows(self, sql: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        result = self._connection.execute(sql, values or [])
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def said_by(data: Any) -> dict[str, Any]:
    """Everything that reports and pages say, unrounded."""
    tables, more = whole_report(data.connection(), Period(), Thresholds(), 1000)
    [busiest] = data.rows(
        'SELECT "user" AS name, mount FROM log JOIN log_fs USING (log_id) ORDER BY ALL LIMIT 1'
    )
    features = measured(data.connection(), Period())
    search = queries.search_of({"order": "most time in I/O"}, 0.0)
    return {
        "paper": tables.to_json(),
        **{name: [plain(row) for row in rows] for name, rows in more.items()},
        "days": queries.days(data, STAFF),
        "jobs": queries.found_jobs(data, STAFF, search),
        "job": data.rows("SELECT * FROM job ORDER BY job_key"),
        "pages": [
            pages.groups_page(data, "user"),
            pages.group_page(data, STAFF, "user", busiest["name"]),
            pages.file_systems_page(data, STAFF),
            pages.fs_page(data, STAFF, busiest["mount"]),
            pages.coverage_page(data),
        ],
        "suite": [features.values.tolist(), features.shares.tolist()],
    }


def test_any_order_and_threads(centre: Store) -> None:
    first, *others = ({k: repr(v) for k, v in said_by(Permuted(centre, *each)).items()} for each in ORDERS)
    held = ("users", "applications", "rules", "coverage", "findings", "days", "job", "suite")
    assert [name for name in held if len(first[name]) < 200] == []
    for other in others:
        assert [name for name in first if first[name] != other[name]] == []


def test_the_order_of_records_in_a_log_does_not_matter(tmp_path: Path) -> None:
    """Times of many files and ranks whose sum depends on the order in floating point."""
    random = np.random.default_rng(3)
    seconds = 10.0 ** random.uniform(-9, 2, (2, 40, 8))
    said = []
    for order in (random.permutation(40), random.permutation(40)):
        log = builder(1, nprocs=8, run=60000.0)
        for file in order.tolist():
            for rank in random.permutation(8).tolist():
                write, meta = seconds[:, file, rank].tolist()
                log.posix(
                    f"/scratch/f{file}", rank, OPENS=1, WRITES=1, BYTES_WRITTEN=4096, F_WRITE_TIME=write, F_META_TIME=meta,
                    F_WRITE_START_TIMESTAMP=float(file + 1), F_WRITE_END_TIMESTAMP=float(file + 2),
                )  # fmt: skip
        path = log.write(tmp_path / f"{len(said)}.darshan")
        rows = rows_of(path, Site()).rows  # type: ignore[union-attr]
        said.append(
            json.dumps(
                [[{**row, "log_id": 0, "sha256": ""} for row in rows[t]] for t in ("log", "log_fs", "family")]
            )
        )
    assert said[0] == said[1]


def test_plain_logs_have_sums(tmp_path: Path) -> None:
    [row] = rows_of(plain_log(tmp_path, 1), Site()).rows["log"]  # type: ignore[union-attr]
    assert (row["read_s"], row["write_s"], row["meta_s"], row["io_s"]) == (0.5, 8.0, 0.4, 3.0)
