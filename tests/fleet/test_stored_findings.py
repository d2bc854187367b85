"""What `diagnose` finds in a log is in the database, the report and the portal, and is handed over once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fleets import builder, plain_log, query, stored
from portals import TestClient

from workalike.fleet import findings as stored_findings
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store

RUN_S, SYNC_S = 600.0, 300.0


def synced(folder: Path, job: int, **more: Any) -> Path:
    """A job of one rank that spends half of its run in 1,000 writes with a sync after each."""
    folder.mkdir(exist_ok=True, parents=True)
    log = builder(job, nprocs=1, run=RUN_S, **more)
    log.posix(
        "/scratch/secret-name.dat",
        rank=0,
        OPENS=1,
        WRITES=1000,
        FSYNCS=1000,
        BYTES_WRITTEN=1000 << 21,
        MAX_BYTE_WRITTEN=(1000 << 21) - 1,
        SIZE_WRITE_1M_4M=1000,
        F_WRITE_TIME=SYNC_S,
        F_META_TIME=0.1,
    )
    return log.write(folder / f"job_{job}.darshan")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    synced(tmp_path / "logs", 1, uid=7)
    plain_log(tmp_path / "logs", 2, uid=8)
    return stored(tmp_path / "db", tmp_path / "logs")[0]


def test_the_rows_are_those_of_diagnose(store: Store, tmp_path: Path) -> None:
    rows = query(
        store,
        "SELECT rule, severity, answer, cost_s, bound_s, summary FROM finding JOIN log USING (log_id) WHERE job_id = 1",
    )
    command = [
        sys.executable,
        "-m",
        "workalike",
        "diagnose",
        str(tmp_path / "logs" / "job_1.darshan"),
        "--json",
    ]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["findings"]
    assert rows == [
        (f["rule"], f["severity"], f["answer"], f["cost"]["rank_seconds"], f["gain_at_most_s"], f["summary"])
        for f in said
    ]
    [sync] = [row for row in rows if row[0] == "sync-each-write"]
    assert sync[1:4] == ("HIGH", "problem", SYNC_S)  # the time that was planted
    everything = b"".join(p.read_bytes() for p in store.folder.rglob("finding.parquet"))
    assert b"secret-name" not in everything


def test_thresholds_of_the_site_count(tmp_path: Path) -> None:
    synced(tmp_path / "logs", 1)
    (tmp_path / "limits.toml").write_text("[sync-each-write]\nsyncs = 5000\n")
    (tmp_path / "site.yaml").write_text("diagnose: limits.toml\n")
    site = read_site(tmp_path / "site.yaml")
    store, _ = stored(tmp_path / "db", tmp_path / "logs", site, site_file=tmp_path / "site.yaml")
    assert query(store, "SELECT count(*) FROM finding WHERE rule = 'sync-each-write'") == [(0,)]


def test_report_and_notification(store: Store, tmp_path: Path) -> None:
    received = tmp_path / "received"
    tell = (
        f"{sys.executable} -c 'import sys,pathlib; pathlib.Path(\"{received}\").write_text(sys.stdin.read())'"
    )
    command = [
        sys.executable, "-m", "workalike", "fleet", "report", "--db", str(store.folder), "--json", "--above", "0.05",
        "--notify", tell,
    ]  # fmt: skip
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert said["users"][0]["name"] == "uid 7"
    assert said["users"][0]["wasted_rank_hours"] == pytest.approx(SYNC_S / 3600, rel=0.01)
    findings = json.loads(received.read_text())["findings"]
    assert said["notified"] == len(findings) >= 1
    assert {(f["job_id"], f["user"]) for f in findings} == {(1, "uid 7")} and findings[0][
        "rule"
    ] == "sync-each-write"
    assert json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["notified"] == 0


def test_pages_show_findings(store: Store) -> None:
    site = TestClient(portal(store, Access(Site())))
    [job] = site.get("/api/jobs?job_id=1").json()["jobs"]
    page = site.get(f"/job/{job['key']}").text
    assert "a sync after each write" in page and "HIGH" in page and "5 min" in page
    about = site.get("/finding/sync-each-write").text
    assert "Sync once" in about and f"/job/{job['key']}" in about
    assert site.get("/finding/none-such").status_code == 404


def test_a_rule_that_fails_costs_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workalike.darshan import open_log
    from workalike.diagnose.job import read_job

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(stored_findings, "diagnosed", fail)
    job = read_job([open_log(synced(tmp_path, 1))])
    [row] = stored_findings.findings_of(job, Site().rules)
    assert (row["rule"], row["cost_s"], row["answer"]) == ("cannot-diagnose", 0.0, "cannot-tell")
    assert "ZeroDivisionError" in row["summary"]


def test_timeline_and_workload_of_a_job(store: Store, tmp_path: Path) -> None:
    from workalike.workload.workload_file import parse_workload

    site = TestClient(portal(store, Access(Site())))
    [job] = site.get("/api/jobs?job_id=1").json()["jobs"]
    page = site.get(f"/job/{job['key']}").text
    assert "File families over the time of the job" in page and 'rect class="written"' in page
    answer = site.get(f"/job/{job['key']}/workload.yaml")
    assert answer.status_code == 200 and answer.headers["content-disposition"].startswith("attachment")
    assert parse_workload(answer.text).ranks == 1 and "secret-name" not in answer.text
    assert next(f["rule"] for f in site.get(f"/api/job/{job['key']}").json()["findings"]) == "sync-each-write"
    path = tmp_path / "logs" / "job_1.darshan"
    kept = path.read_bytes()
    path.write_bytes(kept + b"x")  # another log now: it is not read
    gone = site.get(f"/job/{job['key']}/workload.yaml")
    assert gone.status_code == 409 and str(tmp_path) not in gone.text
    path.write_bytes(kept)
    from workalike.fleet.archive import archive

    archive(store, tmp_path / "archive", 2e9, remove=True)
    assert not path.exists()
    with_archives = TestClient(portal(store, Access(Site()), archives=tmp_path / "archive"))
    assert with_archives.get(f"/job/{job['key']}/workload.yaml").text == answer.text


def test_a_user_downloads_own_jobs_only(store: Store) -> None:
    site = TestClient(portal(store, Access(Site(), header="x-user")))
    key = TestClient(portal(store, Access(Site()))).get("/api/jobs?job_id=1").json()["jobs"][0]["key"]
    for page in ("workload.yaml", ""):
        url = f"/job/{key}/{page}".rstrip("/")
        assert site.get(url, headers={"x-user": "uid 7"}).status_code == 200
        assert site.get(url, headers={"x-user": "uid 8"}).status_code == 404
    assert f"/job/{key}" not in site.get("/finding/sync-each-write", headers={"x-user": "uid 8"}).text
    assert site.get("/users", headers={"x-user": "uid 8"}).status_code == 404
    assert "/scratch" in site.get("/fs", headers={"x-user": "uid 8"}).text
    assert "/scratch" not in site.get("/fs", headers={"x-user": "uid 9"}).text


@pytest.mark.parametrize(
    "url",
    [
        "/job/x/workload.yaml",
        f"/job/{2**63}/workload.yaml",
        "/job/1/workload.yaml",
        "/finding/%3Cscript%3E",
        "/finding/",
    ],
)
def test_strange_addresses_are_not_found(store: Store, url: str) -> None:
    answer = TestClient(portal(store, Access(Site()))).get(url)
    assert answer.status_code == 404 and "<script" not in answer.text
