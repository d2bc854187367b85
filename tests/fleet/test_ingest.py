"""Ingestion: what is new, what is damaged, what dies, and two at once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fleets import START, builder, plain_log, query, rows_of, stored
from killed_commands import delays, run_command
from typer.testing import CliRunner

from workalike.cli import app
from workalike.errors import WorkalikeError
from workalike.fleet.compact import compact
from workalike.fleet.ingest import ingest
from workalike.fleet.site import Site, read_site, safe_expression
from workalike.fleet.store import Store, open_or_make, open_store


def test_again_is_nothing_new(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for job in range(5):
        plain_log(logs, job)
    shutil.copy(logs / "job_1.darshan", logs / "copy.darshan")
    store, outcome = stored(tmp_path / "db", logs)
    assert (outcome.found, outcome.counts["ingested"], outcome.counts["duplicate"]) == (6, 5, 1)
    before = rows_of(tmp_path / "db")
    again = ingest(store, [logs], Site(), jobs=1)
    assert (again.known, sum(again.counts.values())) == (6, 0)
    plain_log(logs, 9)
    shutil.copy(logs / "job_1.darshan", logs / "copy2.darshan")
    more = ingest(store, [logs], Site(), jobs=1)
    assert (more.known, more.counts["ingested"], more.counts["duplicate"]) == (6, 1, 1)
    assert query(store, "SELECT count(*), count(DISTINCT sha256) FROM log") == [(6, 6)]
    assert len(before["log"]) == 5


def test_a_name_that_is_no_utf8_is_known_again(tmp_path: Path) -> None:
    log = plain_log(tmp_path / "logs", 1)
    log.rename(log.with_name("job\udcff.darshan"))
    store, outcome = stored(tmp_path / "db", tmp_path / "logs")
    assert outcome.counts["ingested"] == 1
    assert query(store, "SELECT ends_with(path, 'job\\xff.darshan') FROM source") == [(True,)]
    assert ingest(store, [tmp_path / "logs"], Site(), jobs=1).known == 1


def test_views_are_for_any_client(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    plain_log(tmp_path / "logs", 1)
    stored(tmp_path / "db", tmp_path / "logs")
    with duckdb.connect(str(tmp_path / "db" / "fleet.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT bytes_written, bytes_read FROM job").fetchall()
        assert rows == [(4 << 20, 1 << 20)]
        assert connection.execute("SELECT count(*) FROM accounting").fetchone() == (0,)


def test_logs_of_a_job_are_one_job_and_a_number_used_again_is_another(tmp_path: Path) -> None:
    for name, day in (("a", 0), ("b", 0.1), ("c", 300)):
        plain_log(tmp_path / name, 5, day=day)
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in "abc":
        shutil.copy(tmp_path / name / "job_5.darshan", logs / f"{name}.darshan")
    store, _ = stored(tmp_path / "db", logs)
    assert query(store, "SELECT logs, bytes_written, start FROM job ORDER BY start") == [
        (2, 8 << 20, START),
        (1, 4 << 20, START + 300 * 86400),
    ]


def test_damaged_logs_are_set_aside_with_the_reason(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    good = plain_log(logs, 1).read_bytes()
    (logs / "short.darshan").write_bytes(good[:1000])
    (logs / "text.darshan").write_text("not a log")
    (logs / "empty.darshan").write_bytes(b"")
    store, outcome = stored(tmp_path / "db", logs)
    assert (outcome.counts["ingested"], outcome.counts["quarantined"]) == (1, 3)
    rows = query(store, "SELECT path, reason FROM source WHERE outcome = 'quarantined'")
    assert {Path(path).name for path, _ in rows} == {"short.darshan", "text.darshan", "empty.darshan"}
    assert all(reason for _, reason in rows)
    (logs / "short.darshan").write_bytes(good.replace(b"x", b"x"))  # repaired: now a copy of the first
    assert ingest(store, [logs], Site(), jobs=1).counts["duplicate"] == 1


def test_a_killed_worker_costs_no_other_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    for job in range(30):
        plain_log(logs, job)
    monkeypatch.setenv("WORKALIKE_TEST_DIE_AT", "job_17.")
    store, outcome = stored(tmp_path / "db", logs)
    assert (outcome.counts["ingested"], outcome.counts["quarantined"]) == (29, 1)
    assert query(store, "SELECT reason FROM source WHERE outcome = 'quarantined'") == [
        ("ended its reader twice (signal 9)",)
    ]


def run_ingestion(folder: Path, logs: Path, kill_after_s: float | None) -> float | None:
    """Ingest with two workers; None if that was killed amid its work, else its seconds."""
    command = [sys.executable, "-m", "workalike", "fleet", "ingest", logs, "--db", folder, "-j2", "-q"]
    return run_command(command, folder / "fleet.json", kill_after_s)


@pytest.mark.system  # starts many processes
@pytest.mark.parametrize("points", [3, pytest.param(20, marks=pytest.mark.long)])
def test_killed_and_run_again_is_the_same_database(tmp_path: Path, points: int) -> None:
    logs = tmp_path / "logs"
    for job in range(120):
        plain_log(logs, job)
    lasts_s = run_ingestion(tmp_path / "whole", logs, None)
    assert lasts_s is not None
    expected = rows_of(tmp_path / "whole")
    for point in range(points):
        for attempt, delay_s in enumerate(delays(lasts_s, (point + 0.5) / points)):
            folder = tmp_path / f"{point}-{attempt}"
            ended = run_ingestion(folder, logs, delay_s)
            stored(folder, logs)
            assert rows_of(folder) == expected
            check_nothing_left(folder)
            if ended is None:
                break
        assert ended is None, "the command ended before each kill"


def check_nothing_left(folder: Path) -> None:
    """Each part on disk counts, and no scratch files are left."""
    counted = {part.part for part in open_store(folder).parts}
    assert {f"{p.parent.name}/{p.name}" for p in (folder / "parts").glob("*/*")} == counted
    assert not list((folder / "staging").iterdir())
    assert {p.name for p in folder.iterdir()} <= {
        "fleet.json", "manifest.jsonl", "parts", "staging", "past_finding.parquet", "fleet.duckdb", "lock",
    }  # fmt: skip


DIES = """
import os, sys
from pathlib import Path
from workalike.fleet import compact, ingest, store
from workalike.fleet.site import Site
place, folder, logs = sys.argv[1:]
def die(*args, **more): os.kill(os.getpid(), 9)
opened = store.open_or_make(Path(folder), "")
if place == "before the line":
    store.Store._append = die
