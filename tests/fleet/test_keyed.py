"""A database with a key: no name of a log is in any byte of it, but in the file of paths."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest
from fleets import START, builder, query, rows_of
from older_databases import as_version_2
from portals import TestClient

from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.fleet.archive import archive, restore
from workalike.fleet.history.runs import earlier_runs, run_of
from workalike.fleet.ingest import Outcome, ingest
from workalike.fleet.log_paths import PATHS
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store, open_store
from workalike.fleet.upgrade import open_to_write

CANARY = "zqcanary"
JOBS = 3


def a_log(folder: Path, job: int) -> Path:
    """A log with the canary in each of its texts, in which many rules find something."""
    mounts = (("lustre", f"/{CANARY}-scratch"), (f"{CANARY}fs", f"/home/{CANARY}"), ("nfs", "/"))
    log = builder(
        job,
        day=job / 100,
        uid=job,
        exe=f"/home/{CANARY}/bin/{CANARY}-app --{CANARY}",
        metadata={"lib_ver": f"3.4.0-{CANARY}", "h": f"{CANARY}=1", CANARY: CANARY},
        mounts=mounts,
        nprocs=200,
    )
    home, scratch = f"/home/{CANARY}/out-{CANARY}.dat", f"/{CANARY}-scratch/{CANARY}.h5"
    calls = {"OPENS": 4, "WRITES": 40000, "FSYNCS": 40000, "READS": 5000, "SEEKS": 30000}
    sizes = {"BYTES_WRITTEN": 40000 * 4096, "SIZE_WRITE_1K_10K": 40000, "SIZE_READ_1K_10K": 5000}
    more = {"BYTES_READ": 5000 * 4096, "MAX_BYTE_READ": 4096, "MAX_BYTE_WRITTEN": 40000 * 4096}
    spent = {"F_WRITE_TIME": 900.0, "F_READ_TIME": 200.0, "F_META_TIME": 8000.0, "F_SLOWEST_RANK_TIME": 400.0}
    log.posix(home, **calls, **sizes, **more, **spent)
    log.posix(scratch, **calls, **sizes, **more, **spent)
    log.posix("<STDOUT>", OPENS=1, WRITES=1, BYTES_WRITTEN=7)
    log.stdio(f"/home/{CANARY}/{CANARY}.log", OPENS=4, WRITES=9000, BYTES_WRITTEN=2**30, F_WRITE_TIME=300.0)
    log.mpiio(scratch, INDEP_OPENS=4, INDEP_WRITES=40000, BYTES_WRITTEN=40000 * 4096, F_WRITE_TIME=900.0)
    log.h5d(f"{scratch}:/{CANARY}/data", file=scratch, OPENS=4, WRITES=4, BYTES_WRITTEN=40000 * 4096)
    log.lustre(scratch, stripe_size=1 << 20, osts=(0, 1, 2))
    [lustre] = log._records["LUSTRE"]
    log._records["LUSTRE"] = [lustre[:88] + CANARY.encode().ljust(16, b"\0") + lustre[104:]]
    for rank in range(4):
        log.dxt_posix(home, rank, writes=[(4096 * rank, 4096, 1.0, 90.0)], hostname=f"{CANARY}-node{rank}")
    folder.mkdir(parents=True, exist_ok=True)
    return log.write(folder / f"{CANARY}_app_id{job}.darshan")


def damaged(folder: Path, log: Path) -> None:
    """Logs that are set aside: no log, cut, of another version, with a damaged region; and one without read rights."""
    data = log.read_bytes()
    (folder / f"{CANARY}-text.darshan").write_text(CANARY * 50)
    (folder / f"{CANARY}-cut.darshan").write_bytes(data[:-40])
    (folder / f"{CANARY}-version.darshan").write_bytes(CANARY.encode()[:8] + data[8:])
    (folder / f"{CANARY}-region.darshan").write_bytes(data[:1500] + CANARY.encode() + data[1508:])
    (folder / f"{CANARY}-die.darshan").write_bytes(data + b"x")


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with logs, tables and a site file with a key, all of them with canaries, and no database."""
    folder = tmp_path_factory.mktemp("centre") / f"{CANARY}-home"
    logs = folder / "logs" / CANARY
    for job in range(1, JOBS + 1):
        path = a_log(logs, job)
        path.with_name(f"{path.name}.extra.json").write_text(json.dumps({CANARY: CANARY}))
    damaged(logs, path)
    users = "".join(f"{job},{CANARY}{job}\n" for job in range(1, JOBS + 1))
    (folder / "users.csv").write_text(users)
    (folder / "key").write_text("0123456789abcdef")
    (folder / "site.yaml").write_text(f"name: centre\nusers: users.csv\nkey: key\nstaff: [{CANARY}-boss]\n")
    (folder / "jobs.csv").write_text(
        f"job_id,user,start,end,nodes\n1,{CANARY}1,{START},{START + 600},2\n9,{CANARY}9,{START},{START + 600},1\n"
    )
    (folder / "load.csv").write_text(
        "mount,minute,bytes_read,bytes_written,operations,fullness\n"
        f"/{CANARY}-scratch,{START + 60},1,2,3,0.5\n"
    )
    return folder


