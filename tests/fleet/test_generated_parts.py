"""A large made-up fleet has the numbers of the paper's tables, which the report must print."""

from pathlib import Path

from workalike.fleet.generate.parts import slow_jobs, write_parts
from workalike.fleet.report.paper import Thresholds, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.store import open_or_make, open_store


def test_the_papers_numbers(tmp_path: Path) -> None:
    rows = write_parts(open_or_make(tmp_path / "db", ""), 5000, files_per_job=3)
    connection = open_store(tmp_path / "db").connect()
    assert connection.execute("SELECT count(*) FROM file").fetchone() == (rows,)
    found = paper_tables(connection, Period(), Thresholds())
    assert [(m.total, m.jobs) for m in found.metrics] == [(5000, 671), (5000, 252), (5000, 220)]
    said = [overlap.text() for overlap in found.overlaps if overlap.both]
    assert said[1] == ("of the 252 jobs of metadata, 72 also appear in the list of 671 of redundant reads")
    assert [m.users for m in found.metrics] == [37, 45, 11]


def test_the_slow_runs_of_its_workloads_are_findings(tmp_path: Path) -> None:
    write_parts(open_or_make(tmp_path / "db", ""), 9000, files_per_job=1)
    connection = open_store(tmp_path / "db").connect()
    sql = "SELECT job_id FROM past_finding JOIN log USING (log_id) ORDER BY 1"
    planted = slow_jobs(9000)
    assert [job for (job,) in connection.execute(sql).fetchall()] == planted
    assert len(planted) > 20
