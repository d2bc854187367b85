"""A made-up centre: the report finds what was planted from the logs alone."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fleets import START

from workalike.fleet.generate.habits import Truth
from workalike.fleet.generate.logs import write_fleet
from workalike.fleet.ingest import ingest
from workalike.fleet.report.changes import growth, outliers, slow_targets
from workalike.fleet.report.paper import NAMES, Thresholds, paper_jobs, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import coverage, ranked, rules, unread_checkpoints
from workalike.fleet.report.whole import html_page, notify, whole_report
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Part, Store, open_or_make
from workalike.fleet.tables_in import read_accounting, read_server_load

WEEK = 7 * 86400.0


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Truth]:
    folder = tmp_path_factory.mktemp("centre")
    truth = write_fleet(folder, 900)
    store = open_or_make(folder / "db", "")
    file = folder / "site.yaml"
    outcome = ingest(store, [folder / "logs"], read_site(file), file)
    assert outcome.counts["ingested"] == 900
    return store, truth


def test_the_papers_tables(centre: tuple[Store, Truth]) -> None:
    store, truth = centre
    redundant, metadata, small = paper_tables(store.connect(), Period(), Thresholds()).metrics
    assert (redundant.jobs, redundant.users) == (truth.counts["lattice"], 1)
    assert (metadata.jobs, metadata.users) == (truth.counts["genomes"], 1)
    assert small.jobs == truth.counts["particles"] and redundant.total == 900


def test_the_jobs_behind_the_papers_tables(centre: tuple[Store, Truth]) -> None:
    store, truth = centre
    found = paper_jobs(store.connect(), Period(), Thresholds(), 1000)
    by_metric = {name: [job for job in found if job["metric"] == name] for name in NAMES}
    assert {job["user"] for job in by_metric["redundant reads"]} == {truth.redundant}
    counts = [truth.counts[name] for name in ("lattice", "genomes", "particles")]
    assert [len(jobs) for jobs in by_metric.values()] == counts
    values = [job["value"] for job in by_metric["redundant reads"]]
    assert values == sorted(values, reverse=True)
    assert len(paper_jobs(store.connect(), Period(), Thresholds(), 2)) == sum(
        min(2, count) for count in counts
    )


def test_what_hurts_most(centre: tuple[Store, Truth]) -> None:
    found = rules(centre[0].connect(), Period())
    assert found[0]["rule"] == "all-ranks-read-all"
    assert found[0]["logs"] == centre[1].counts["lattice"] and found[0]["users"] == 1
    assert len(rules(centre[0].connect(), Period(), 1)) == 1


def test_a_period_is_a_part(centre: tuple[Store, Truth]) -> None:
    connection = centre[0].connect()
    parts = [
        Period(None, START + WEEK),
        Period(START + WEEK, START + 3 * WEEK),
        Period(START + 3 * WEEK, None),
    ]
    totals = [paper_tables(connection, part, Thresholds()).metrics[0].total for part in parts]
    assert sum(totals) == 900 and all(totals)


def test_top_users(centre: tuple[Store, Truth]) -> None:
    first = ranked(centre[0].connect(), Period(), "user")[0]
    assert first["name"] == centre[1].redundant  # 300 s on each of 256 ranks
    assert first["jobs"] == centre[1].counts["lattice"]


def test_the_slow_target_and_its_week(centre: tuple[Store, Truth]) -> None:
    store, truth = centre
    found = slow_targets(store.connect(), Period())
    assert (found[0]["target"], found[0]["week"]) == (truth.slow_target, START + truth.slow_week * WEEK)
    assert all(row["beside"] for row in found[1:])


def test_growth(centre: tuple[Store, Truth]) -> None:
    found = growth(centre[0].connect(), Period())
    assert found[0]["application"] == centre[1].growing
    assert 6 < found[0]["percent_per_week"] < 13
    assert all(abs(row["percent_per_week"]) < 1 for row in found[1:])


def test_outliers_against_their_own_past(centre: tuple[Store, Truth]) -> None:
    store, truth = centre
    chemistry = {
        r["job_id"] for r in outliers(store.connect(), Period(), 1000) if r["application"] == "chemistry"
    }
    assert set(truth.outlier_jobs) <= chemistry
    week = Period(START + truth.slow_week * WEEK, START + (truth.slow_week + 1) * WEEK)
    slow = {r["job_id"] for r in outliers(store.connect(), week, 1000)}
    assert chemistry - set(truth.outlier_jobs) <= slow  # the others met the slow target


def test_slow_jobs_are_findings_against_their_past(centre: tuple[Store, Truth]) -> None:
    store, truth = centre
    sql = "SELECT job_id, severity, start FROM past_finding JOIN log USING (log_id) WHERE application = 'chemistry'"
    found = store.connect().execute(sql).fetchall()
    assert sorted(job for job, severity, _ in found if severity == "HIGH") == list(truth.outlier_jobs)
    rest = {start for job, _, start in found if job not in truth.outlier_jobs}
    week = START + truth.slow_week * WEEK
    assert rest and all(week <= start < week + WEEK for start in rest)  # they met the slow target


def test_unread_checkpoints(centre: tuple[Store, Truth]) -> None:
    found = unread_checkpoints(centre[0].connect(), Period())
    assert [row["application"] for row in found] == [centre[1].unread]
    assert found[0]["unread_files"] == centre[1].counts["turbulence"]


def test_failed_jobs_are_marked_partial(centre: tuple[Store, Truth]) -> None:
    found = centre[0].connect().execute("SELECT job_id FROM log WHERE partial <> ''").fetchall()
    assert sorted(job for (job,) in found) == sorted(centre[1].failed_jobs) != []


def test_coverage_and_server_load(tmp_path: Path, centre: tuple[Store, Truth]) -> None:
    store = centre[0]
    jobs = (
        store.connect()
        .execute('SELECT job_id, "user", start FROM log WHERE start < ? ORDER BY start', [START + 86400])
        .fetchall()
    )
    lines = [f"{job},{user},{start},{start + 3600},2" for job, user, start in jobs]
    lines += [f"{10**6 + i},nobody,{START + 60 * i},{START + 60 * i + 7200},2" for i in range(len(jobs))]
    (tmp_path / "jobs.csv").write_text("job_id,user,start,end,nodes\n" + "\n".join(lines) + "\n")
    site = Site(name="demo")
    assert read_accounting(store, tmp_path / "jobs.csv", site).rows == 2 * len(jobs)
    assert read_accounting(store, tmp_path / "jobs.csv", site).rows == 0
    [day] = coverage(store.connect(), Period())
    users = len({user for _, user, _ in jobs})
    assert (day["jobs"], day["jobs_percent"]) == (2 * len(jobs), 50.0)
    assert day["users_percent"] == pytest.approx(100 * users / (users + 1))
    assert day["hours_percent"] == pytest.approx(100 / 3)
    (tmp_path / "load.csv").write_text(
        "mount,minute,bytes_read,bytes_written,operations,fullness\n/scratch,2026-01-01T00:00:30,1,2,3,0.5\n"
    )
    assert read_server_load(store, tmp_path / "load.csv", site).rows == 1
    assert store.connect().execute("SELECT minute, fullness FROM server_load").fetchall() == [(START, 0.5)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "job_id,user\n1,2\n",
        "job_id,user,start,end,nodes\nx,u,1,2,3\n",
        "job_id,user,start,end,nodes\n1,u,never,2,3\n",
    ],
)
def test_bad_accounting_names_the_line(tmp_path: Path, text: str) -> None:
    from workalike.errors import WorkalikeError

    (tmp_path / "jobs.csv").write_text(text)
    with pytest.raises(WorkalikeError, match=r"jobs.csv: line \d"):
        read_accounting(open_or_make(tmp_path / "db", ""), tmp_path / "jobs.csv", Site())


def test_findings_cost_at_most_the_time_of_io_and_are_handed_over_once(tmp_path: Path) -> None:
    import pyarrow as pa
    from fleets import plain_log, query, stored

    from workalike.fleet.part_writer import write_tables
    from workalike.fleet.schema import arrow_schema

    for job in range(2):
        plain_log(tmp_path / "logs", job, uid=job)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    [(first,), (second,)] = query(store, "SELECT log_id FROM log ORDER BY job_id")
    rows = [
        (first, "small-writes", "problem", 5.0),
        (second, "small-writes", "problem", 4.0),
        (second, "metadata", "problem", 1e9),
        (first, "small-sequential", "harmless", 1e9),
    ]
    found = [
        {"log_id": i, "rule": r, "version": 1, "severity": "HIGH", "answer": a, "cost_s": c}
        for i, r, a, c in rows
    ]
    write_tables(tmp_path / "staged", {"finding": pa.Table.from_pylist(found, arrow_schema("finding"))})
    with store.locked():
        store.commit(Part("findings/1", {"finding": 4}), tmp_path / "staged")
    connection = store.connect()
    users = ranked(connection, Period(), "user")
    assert [(u["name"], round(3600 * u["wasted_rank_hours"], 6)) for u in users] == [
        ("uid 1", 8.9),
        ("uid 0", 5.0),
    ]
    tell = f"{sys.executable} -c 'import sys,pathlib; pathlib.Path(\"{tmp_path}/received\").write_text(sys.stdin.read())'"
    assert notify(store, connection, Period(), tell, 4.5) == 2
    assert {f["rule"] for f in json.loads((tmp_path / "received").read_text())["findings"]} == {
        "small-writes",
        "metadata",
    }
    assert notify(store, connection, Period(), tell, 4.5) == 0
    assert notify(store, connection, Period(), tell, 1.0) == 1


def test_forms_of_the_report(tmp_path: Path, centre: tuple[Store, Truth]) -> None:
    store = centre[0]
    tables, more = whole_report(store.connect(), Period(), Thresholds())
    page = html_page(tables, more, Period())
    assert "turbulence" in page and "<script" not in page
    hostile = {"users": [{"name": "<script>{{ 7 * 7 }}</script>", "jobs": 1, "start": 0.0}]}
    page = html_page(tables, hostile, Period())
    assert "&lt;script&gt;{{ 7 * 7 }}" in page and "<script" not in page and "1970-01-01" in page
    run = [sys.executable, "-m", "workalike", "fleet", "report", "--db", str(store.folder)]
    done = subprocess.run(
        [*run, "--csv", str(tmp_path), "--html", str(tmp_path / "r.html")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Jobs matching metric" in done.stdout and "turbulence" in done.stdout
    paper = list(csv.DictReader((tmp_path / "paper.csv").open()))
    overlap = list(csv.DictReader((tmp_path / "overlap.csv").open()))
    expected = paper_tables(centre[0].connect(), Period(), Thresholds())
    assert [(row["name"], int(row["jobs"]), int(row["users"])) for row in paper] == [
        (m.name, m.jobs, m.users) for m in expected.metrics
    ]
    assert [int(row["both"]) for row in overlap] == [o.both for o in expected.overlaps]
    assert (tmp_path / "growth.csv").read_text().splitlines()[1].startswith("ada,climate")
    said = json.loads(subprocess.run([*run, "--json"], capture_output=True, text=True, check=True).stdout)
    assert said["slow_targets"][0]["target"] == centre[1].slow_target
