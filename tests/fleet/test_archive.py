"""Archives: every log is somewhere whole at any time, and only what is safe is removed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from fleets import START, plain_log, stored

from workalike.errors import WorkalikeError
from workalike.fleet.archive import archive, restore

NOW = START + 10 * 86400


def test_a_day_is_an_archive_and_originals_go_only_when_asked(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    paths = [plain_log(logs, job, day=job % 3 + 0.1) for job in range(9)] + [plain_log(logs, 20, day=9.5)]
    held = {hashlib.sha256(p.read_bytes()).hexdigest(): p.read_bytes() for p in paths}
    store, _ = stored(tmp_path / "db", logs)
    done = archive(store, tmp_path / "archive", NOW)
    assert (done.days, done.packed, done.removed) == (3, 9, 0)
    assert {p.name for p in (tmp_path / "archive").glob("*.gz")} == {
        f"2026-01-0{d}.tar.gz" for d in (1, 2, 3)
    }
    assert all(path.exists() for path in paths)
    changed = paths[4]
    changed.write_bytes(changed.read_bytes() + b"x")
    done = archive(store, tmp_path / "archive", NOW, remove=True)
    assert (done.packed, done.present, done.removed) == (0, 9, 8)
    assert [p for p in paths if p.exists()] == [changed, paths[9]]
    for number, (sha256, data) in enumerate(held.items()):
        if number == 9:
            break
        restore(tmp_path / "archive", sha256[:14], tmp_path / "back.darshan")
        assert (tmp_path / "back.darshan").read_bytes() == data


def test_a_damaged_archive_removes_nothing(tmp_path: Path) -> None:
    path = plain_log(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    archive(store, tmp_path / "archive", NOW)
    [file] = (tmp_path / "archive").glob("*.gz")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 255
    file.write_bytes(bytes(data))
    with pytest.raises(WorkalikeError, match="no log was removed"):
        archive(store, tmp_path / "archive", NOW, remove=True)
    assert path.exists()
    with pytest.raises(WorkalikeError):
        restore(tmp_path / "archive", "0" * 12, tmp_path / "x")


@pytest.mark.parametrize(
    "after_s", [0.5, 0.8, 1.1, *(pytest.param(0.3 + 0.1 * i, marks=pytest.mark.long) for i in range(20))]
)
def test_killed_while_archiving(tmp_path: Path, after_s: float) -> None:
    logs = tmp_path / "logs"
    paths = [plain_log(logs, job) for job in range(30)]
    held = {hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}
    store, _ = stored(tmp_path / "db", logs)
    command = [
        sys.executable,
        "-m",
        "workalike",
        "fleet",
        "archive",
        "--db",
        tmp_path / "db",
        "-o",
        tmp_path / "a",
        "--remove",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    archive(store, tmp_path / "a", NOW * 2, remove=True)
    assert not any(path.exists() for path in paths)
    for sha256 in held:
        restore(tmp_path / "a", sha256, tmp_path / "back")
        assert hashlib.sha256((tmp_path / "back").read_bytes()).hexdigest() == sha256
    assert {p.name.endswith(".tar.gz") or p.name == "lock" for p in (tmp_path / "a").iterdir()} == {True}
