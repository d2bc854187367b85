"""The portal: what it shows, to whom, and that nothing of a log acts on a page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fleets import builder, plain_log, stored
from portals import TestClient

from workalike.fleet.ingest import ingest
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store, open_or_make

SCRIPT = "<script>alert(1)</script>"


def client(store: Store, access: Access | None = None, **more: Any) -> TestClient:
    return TestClient(portal(store, access or Access(Site())), raise_server_exceptions=True, **more)


def tags_in(text: str) -> set[str]:
    found: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.add(tag)
            found.update(f"{tag} {name}" for name, _ in attrs if name.startswith("on") or name == "style")

    Reader().feed(text)
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("small")
    logs = folder / "logs"
    for job in range(60):
        plain_log(logs, job, uid=job % 3, day=job % 5)
    return stored(folder / "db", logs)[0]


@pytest.fixture(scope="module")
def site(small: Store) -> TestClient:
    return client(small)


def test_job_page_has_the_figures_of_the_papers_figure_9(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    seconds = (590.3 + 597.6) / 355.52
    log = builder(77, nprocs=2, run=166.0)
    log.posix(
        "/scratch/f", OPENS=2, READS=3, WRITES=5, BYTES_READ=590_300_000, BYTES_WRITTEN=597_600_000, SIZE_READ_1K_10K=3,
        SIZE_WRITE_1M_4M=5, F_SLOWEST_RANK_TIME=seconds,
    ).write(logs / "a.darshan")  # fmt: skip
    site = client(stored(tmp_path / "db", logs)[0])
    [job] = site.get("/api/jobs").json()["jobs"]
    assert round(job["estimated_rate"] / 1e6, 2) == 355.52 and round(job["io_percent"], 2) == 2.01
    page = site.get(f"/job/{job['key']}")
    assert page.status_code == 200 and "339 MiB/s" in page.text and "<td>2 %</td>" in page.text
    assert "1K_10K: 3" in page.text and "1M_4M: 5" in page.text
    sizes = dict(line.split(",", 1) for line in site.get(f"/job/{job['key']}/sizes.csv").text.split())
    assert sizes["1K_10K"] == "3,0" and sizes["1M_4M"] == "0,5" and sizes["size"] == "reads,writes"


def test_lists_pages_and_searches(site: TestClient) -> None:
    first = site.get("/api/jobs").json()
    second = site.get("/api/jobs", params={"page": 1}).json()
    assert (len(first["jobs"]), first["more"], len(second["jobs"]), second["more"]) == (50, True, 10, False)
    assert len({job["key"] for job in first["jobs"] + second["jobs"]}) == 60
    assert {j["user"] for j in site.get("/api/jobs?user=uid 1").json()["jobs"]} == {"uid 1"}
    assert [j["job_id"] for j in site.get("/api/jobs?job_id=17").json()["jobs"]] == [17]
    assert len(site.get("/api/jobs?since=2026-01-02&until=2026-01-03").json()["jobs"]) == 12
    for url in (
        "/",
        "/days",
        "/day/2026-01-02",
        "/user/uid 1",
        "/application/app",
        "/fs/%2Fscratch",
        "/coverage",
        "/metrics",
    ):
        page = site.get(url)
        assert page.status_code == 200, url
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert tags_in(page.text).isdisjoint({"script", "style", "iframe", "object"})
    described = site.get("/api/openapi.json").json()
    assert set(described["components"]["schemas"]["Job"]["properties"]) == set(first["jobs"][0])


@pytest.mark.parametrize(
    "url",
    ["/job/x", "/job/99999999999999999999999", "/job/-1", "/day/2026-13-45", "/user/none", "/application/%00", "/api/job/'",
     "/job/..%2f..%2fetc%2fpasswd", "/day/%3Cscript%3E"],
)  # fmt: skip
def test_what_does_not_exist_is_said(site: TestClient, url: str) -> None:
    assert site.get(url).status_code == 404


@pytest.mark.parametrize(
    "query",
    ["page=-1", "page=99999999999", "order='; DROP TABLE job", "percent=nan", "job_id=1e9", "since=yesterday", "since=9999999999d",
     "job_id=99999999999999999999999999"],
)  # fmt: skip
def test_bad_parameters_are_refused(site: TestClient, query: str) -> None:
    for path in ("/", "/api/jobs", "/jobs.csv"):
        answer = site.get(f"{path}?{query}")
        assert answer.status_code == 400 and "Traceback" not in answer.text


def test_hostile_names_are_shown_harmlessly(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(-(2**63), uid=5, exe=f"{SCRIPT.replace('/', '')} x", day=-40000)
    log.posix(f'/scratch/{SCRIPT}" onload=x', OPENS=-1, BYTES_READ=2**63 - 1, READS=-1)
    log.posix("/scratch/b<b>", BYTES_WRITTEN=4096, WRITES=1, OPENS=1)
    log.write(logs / "a.darshan")
    (tmp_path / "users.csv").write_text('5,"../../<img src=x onerror=y>"\n')
    (tmp_path / "site.yaml").write_text("users: users.csv\n")
    store = open_or_make(tmp_path / "db", "")
    ingest(store, [logs], read_site(tmp_path / "site.yaml"), tmp_path / "site.yaml", jobs=1)
    site = client(store)
    [job] = site.get("/api/jobs").json()["jobs"]
    listing = site.get("/")
    links = [part.split('"')[0] for part in listing.text.split('<a href="')[1:]]
    assert any(link.startswith("/user/..%2F") for link in links)
    for url in {
        "/",
        f"/job/{job['key']}",
        "/days",
        *(link for link in links if link.startswith(("/user", "/app"))),
    }:
        page = site.get(url)
        assert page.status_code == 200, url
        assert tags_in(page.text).isdisjoint({"script", "img", "b"})
        assert not any(tag.endswith(("onload", "onerror")) for tag in tags_in(page.text))


def test_users_see_their_own_jobs_only(small: Store) -> None:
    site = client(small, Access(Site(staff=["boss"]), header="x-user"))
    assert site.get("/").status_code == 401
    own = {"x-user": "uid 1"}
    jobs = site.get("/api/jobs", headers=own).json()["jobs"]
    assert len(jobs) == 20 and {job["user"] for job in jobs} == {"uid 1"}
    assert site.get("/api/jobs?user=uid 2", headers=own).json()["jobs"] == []
    everything = site.get("/api/jobs", headers={"x-user": "boss"}).json()["jobs"]
    other = next(job for job in everything if job["user"] == "uid 2")
    for url in (
        f"/job/{other['key']}",
        f"/api/job/{other['key']}",
        f"/job/{other['key']}/sizes.csv",
        "/user/uid 2",
        "/coverage",
    ):
        assert site.get(url, headers=own).status_code == 404
        assert "uid 2" not in site.get(url, headers=own).text or url == "/user/uid 2"
    for url in (
        "/",
        "/days",
        "/application/app",
        "/fs/%2Fscratch",
        "/day/2026-01-02",
        f"/job/{jobs[0]['key']}",
    ):
        text = site.get(url, headers=own).text
        assert "uid 2" not in text and "uid 0" not in text


def test_new_parts_appear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_log(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    monkeypatch.setattr("workalike.fleet.serve.snapshot.LOOK_EVERY_S", 0.0)
    site = client(store)
    site.get("/")
    plain_log(tmp_path / "logs", 777)
    stored(tmp_path / "db", tmp_path / "logs")
    assert [j["job_id"] for j in site.get("/api/jobs?job_id=777").json()["jobs"]] == [777]


def test_nothing_is_written_and_no_other_file_is_read(small: Store) -> None:
    from workalike.fleet.serve.snapshot import Snapshot

    before = {p: p.stat().st_mtime_ns for p in small.folder.rglob("*")}
    data = Snapshot(small)
    client(small).get("/")
    assert {p: p.stat().st_mtime_ns for p in small.folder.rglob("*")} == before
    for statement in (
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY log TO '/tmp/x.parquet'",
        "SET enable_external_access = true",
    ):
        with pytest.raises(Exception, match=r"(?i)permission|disabled|cannot|locked"):
            data.rows(statement)