if place == "before the views":
    store.Store._write_views = die
if place == "amid the views":
    store.views.create = die
if place == "amid the line":
    def half(self, line):
        with (self.folder / "manifest.jsonl").open("ab") as file:
            file.write(line.encode()[: len(line) // 2])
        die()
    store.Store._append = half
if place.startswith("compact"):
    if place == "compact before the line":
        store.Store._append = die
    if place == "compact before removal":
        compact.remove_uncounted = die
    compact.compact(opened, grace_s=0.0)
else:
    ingest.ingest(opened, [Path(logs)], Site(), jobs=1)
"""


@pytest.mark.system  # starts many processes
@pytest.mark.parametrize("place", ["before the line", "amid the line", "before the views", "amid the views"])
def test_killed_at_each_step_of_a_commit(tmp_path: Path, place: str) -> None:
    logs = tmp_path / "logs"
    for job in range(6):
        plain_log(logs, job)
    stored(tmp_path / "whole", logs)
    done = subprocess.run([sys.executable, "-c", DIES, place, tmp_path / "killed", logs])
    assert done.returncode == -9
    if place == "before the line":
        assert list((tmp_path / "killed" / "parts").glob("*/*"))  # what the next ingestion has to remove
    plain_log(logs, 6)
    (logs / "job_6.darshan").rename(tmp_path / "later")  # other chunks than before: other names of parts
    stored(tmp_path / "killed", logs)
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "whole")
    check_nothing_left(tmp_path / "killed")


def small_parts(tmp_path: Path) -> Store:
    """A database of several small parts of two months, two of them without logs."""
    for job in range(6):
        logs = tmp_path / "logs" / str(job)
        plain_log(logs, job, day=20 * (job % 3))
        (logs / "bad.darshan").write_text(str(job))
        store, _ = stored(tmp_path / "db", tmp_path / "logs")
    return store


@pytest.mark.system  # starts many processes
def test_compaction_changes_no_row(tmp_path: Path) -> None:
    store = small_parts(tmp_path)
    before, parts = rows_of(tmp_path / "db"), len(store.parts)
    reader = store.connect()  # which goes on reading parts that were merged
    done = compact(store)
    assert (done.removed, done.orphans) == (0, 0) and done.merged > done.into > 0
    assert len(store.parts) == parts - done.merged + done.into < parts
    assert rows_of(tmp_path / "db") == before
    assert reader.execute("SELECT count(*) FROM log").fetchone() == (6,)
    assert query(store, "SELECT DISTINCT part IN (SELECT part FROM log) FROM log") == [(True,)]
    assert {row[0] for row in query(store, "SELECT part FROM log")} <= {part.part for part in store.parts}
    assert compact(store, grace_s=0.0).removed == done.merged
    check_nothing_left(tmp_path / "db")
    assert rows_of(tmp_path / "db") == before and compact(store).into == 0
    assert sum(ingest(store, [tmp_path / "logs"], Site(), jobs=1).counts.values()) == 0


@pytest.mark.system  # starts many processes
@pytest.mark.parametrize("place", ["compact before the line", "compact before removal"])
def test_killed_while_compacting(tmp_path: Path, place: str) -> None:
    small_parts(tmp_path)
    before = rows_of(tmp_path / "db")
    assert subprocess.run([sys.executable, "-c", DIES, place, tmp_path / "db", "-"]).returncode == -9
    assert rows_of(tmp_path / "db") == before
    store = open_store(tmp_path / "db")
    compact(store, grace_s=0.0)
    compact(store, grace_s=0.0)
    assert rows_of(tmp_path / "db") == before
    check_nothing_left(tmp_path / "db")


@pytest.mark.system  # starts many processes
def test_the_command_that_compacts(tmp_path: Path) -> None:
    small_parts(tmp_path)
    command = [sys.executable, "-m", "workalike", "fleet", "compact", "--db", tmp_path / "db", "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert said["merged"] > said["into"] > 0


def test_an_unfinished_line_and_an_unnamed_part_do_not_count(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    plain_log(logs, 1)
    stored(tmp_path / "db", logs)
    manifest = tmp_path / "db" / "manifest.jsonl"
    line = manifest.read_text()
    manifest.write_text(line + line[: len(line) // 2])
    shutil.copytree(
        next((tmp_path / "db" / "parts").glob("*/*")), tmp_path / "db" / "parts" / "2026-01" / "unnamed"
    )
    plain_log(logs, 2)
    stored(tmp_path / "db", logs)
    assert query(open_store(tmp_path / "db"), "SELECT job_id FROM log ORDER BY 1") == [(1,), (2,)]


def test_two_ingestions_at_once_lose_nothing(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for job in range(60):
        plain_log(logs, job)
    command = [
        sys.executable,
        "-m",
        "workalike",
        "fleet",
        "ingest",
        str(logs),
        "--db",
        str(tmp_path / "db"),
        "-j",
        "1",
        "-q",
    ]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    rows = query(open_store(tmp_path / "db"), "SELECT job_id FROM log ORDER BY 1")
    assert rows == [(job,) for job in range(60)]


def test_filters_and_since(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for job, (uid, exe, day) in enumerate(
        [(1, "vasp_std", 0), (2, "vasp_std", 9), (1, "bash", 9), (1, "vasp_gam", 9)]
    ):
        plain_log(logs, job, uid=uid, exe=f"/apps/{exe} -x", day=day)
    (tmp_path / "users.csv").write_text("uid,name\n1,ada\n2,root\n")
    (tmp_path / "site.yaml").write_text(
        "name: here\nusers: users.csv\nfilters: {not_users: ^root$, applications: vasp}\n"
        "applications: [{name: VASP, programs: ^vasp_}]\n"
    )
    file = tmp_path / "site.yaml"
    with pytest.raises(WorkalikeError):
        read_site(tmp_path / "none.yaml")
    site = read_site(file)
    store = open_or_make(tmp_path / "db", "")
    outcome = ingest(store, [logs], site, file, jobs=1)
    assert outcome.counts["filtered"] == 4  # the filter is for `VASP`, not the programs
    file.write_text(file.read_text().replace("applications: vasp}", "applications: VASP}"))
    first = START + 86400
    outcome = ingest(store, [logs], read_site(file).since(first), file, since=first, jobs=1)
    assert (outcome.counts["filtered"], outcome.counts["ingested"]) == (3, 1)
    assert query(store, 'SELECT "user", application, job_id FROM log') == [("ada", "VASP", 3)]


def test_a_since_that_moves_reads_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    for job, day in enumerate((0, 1, 8, 9)):
        plain_log(logs, job, day=day)
    said = []
    for days in (10, 10.5, 9.5):  # the clock of the last one was set back
        monkeypatch.setattr(time, "time", lambda now=START + 86400 * days: now)
        result = CliRunner().invoke(
            app, ["fleet", "ingest", str(logs), "--db", str(tmp_path / "db"), "--since", "7d", "--json"]
        )
        said.append(json.loads(result.output))
    assert [(s["known"], s["ingested"], s["filtered"]) for s in said] == [(0, 2, 2), (4, 0, 0), (4, 0, 0)]
    store = open_store(tmp_path / "db")
    earlier = ingest(store, [logs], Site().since(START + 86400), since=START + 86400, jobs=1)
    assert (earlier.known, earlier.counts["ingested"]) == (3, 1)
    everything = ingest(store, [logs], Site(), jobs=1)
    assert (everything.known, everything.counts["ingested"]) == (3, 1)


@pytest.mark.parametrize(
    "text",
    [
        "(a+)+b",
        "(a|a)*b",
        r"(a)\1",
        "a*a*a*a*b",
        "a?" * 20 + "a" * 20,
        "(",
        "(?P<x>a)(?P=x)",
        "x" * 300,
        "(a?){30}",
    ],
)
def test_catastrophic_expressions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expression"):
        safe_expression(text)


@pytest.mark.parametrize("text", [r"^root$", "(?i)vasp|lammps", r"^\d+-[a-z_]+\.x$", r"[)*+]{2}"])
def test_usual_expressions_are_taken(text: str) -> None:
    assert safe_expression(text).pattern == text


def test_bad_site_files_say_where(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    for text, place in (("filters: {users: '(a+)+'}", "filters.users"), ("nam: x", "nam"), ("[", "not YAML")):
        file.write_text(text)
        with pytest.raises(WorkalikeError, match=place):
            read_site(file)


def test_users_are_hidden_by_a_key(tmp_path: Path) -> None:
    plain_log(tmp_path / "logs", 1, uid=1)
    (tmp_path / "users.csv").write_text("1,ada lovelace\n")
    (tmp_path / "key").write_text("0123456789abcdef")
    (tmp_path / "site.yaml").write_text("users: users.csv\nkey: key\n")
    site = read_site(tmp_path / "site.yaml")
    store = open_or_make(tmp_path / "db", site.key_mark)
    ingest(store, [tmp_path / "logs"], site, tmp_path / "site.yaml", jobs=1)
    [(user, pattern)] = query(
        store, 'SELECT "user", max(pattern) FROM log JOIN family USING (log_id) GROUP BY 1'
    )
    assert user.startswith("user-") and pattern == ""
    (tmp_path / "logs" / "job_1.darshan").unlink()
    held = b"".join(p.read_bytes() for p in (tmp_path / "db").rglob("*") if p.is_file())
    assert b"lovelace" not in held and b"0123456789abcdef" not in held and b"in.dat" not in held
    with pytest.raises(WorkalikeError, match="another key"):
        open_or_make(tmp_path / "db", "")


def test_other_versions_are_refused_plainly(tmp_path: Path) -> None:
    open_or_make(tmp_path / "db", "")
    for version, word in ((0, "an older"), (99, "another")):
        (tmp_path / "db" / "fleet.json").write_text(json.dumps({"workalike_fleet": version}))
        with pytest.raises(WorkalikeError, match=f"of version {version}, {word}"):
            open_store(tmp_path / "db")
    (tmp_path / "db" / "fleet.json").write_text("{")
    with pytest.raises(WorkalikeError, match="not a database"):
        open_store(tmp_path / "db")
    with pytest.raises(WorkalikeError, match="holds no database"):
        open_store(tmp_path)


def test_hostile_counters_are_bounded(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(1, exe="<script>alert(1)</script> --x")
    log.posix(
        "/scratch/a\x01<b>",
        OPENS=-5,
        READS=2**62,
        BYTES_READ=-(2**63),
        BYTES_WRITTEN=2**63 - 1,
        F_WRITE_TIME=float("nan"),
    )
    log.posix("/scratch/b", MAX_BYTE_READ=-7, BYTES_READ=2**50, F_READ_TIME=float("inf"), SIZE_WRITE_0_100=-1)
    log.write(logs / "a.darshan")
    store, outcome = stored(tmp_path / "db", logs)
    assert outcome.counts["ingested"] == 1
    row = query(store, "SELECT bytes_read, bytes_written, reads, read_s, write_s, opens FROM log")[0]
    assert row == (2**50, 0, 0, 0.0, 0.0, 0)


def test_the_command_line(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    plain_log(logs, 1)
    run = [sys.executable, "-m", "workalike", "fleet"]
    listing = tmp_path / "list.txt"
    listing.write_text("# logs\nlogs/job_1.darshan\nlogs/gone.darshan\n")
    done = subprocess.run(
        [*run, "ingest", listing, "--db", tmp_path / "db", "--json"], capture_output=True, text=True
    )
    said = json.loads(done.stdout)
    assert (done.returncode, said["ingested"], said["unreadable"]) == (3, 1, 1)
    done = subprocess.run(
        [*run, "report", "--db", tmp_path / "db", "--json"], capture_output=True, text=True, check=True
    )
    assert [table["total"] for table in json.loads(done.stdout)["paper"]["tables"]] == [1, 1, 1]
    (tmp_path / "none").mkdir()
    done = subprocess.run(
        [*run, "ingest", tmp_path / "none", "--db", tmp_path / "db2"], capture_output=True, text=True
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert not list((tmp_path / "db" / "staging").iterdir())
