"""The next command removes what killed ones left, but not what is in use or was left on purpose."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workalike.capture.library import find_library
from workalike.capture.session import CaptureOptions, Session, map_folder
from workalike.errors import WorkalikeError
from workalike.files import write_text
from workalike.leftovers import make_locked, new_name, remove_leftovers, scratch_folder

WORKALIKE = str(Path(sys.executable).with_name("workalike"))
HOLD = """
import sys, time
from pathlib import Path
from workalike.leftovers import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "plan.json").write_text("{}")
    print(folder, flush=True)
    time.sleep(100)
"""
WRITE = """
import sys, time
from pathlib import Path
from workalike.files import write_text
Path.replace = lambda *_: (print("writing", flush=True), time.sleep(100))
write_text(Path(sys.argv[1]) / "run.json", "{}")
"""


@contextmanager
def holding(program: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has created something in a folder, and waits."""
    command = [sys.executable, "-c", program, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline()
        yield process
        process.kill()


def until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("waited in vain")


@pytest.mark.parametrize("program", [HOLD, WRITE], ids=["folder", "file"])
def test_what_a_killed_command_left_is_removed_and_that_of_a_live_one_stays(
    tmp_path: Path, program: str
) -> None:
    with holding(program, tmp_path) as process:
        (held,) = tmp_path.iterdir()
        with scratch_folder(tmp_path):
            assert held.exists(), "taken from a live command"
        process.kill()
        process.wait()
        assert list(tmp_path.iterdir()) == [held]
        with scratch_folder(tmp_path):
            assert not held.exists()
    assert list(tmp_path.iterdir()) == []


def test_names_of_others_stay(tmp_path: Path) -> None:
    for name in ("workalike-notebook", ".workalike-run-00000000-0a0a0a0a", "workalike-run"):
        (tmp_path / name).mkdir()
    assert remove_leftovers(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 3


def test_a_missing_or_forbidden_folder_is_not_an_error(tmp_path: Path) -> None:
    assert remove_leftovers(tmp_path / "none") == []


def test_a_text_is_written_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "text", "first")
    write_text(tmp_path / "text", "second")
    assert (tmp_path / "text").read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


@pytest.fixture
def library() -> Path:
    try:
        return find_library()
    except WorkalikeError:
        pytest.skip("the capture library is not built (make build)")


def spools(folder: Path) -> list[Path]:
    return sorted(folder.glob(".workalike-capture-*"))


@contextmanager
def killed_profile(folder: Path) -> Iterator[int]:
    """`workalike profile` killed while its command still counts; returns the command's process id."""
    code = "import os, time; open('data', 'w').write('x'); print(os.getpid(), flush=True); time.sleep(100)"
    with subprocess.Popen(
        [WORKALIKE, "profile", "-o", "app.darshan", "--", sys.executable, "-c", code],
        cwd=folder, stdout=subprocess.PIPE, text=True,
    ) as profile:  # fmt: skip
        assert profile.stdout is not None
        child = int(profile.stdout.readline())
        profile.kill()
        profile.wait()
        try:
            yield child
        finally:
            os.kill(child, signal.SIGKILL)


def test_capture_of_a_killed_command_goes_when_nothing_counts_there(tmp_path: Path, library: Path) -> None:
    with killed_profile(tmp_path):
        (spool,) = spools(tmp_path)
        maps = map_folder() / spool.name.removeprefix(".")
        assert maps.is_dir()
        with Session(tmp_path, CaptureOptions()):
            assert spool.is_dir() and maps.is_dir(), "its command still counts there"
    until(lambda: not list(maps.glob("*.map")) or not _lives(maps))
    with Session(tmp_path, CaptureOptions()):
        assert not spool.exists() and not maps.exists()
    assert spools(tmp_path) == []


def _lives(maps: Path) -> bool:
    return any(Path(f"/proc/{path.stem.split('-')[2]}/maps").exists() for path in maps.glob("*.map"))


def test_what_was_left_on_purpose_stays(tmp_path: Path, library: Path) -> None:
    session = Session(tmp_path, CaptureOptions())
    with session:
        (session.spool / "app.darshan").write_text("a log")
        session.keep()
    with Session(tmp_path, CaptureOptions()):
        pass
    assert (session.spool / "app.darshan").exists()
    assert not session.maps.exists()


def test_two_sessions_at_once_leave_each_other_alone(tmp_path: Path, library: Path) -> None:
    with Session(tmp_path, CaptureOptions()) as first, Session(tmp_path, CaptureOptions()) as second:
        assert first.spool.is_dir() and first.maps.is_dir()
        assert second.spool.is_dir() and second.maps.is_dir()
    assert spools(tmp_path) == []


def test_a_folder_that_is_removed_before_it_is_opened_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command may look for leftovers between the two calls."""
    made: list[Path] = []
    mkdir = Path.mkdir

    def mkdir_and_lose_the_first(self: Path, mode: int = 0o777) -> None:
        mkdir(self, mode)
        made.append(self)
        if len(made) == 1:
            assert remove_leftovers(tmp_path) == [self]

    monkeypatch.setattr(Path, "mkdir", mkdir_and_lose_the_first)
    path = tmp_path / new_name(".workalike-run")
    descriptor = make_locked(path, folder=True)
    assert made == [path, path] and remove_leftovers(tmp_path) == [] and path.is_dir()
    os.close(descriptor)
