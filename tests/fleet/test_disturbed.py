"""Logs that change or vanish while they are read, a disk that fills, and a clock that jumps: nothing is lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from fleets import START, plain_log, query, rows_of, stored

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet import archive as archives
from workalike.fleet import rows, worker
from workalike.fleet.compact import compact
from workalike.fleet.ingest import Outcome, _Committer, ingest
from workalike.fleet.site import Site
from workalike.fleet.store import Store, open_or_make, open_store, staging_folder
from workalike.fleet.workers import Lost

PATCHED_WORKER = """
import errno, os
import pyarrow.parquet
def full(*args, **more):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
pyarrow.parquet.write_table = full
"""


def full(*args: Any, **more: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("whole", [True, False])
def test_a_log_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    path = plain_log(tmp_path / "logs", 1)
    data = path.read_bytes()
    path.write_bytes(data if whole else data[:1000])
    read_job, open_log = rows.read_job, rows.open_log

    def growing(read: Path) -> Any:
        try:
            return open_log(read)  # which refuses the unfinished log
        finally:
            path.write_bytes(data)

    def touched(logs: Any) -> Any:
        job = read_job(logs)
        os.utime(path, ns=(1, 1))
        return job

    monkeypatch.setattr(rows, "open_log", growing)
    monkeypatch.setattr(rows, "read_job", touched)
    done = worker._chunk([str(path)], tmp_path / "part", Site(), "mark")
    assert (done["counts"]["unreadable"], done["part"]) == (1, None)
    path.write_bytes(data)
    store, outcome = stored(tmp_path / "db", tmp_path / "logs")
    assert outcome.counts["ingested"] == 1 and query(store, "SELECT job_id FROM log") == [(1,)]


def test_a_log_that_vanishes_is_counted(tmp_path: Path) -> None:
    path = plain_log(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    path.unlink()
    done = worker._chunk([str(path)], tmp_path / "part", Site(), "mark")
    assert (done["counts"]["unreadable"], done["part"]) == (1, None)
    outcome = Outcome()
    with staging_folder(store) as staging:
        _Committer(store, staging, Site()).take(Lost(str(path), "ended its reader twice"), outcome)
    assert (outcome.counts["unreadable"], outcome.counts["quarantined"]) == (1, 0)
    assert outcome.problems == [(str(path), "ended its reader twice, then: No such file or directory")]
    assert query(store, "SELECT outcome FROM source") == [("ingested",)]


def check_refused(store: Store, logs: Path) -> None:
    with pytest.raises(WorkalikeError, match="No space left") as raised:
        ingest(store, [logs], Site(), jobs=1)
    assert raised.value.kind is ErrorKind.CANNOT_WRITE and not list((store.folder / "staging").iterdir())


def test_a_full_disk_stops_an_ingestion_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "logs"
    for job in range(3):
        plain_log(logs, job)
    stored(tmp_path / "whole", logs)
    store = open_or_make(tmp_path / "db", "")
    (tmp_path / "patch").mkdir()
    (tmp_path / "patch" / "sitecustomize.py").write_text(PATCHED_WORKER)
    with monkeypatch.context() as patched:
        patched.setenv("PYTHONPATH", str(tmp_path / "patch"))
        check_refused(store, logs)

    def half(self: Store, line: str) -> None:
        with (self.folder / "manifest.jsonl").open("ab") as file:
            file.write(line.encode()[: len(line) // 2])
        full()

    for place, broken in (
        ("workalike.fleet.store.Store._append", half),
        ("workalike.fleet.views.create", full),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, broken)
            check_refused(store, logs)
    with monkeypatch.context() as patched:
        patched.setattr("workalike.fleet.store.scratch_folder", full)
        plain_log(logs, 4)
        check_refused(store, logs)
    (logs / "job_4.darshan").unlink()
    stored(tmp_path / "db", logs)
    assert rows_of(tmp_path / "db") == rows_of(tmp_path / "whole")


@pytest.mark.parametrize("where", ["workalike.fleet.archive._add", "os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_stops_an_archive_and_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    paths = [plain_log(tmp_path / "logs", job) for job in range(2)]
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    with monkeypatch.context() as patched:
        patched.setattr(where, full)
        with pytest.raises(WorkalikeError, match="No space left"):
            archives.archive(store, tmp_path / "a", START + 10 * 86400, remove=True)
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["lock"] and all(p.exists() for p in paths)
    assert archives.archive(store, tmp_path / "a", START + 10 * 86400, remove=True).removed == 2


def test_a_clock_that_jumps_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    paths = [plain_log(logs, job, day=day) for job, day in enumerate((-30000, 0, 1, 400_000))]
    for path, when in zip(paths, (-1, 0, 1, 2**33), strict=True):
        os.utime(path, (when, when))
    store, outcome = stored(tmp_path / "db", logs)
    assert outcome.counts["ingested"] == 4
    before = rows_of(tmp_path / "db")
    for now in (START - 86400, -1.0, 2.0**33):
        monkeypatch.setattr("time.time", lambda now=now: now)
        assert sum(ingest(store, [logs], Site(), jobs=1).counts.values()) == 0
        compact(store)
    assert rows_of(tmp_path / "db") == before
    assert archives.archive(store, tmp_path / "a", START - 10 * 86400, remove=True).removed == 1
    assert [path.exists() for path in paths] == [False, True, True, True]
    assert len(open_store(tmp_path / "db").parts) == len(store.parts)
