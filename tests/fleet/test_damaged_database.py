"""Damaged and hostile files of a database: every command ends with a result or one error that names the database."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pyarrow
import pytest
from fleets import plain_log, stored
from portals import TestClient
from pyarrow import parquet
from typer.testing import CliRunner

from workalike.cli import app
from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.schema import OF_LOGS
from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site
from workalike.fleet.store import open_store

COMMANDS = {
    "report": ["fleet", "report", "--db", "{db}"],
    "suite": ["fleet", "suite", "--db", "{db}", "-o", "{out}"],
    "archive": ["fleet", "archive", "--db", "{db}", "-o", "{out}"],
    "compact": ["fleet", "compact", "--db", "{db}"],
    "ingest": ["fleet", "ingest", "{logs}", "--db", "{db}", "--quiet"],
    "history": ["diagnose", "{log}", "--history", "{db}"],
}


def truncated(path: Path, dice: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: dice.randrange(path.stat().st_size)])


def overwritten(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = dice.randrange(len(data))
    data[at : at + 40] = dice.randbytes(len(data[at : at + 40]))
    path.write_bytes(data)


def emptied(path: Path, dice: random.Random) -> None:
    path.write_bytes(b"")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    for job in range(1, 8):
        plain_log(folder / "logs", job, day=float(job))
    stored(folder / "db", folder / "logs")
    return folder


def run(made: Path, db: Path, command: str) -> None:
    """Run a command on a database; it ends by a result or by an error of ours in one line."""
    values = {
        "db": db,
        "out": db.parent / "out",
        "logs": made / "logs",
        "log": made / "logs" / "job_7.darshan",
    }
    done = CliRunner().invoke(app, [word.format(**values) for word in COMMANDS[command]])
    if done.exit_code in (0, 3):
        return
    assert isinstance(done.exception, WorkalikeError), repr(done.exception)
    assert done.exception.kind in (ErrorKind.BAD_FILE, ErrorKind.UNSUPPORTED_LOG, ErrorKind.USAGE)
    assert "\n" not in done.exception.one_line()


@pytest.mark.parametrize("damage", [truncated, overwritten, emptied])
@pytest.mark.parametrize("table", OF_LOGS)
def test_no_command_ends_in_a_traceback(made: Path, tmp_path: Path, table: str, damage: object) -> None:
    dice = random.Random(f"{table} {damage}")
    for command in COMMANDS:
        db = tmp_path / command / "db"
        shutil.copytree(made / "db", db)
        for path in db.rglob(f"{table}.parquet"):
            damage(path, dice)  # type: ignore[operator]
        run(made, db, command)


def test_a_truncated_table_is_named(made: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    shutil.copytree(made / "db", db)
    for path in db.rglob("log.parquet"):
        path.write_bytes(path.read_bytes()[:50])
    done = CliRunner().invoke(app, ["fleet", "report", "--db", str(db)])
    assert isinstance(done.exception, WorkalikeError) and done.exception.exit_code == 2
    assert "a file of this database is damaged" in done.exception.one_line()
    assert "log.parquet" in done.exception.one_line()


@pytest.mark.parametrize("text", ["", "no signature", "posix/posix/shared/1/2", "a/b/c/1/2/3/4/5/6", None])
def test_a_hostile_signature_is_refused(made: Path, tmp_path: Path, text: str | None) -> None:
    db = tmp_path / "db"
    shutil.copytree(made / "db", db)
    for path in db.rglob("family.parquet"):
        table = parquet.read_table(path)
        at = table.schema.get_field_index("signature")
        field = table.schema.field(at)
        parquet.write_table(
            table.set_column(at, field, [pyarrow.array([text] * len(table), pyarrow.string())]), path
        )
    log = made / "logs" / "job_7.darshan"
    done = CliRunner().invoke(app, ["diagnose", str(log), "--history", str(db)])
    assert isinstance(done.exception, WorkalikeError), repr(done.exception)
    assert done.exception.exit_code == 2 and "is impossible" in done.exception.one_line()


def test_the_portal_says_that_the_database_is_damaged(made: Path, tmp_path: Path) -> None:
    """It keeps logs and jobs in memory; the families of a job are read when its page is asked for."""
    db = tmp_path / "db"
    shutil.copytree(made / "db", db)
    store = open_store(db)
    with TestClient(portal(store, Access(Site()))) as client:
        (key,) = store.connect().execute("SELECT min(job_key) FROM job").fetchone()
        assert client.get(f"/job/{key}").status_code == 200
        for path in db.rglob("family.parquet"):
            path.write_bytes(b"")
        answer = client.get(f"/job/{key}")
    assert answer.status_code == 500 and "The database is damaged" in answer.text
