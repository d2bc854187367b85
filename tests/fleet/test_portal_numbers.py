"""The numbers of the portal's pictures, and the load of file systems while a job ran."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fleets import START, builder, plain_log, stored
from portals import TestClient

from workalike.errors import WorkalikeError
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site
from workalike.fleet.store import open_or_make
from workalike.fleet.tables_in import read_accounting, read_server_load


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder = tmp_path_factory.mktemp("numbers")
    for job in range(4):
        plain_log(folder / "logs", job, uid=job % 2, day=job)
    single = builder(9, uid=7)
    single.posix(
        "/scratch/one.dat",
        OPENS=1,
        WRITES=8,
        BYTES_WRITTEN=8 << 20,
        F_OPEN_START_TIMESTAMP=10.0,
        F_WRITE_START_TIMESTAMP=10.0,
        F_WRITE_END_TIMESTAMP=14.0,
        F_CLOSE_END_TIMESTAMP=14.0,
        F_WRITE_TIME=1.0,
    ).write(folder / "logs" / "single.darshan")
    store, _ = stored(folder / "db", folder / "logs")
    (folder / "jobs.csv").write_text(f"job_id,user,start,end,nodes\n1,u,{START + 86400},{START + 90000},2\n")
    read_accounting(store, folder / "jobs.csv", Site())
    minutes = [datetime.fromtimestamp(START + 60 * i, UTC) for i in range(-5, 20)]
    load = {
        "minute": minutes,
        "mount": ["/scratch"] * 25,
        "bytes_read": [60.0 * 2**20] * 25,
        "bytes_written": [0] * 24 + [2**50],
        "operations": [600] * 25,
        "fullness": [None] * 10 + [0.5] * 15,
    }
    parquet.write_table(pa.table(load), folder / "load.parquet")
    assert read_server_load(store, folder / "load.parquet", Site()).rows == 25
    assert read_server_load(store, folder / "load.parquet", Site()).rows == 0
    return TestClient(
        portal(store, Access(Site(staff=["boss"]), header="x-user")), headers={"x-user": "boss"}
    )


def table(site: TestClient, url: str) -> list[dict[str, str]]:
    answer = site.get(url)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text)))


def key_of(site: TestClient, job: int) -> str:
    [found] = site.get(f"/api/jobs?job_id={job}").json()["jobs"]
    return str(found["key"])


def test_each_picture_links_to_its_numbers(site: TestClient) -> None:
    pages = {
        f"/job/{key_of(site, 0)}": {"sizes", "timeline", "runs", "load"},
        "/days": {"days"},
        "/user/uid 0": {"days"},
        "/coverage": {"coverage"},
    }
    for url, names in pages.items():
        links = [part.split('"')[0] for part in site.get(url).text.split('href="')[1:]]
        csvs = [link.replace("&amp;", "&") for link in links if ".csv" in link and "jobs.csv" not in link]
        assert {link.partition(".csv")[0].rpartition("/")[2] for link in csvs} == names
        assert all(table(site, link) for link in csvs)


def test_the_numbers_are_those_of_the_logs(site: TestClient) -> None:
    key = key_of(site, 0)
    by_day = table(site, "/days.csv")
    assert [(float(r["day"]), r["jobs"]) for r in by_day][-1] == (START, "2")
    assert [float(r["bytes_written"]) for r in table(site, "/days.csv?user=uid 0")] == [4 << 20] * 2
    assert [int(r["job_id"]) for r in table(site, f"/job/{key}/runs.csv")] == [2, 0]
    assert sum(int(r["bytes_written"]) for r in table(site, f"/job/{key}/timeline.csv")) == 4 << 20
    assert [(r["jobs"], float(r["jobs_percent"])) for r in table(site, "/coverage.csv")] == [("1", 100.0)]


def test_the_load_during_a_job_is_on_its_page(site: TestClient) -> None:
    key = key_of(site, 0)  # ten minutes from START, in the first and last of which it is only a moment
    rows = table(site, f"/job/{key}/load.csv")
    assert [float(r["minute"]) for r in rows] == [START + 60 * i for i in range(11)]
    text = site.get(f"/job/{key}").text
    assert "Load of the servers" in text and "1 MiB/s" in text and "50 %" in text
    assert "Load of the servers" not in site.get(f"/job/{key_of(site, 3)}").text


def test_the_file_bandwidth_of_a_single_file(site: TestClient) -> None:
    assert "<td>2 MiB/s</td>" in site.get(f"/job/{key_of(site, 9)}").text


def test_users_get_the_numbers_of_their_own_jobs(site: TestClient) -> None:
    own = {"x-user": "uid 1"}
    key = key_of(site, 0)
    for url in (f"/job/{key}/{name}.csv" for name in ("sizes", "timeline", "runs", "load")):
        assert site.get(url, headers=own).status_code == 404
    assert site.get("/coverage.csv", headers=own).status_code == 404
    assert len(site.get("/days.csv?user=uid 0", headers=own).text.splitlines()) == 1
    assert len(site.get("/days.csv", headers=own).text.splitlines()) == 3


def test_a_damaged_table_of_load_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"PAR1 and no more")
    with pytest.raises(WorkalikeError, match="damaged"):
        read_server_load(open_or_make(tmp_path / "db", ""), tmp_path / "x", Site())
