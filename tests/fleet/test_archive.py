"""Archives: every log is somewhere whole at any time, and only what is safe is removed."""

from __future__ import annotations

import hashlib
import io
import os
import random
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from fleets import START, plain_log, stored
from killed_commands import delays, run_command

from workalike.errors import WorkalikeError
from workalike.fleet.archive import archive, restore
from workalike.fleet.store import Store

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


def test_the_name_of_an_archive_is_on_storage_before_originals_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plain_log(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    steps: list[str] = []
    sync, unlink = os.fsync, Path.unlink

    def synced(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "archive")
        sync(descriptor)

    def unlinked(self: Path, missing_ok: bool = False) -> None:
        if self == path:
            steps.append("original")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "unlink", unlinked)
    archive(store, tmp_path / "archive", NOW, remove=True)
    assert steps == ["archive", "folder", "original"]


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


def archive_command(folder: Path, kill_after_s: float | None) -> float | None:
    """Archive and remove; None if that was killed amid its work, else its seconds."""
    command = [sys.executable, "-m", "workalike", "fleet", "archive", "--db", folder / "db"]
    return run_command([*command, "-o", folder / "a", "--remove"], folder / "a", kill_after_s)


def logs_to_archive(folder: Path, count: int) -> tuple[Store, list[Path], set[str]]:
    """An ingested folder of logs of several days: the database, their paths and hashes."""
    paths = [plain_log(folder / "logs", job, day=job % 8) for job in range(count)]
    held = {hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    return stored(folder / "db", folder / "logs")[0], paths, held


def check_all_archived(folder: Path, store: Store, paths: list[Path], held: set[str]) -> None:
    """No log was lost, and the next command finishes what a killed one had begun."""
    archive(store, folder / "a", NOW * 2, remove=True)
    assert not any(path.exists() for path in paths)
    for sha256 in held:
        restore(folder / "a", sha256, folder / "back")
        assert hashlib.sha256((folder / "back").read_bytes()).hexdigest() == sha256
    assert {p.name.endswith(".tar.gz") or p.name == "lock" for p in (folder / "a").iterdir()} == {True}


@pytest.mark.system  # starts many processes
@pytest.mark.parametrize("points", [2, pytest.param(20, marks=pytest.mark.long)])
def test_killed_while_archiving(tmp_path: Path, points: int) -> None:
    logs_to_archive(tmp_path / "whole", 120)
    lasts_s = archive_command(tmp_path / "whole", None)
    assert lasts_s is not None
    for point in range(points):
        for attempt, delay_s in enumerate(delays(lasts_s, (point + 0.5) / points)):
            folder = tmp_path / f"{point}-{attempt}"
            store, paths, held = logs_to_archive(folder, 120)
            ended = archive_command(folder, delay_s)
            check_all_archived(folder, store, paths, held)
            if ended is None:
                break
        assert ended is None, "the command ended before each kill"


DIES = """
import os, sys
from pathlib import Path
from workalike.fleet import archive, store
place, folder, now = sys.argv[1:]
opened = store.open_store(Path(folder) / "db")
replace, unlink, removed = Path.replace, Path.unlink, []
def die(): os.kill(os.getpid(), 9)
def dying_replace(self, target):
    if place == "before the rename":
        die()
    replace(self, target)
    if place == "after the rename":
        die()
def dying_unlink(self, **more):
    if self.suffix == ".darshan":
        removed.append(self)
    if place == "amid removal" and len(removed) == 3:
        die()
    unlink(self, **more)
Path.replace, Path.unlink = dying_replace, dying_unlink
archive.archive(opened, Path(folder) / "a", float(now), remove=True)
"""


@pytest.mark.system  # starts many processes
@pytest.mark.parametrize(
    ("place", "archives", "gone"),
    [("before the rename", 0, 0), ("after the rename", 1, 0), ("amid removal", 1, 2)],
)
def test_killed_at_each_step_of_an_archive(tmp_path: Path, place: str, archives: int, gone: int) -> None:
    store, paths, held = logs_to_archive(tmp_path, 32)
    done = subprocess.run([sys.executable, "-c", DIES, place, tmp_path, str(NOW * 2)])
    assert done.returncode == -9
    assert len(list((tmp_path / "a").glob("*.tar.gz"))) == archives
    assert sum(not path.exists() for path in paths) == gone
    check_all_archived(tmp_path, store, paths, held)


@pytest.mark.parametrize(
    "name", ["x", "results/x", "0" * 63 + "/x", "0" * 64 + "/a/b", "../" + "0" * 61 + "/x"]
)
def test_an_archive_of_something_else_is_refused_at_its_first_entry(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    with tarfile.open(tmp_path / "a/2026-01-01.tar.gz", "w:gz") as other:
        other.addfile(tarfile.TarInfo(name))
    with pytest.raises(WorkalikeError, match="not an archive of logs"):
        restore(tmp_path / "a", "0" * 12, tmp_path / "x")


def test_large_logs_are_kept_when_an_archive_is_written_anew(tmp_path: Path) -> None:
    """Logs pass from the old archive to the new in pieces."""
    content = random.Random(1).randbytes(3_000_001)
    name = hashlib.sha256(content).hexdigest()
    store, _ = stored(tmp_path / "db", plain_log(tmp_path / "logs", 1, day=1).parent)
    (tmp_path / "a").mkdir()
    with tarfile.open(tmp_path / "a/2026-01-02.tar.gz", "w:gz") as old:
        member = tarfile.TarInfo(f"{name}/large.darshan")
        member.size = len(content)
        old.addfile(member, io.BytesIO(content))
    assert archive(store, tmp_path / "a", NOW).packed == 1
    restore(tmp_path / "a", name, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == content