def command(*words: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workalike", "fleet", *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


def ingested(centre: Path, db: Path) -> subprocess.CompletedProcess[str]:
    return command(
        "ingest", centre / "logs", "--db", db, "--site", centre / "site.yaml", "-j", 1,
        "--accounting", centre / "jobs.csv", "--server-load", centre / "load.csv",
        WORKALIKE_TEST_DIE_AT=f"{CANARY}-die",
    )  # fmt: skip


@pytest.fixture(scope="module")
def keyed(centre: Path) -> Path:
    done = ingested(centre, centre / "db")
    assert done.returncode == 3, done.stderr
    assert done.stderr.count(CANARY) >= 5  # who ingests sees which logs are damaged
    return centre / "db"


def with_canary(folder: Path) -> set[str]:
    """The files below a folder that have the canary in their bytes, values, metadata or SQL; but the file of paths."""
    found = set()
    for path in folder.rglob("*"):
        if CANARY in str(path.relative_to(folder)):
            found.add(str(path))
        if not path.is_file() or path.name == PATHS:
            continue
        held = path.read_bytes()
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
            held += f"{table.to_pylist()} {table.schema.metadata} {pyarrow.parquet.read_metadata(path).metadata}".encode()
        if path.suffix == ".duckdb":
            with duckdb.connect(str(path), read_only=True) as connection:
                held += str(connection.execute("SELECT sql, comment FROM duckdb_views()").fetchall()).encode()
        if CANARY.encode() in held.lower():
            found.add(str(path.relative_to(folder)))
    return found


def test_no_byte_of_the_database_has_a_name(centre: Path, keyed: Path) -> None:
    assert query(open_store(keyed), "SELECT count(*) FROM log") == [(JOBS,)]
    outcomes = query(open_store(keyed), "SELECT outcome, count(*) FROM source GROUP BY 1 ORDER BY 1")
    assert outcomes == [("ingested", JOBS), ("quarantined", 5)]
    named = "SELECT count(*) FROM finding WHERE evidence LIKE '%their file system is other%'"
    assert query(open_store(keyed), named) != [(0,)]
    assert with_canary(keyed) == set()
    assert command("compact", "--db", keyed, "--grace", 0).returncode == 0
    assert with_canary(keyed) == set()
    assert stat.S_IMODE((keyed / PATHS).stat().st_mode) == 0o600
    assert (keyed / PATHS).read_text().count(CANARY) >= JOBS
    report = command("report", "--db", keyed, "--json", "--notify", "cat", "--above", 0)
    assert report.returncode == 0 and CANARY not in report.stdout
    assert with_canary(keyed) == set()


def test_file_systems_and_ids_are_still_told_apart(centre: Path, keyed: Path) -> None:
    store, site = open_store(keyed), read_site(centre / "site.yaml")
    mount = site.shown_mount(f"/{CANARY}-scratch")
    assert query(store, "SELECT count(DISTINCT mount), count(DISTINCT fs_type) FROM log_fs") == [(2, 2)]
    assert query(store, "SELECT DISTINCT mount FROM server_load") == [(mount,)]
    assert query(store, f"SELECT count(*) FROM log_fs WHERE mount = '{mount}'") == [(JOBS,)]
    assert query(store, "SELECT DISTINCT mount FROM target") == [(mount,)]
    assert query(store, "SELECT count(DISTINCT record_id) FROM file") == [(3,)]
    ids = set(open_log(centre / "logs" / CANARY / f"{CANARY}_app_id1.darshan").names)
    assert ids.isdisjoint(number % 2**64 for (number,) in query(store, "SELECT record_id FROM file"))


def test_names_that_the_site_lists_stay(centre: Path) -> None:
    more = f"applications: [{{name: App, programs: {CANARY}}}]\nmounts: [/{CANARY}-scratch]\n"
    (centre / "listed.yaml").write_text((centre / "site.yaml").read_text() + more)
    site = read_site(centre / "listed.yaml")
    store = open_to_write(centre / "listed", site)
    ingest(
        store, [centre / "logs" / CANARY / f"{CANARY}_app_id1.darshan"], site, centre / "listed.yaml", jobs=1
    )
    assert query(store, "SELECT application FROM log") == [("App",)]
    assert (f"/{CANARY}-scratch",) in query(store, "SELECT DISTINCT mount FROM log_fs")


def test_archives_name_no_log(centre: Path, keyed: Path, tmp_path: Path) -> None:
    done = archive(open_store(keyed), tmp_path, 2e9)
    assert (done.packed, done.unplaced) == (JOBS, 0)
    [file] = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as tar:
        assert {Path(member.name).name for member in tar} == {"log.darshan"}
        assert CANARY.encode() not in b"".join(member.tobuf() for member in tar)
    [(sha256,)] = query(open_store(keyed), "SELECT sha256 FROM log WHERE job_id = 1")
    restore(tmp_path, sha256, tmp_path / "back.darshan")
    assert CANARY in open_log(tmp_path / "back.darshan").job.exe


def test_old_members_of_an_archive_lose_their_names(centre: Path, keyed: Path, tmp_path: Path) -> None:
    paths = sorted((centre / "logs" / CANARY).glob("*_app_id*.darshan"))
    with_names = open_to_write(tmp_path / "db", Site())
    ingest(with_names, paths[:1], Site(), jobs=1)
    archive(with_names, tmp_path / "archive", 2e9)
    assert archive(open_store(keyed), tmp_path / "archive", 2e9).packed == JOBS - 1
    [file] = (tmp_path / "archive").glob("*.tar.gz")
    with tarfile.open(file) as tar:
        assert {Path(name).name for name in tar.getnames()} == {"log.darshan"}


def test_the_portal_shows_no_name_and_has_workloads(centre: Path, keyed: Path) -> None:
    site = TestClient(portal(open_store(keyed), Access(read_site(centre / "site.yaml"))))
    jobs = site.get("/api/jobs").json()["jobs"]
    for url in ("/", "/users", "/applications", "/fs", "/metrics", f"/job/{jobs[0]['key']}"):
        answer = site.get(url)
        assert answer.status_code == 200 and CANARY not in answer.text, url
    assert site.get(f"/job/{jobs[0]['key']}/workload.yaml").status_code == 200


@pytest.fixture
def left(keyed: Path, tmp_path: Path) -> Store:
    """A copy of the database without its file of paths."""
    shutil.copytree(keyed, tmp_path / "left", ignore=shutil.ignore_patterns(PATHS))
    return open_store(tmp_path / "left")


def test_without_the_paths_all_else_works(centre: Path, left: Store, tmp_path: Path) -> None:
    assert command("report", "--db", left.folder).returncode == 0
    assert command("compact", "--db", left.folder).returncode == 0
    site = TestClient(portal(left, Access(read_site(centre / "site.yaml"))))
    key = site.get("/api/jobs").json()["jobs"][0]["key"]
    assert site.get(f"/job/{key}").status_code == 200
    answer = site.get(f"/job/{key}/workload.yaml")
    assert answer.status_code == 409 and "the paths of its logs cannot be read: No such file" in answer.text
    for words in (["archive", "-o", tmp_path / "a"], ["suite", "-o", tmp_path / "s", "--k", 1]):
        done = command(*words, "--db", left.folder)
        assert done.returncode == 2 and "paths of its logs cannot be read" in done.stderr, done.stderr
    with pytest.raises(WorkalikeError, match="has a key, and the paths"):
        archive(left, tmp_path / "a", 2e9)


def test_archives_serve_workloads_without_the_paths(
    centre: Path, keyed: Path, left: Store, tmp_path: Path
) -> None:
    archive(open_store(keyed), tmp_path / "a", 2e9)
    access = Access(read_site(centre / "site.yaml"))
    site = TestClient(portal(left, access, archives=tmp_path / "a"))
    key = site.get("/api/jobs").json()["jobs"][0]["key"]
    assert site.get(f"/job/{key}/workload.yaml").status_code == 200


def test_an_ingestion_learns_the_paths_again(centre: Path, left: Store, tmp_path: Path) -> None:
    site = read_site(centre / "site.yaml")
    first = centre / "logs" / CANARY / f"{CANARY}_app_id1.darshan"
    outcome: Outcome = ingest(left, [first], site, centre / "site.yaml", jobs=1)
    assert (outcome.found, outcome.known) == (1, 1)
    done = archive(left, tmp_path / "a", 2e9)
    assert (done.packed, done.unplaced) == (1, JOBS - 1)


@pytest.mark.parametrize(
    "text", ["", "[", '{"a": 1}\n', "[" * 5000 + "\n", '["log-0", 7]\n', "\xff\n", "x" * 99999]
)
def test_a_damaged_file_of_paths_is_read_past(centre: Path, left: Store, tmp_path: Path, text: str) -> None:
    site = read_site(centre / "site.yaml")
    (left.folder / PATHS).write_bytes(text.encode("latin-1"))
    assert archive(left, tmp_path / "a", 2e9).unplaced == JOBS
    ingest(left, [centre / "logs"], site, centre / "site.yaml", jobs=1)
    assert archive(left, tmp_path / "a", 2e9).packed == JOBS
    assert stat.S_IMODE((left.folder / PATHS).stat().st_mode) == 0o600


def test_a_link_in_place_of_the_paths_is_refused(centre: Path, left: Store, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    (left.folder / PATHS).symlink_to(tmp_path / "other")
    with pytest.raises(WorkalikeError, match="cannot write"):
        ingest(left, [centre / "logs"], read_site(centre / "site.yaml"), centre / "site.yaml", jobs=1)
    assert (tmp_path / "other").read_text() == ""


def test_views_are_for_any_client_in_the_folder(keyed: Path) -> None:
    code = "import duckdb; print(duckdb.connect('fleet.duckdb', read_only=True).sql('SELECT count(*) FROM log').fetchall())"
    done = subprocess.run([sys.executable, "-c", code], cwd=keyed, capture_output=True, text=True)
    assert done.stdout.strip() == f"[({JOBS},)]", done.stderr


def test_history_of_a_log_that_is_not_there_says_so(centre: Path, keyed: Path, tmp_path: Path) -> None:
    known = run_of(open_log(centre / "logs" / CANARY / f"{CANARY}_app_id{JOBS}.darshan"))
    assert len(earlier_runs(known, keyed).runs) >= 1
    other = run_of(open_log(a_log(tmp_path, 77)))
    with pytest.raises(WorkalikeError, match="has a key and so does not hold the names of programs"):
        earlier_runs(other, keyed)


def test_an_older_database_with_a_key_loses_its_names_and_nothing_else(
    centre: Path, keyed: Path, tmp_path: Path
) -> None:
    site = read_site(centre / "site.yaml")
    plain = centre / "plain.yaml"
    plain.write_text("name: centre\nusers: users.csv\n")
    done = command(
        "ingest", centre / "logs", "--db", tmp_path / "db", "--site", plain, "-j", 1,
        "--accounting", centre / "jobs.csv", "--server-load", centre / "load.csv",
        WORKALIKE_TEST_DIE_AT=f"{CANARY}-die",
    )  # fmt: skip
    assert done.returncode == 3
    as_version_2(open_store(tmp_path / "db"), site)
    results = tmp_path / "db" / "array" / "4"
    results.mkdir(parents=True)
    (results / "0.json").write_text(CANARY)
    assert with_canary(tmp_path / "db")
    with pytest.raises(WorkalikeError, match=r"of version 2, an older one .* next ingestion"):
        open_store(tmp_path / "db")
    done = ingested(centre, tmp_path / "db")
    assert done.returncode == 0, done.stderr  # nothing was read again
    assert with_canary(tmp_path / "db") == set()
    now, fresh = rows_of(tmp_path / "db"), rows_of(keyed)
    for table in fresh:
        if table == "finding":  # whose last column, the advice, was not stored for some rules
            pairs = zip(now[table], fresh[table], strict=True)
            assert all(old[:-1] == new[:-1] and old[-1] in (None, new[-1]) for old, new in pairs)
        elif table != "source":
            assert now[table] == fresh[table], table
    assert [row[:5] for row in now["source"]] == [row[:5] for row in fresh["source"]]
    for table in ("accounting", "server_load"):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert query(open_store(tmp_path / "db"), sql) == query(open_store(keyed), sql)
    assert archive(open_store(tmp_path / "db"), tmp_path / "a", 2e9).packed == JOBS
