"""Servers that start as root and change their user: what is captured of them, and what is said about the rest."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workalike.darshan import open_log

from .conftest import WORKALIKE

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that every user can reach and write."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def written(log: Path) -> dict[str, int]:
    """Bytes written by the base name of the file."""
    opened = open_log(log)
    table = opened.records("POSIX")
    assert table is not None
    return {
        opened.names[number].rsplit("/", 1)[-1]: size
        for number, size in zip(table.ids.tolist(), table["BYTES_WRITTEN"].tolist(), strict=True)
    }


def test_what_helps_is_said(library: Path, compiled: Callable[..., Path], open_to_all: Path) -> None:
    done = subprocess.run(
        [*WORKALIKE, "profile", "-o", "logs/", "--", compiled("changes_user.c")],
        cwd=open_to_all,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (log,) = (open_to_all / "logs").glob("*.darshan")
    assert written(log) == {"before": 1000, "after": 2000}  # made from the mapping
    child, parent = (line for line in done.stderr.splitlines() if "cannot be written by user 65534" in line)
    assert "workalike profile makes it from the counters" in parent
    assert "set LD_PRELOAD, and WORKALIKE_CAPTURE_LOG_DIR to a folder of mode 1777" in child


def run_with_library(
    library: Path, program: Path, logs: Path, maps: Path
) -> subprocess.CompletedProcess[str]:
    """Run the program as a user would who follows the message: with the library alone."""
    settings = {
        "LD_PRELOAD": str(library),
        "WORKALIKE_CAPTURE_LOG_DIR": str(logs),
        "WORKALIKE_CAPTURE_MAPS": str(maps),
    }
    return subprocess.run([program], cwd=maps, env={**os.environ, **settings}, capture_output=True, text=True)


def test_what_is_said_helps(library: Path, compiled: Callable[..., Path], open_to_all: Path) -> None:
    logs, maps = open_to_all / "logs", open_to_all / "maps"
    for folder in (logs, maps):
        folder.mkdir()
        folder.chmod(0o1777)
    done = run_with_library(library, compiled("changes_user.c"), logs, maps)
    assert (done.returncode, done.stderr) == (0, "")
    found = [written(log) for log in logs.glob("*.darshan")]
    assert sorted(found, key=len) == [{"child": 3000}, {"before": 1000, "after": 2000}]


def test_a_folder_for_logs_that_is_closed(
    library: Path, compiled: Callable[..., Path], open_to_all: Path
) -> None:
    logs = open_to_all / "logs"
    logs.mkdir(mode=0o700)
    done = run_with_library(library, compiled("changes_user.c"), logs, open_to_all)
    assert done.returncode == 0
    assert done.stderr.count("cannot be written by user 65534") == 2
    assert done.stderr.count("chmod 1777") == 2


def test_su_leaves_nothing_behind(library: Path, open_to_all: Path) -> None:
    """Its processes cannot reach the folder for mappings, and make theirs in one for all users."""
    before = set(Path("/dev/shm").glob("workalike-65534-*"))
    (open_to_all / "input").write_bytes(bytes(100))
    script = f"cat {open_to_all}/input > {open_to_all}/output; exec head -c 50 {open_to_all}/input"
    command = [*WORKALIKE, "profile", "-o", "logs/", "--", "su", "nobody", "-s", "/bin/sh", "-c", script]
    done = subprocess.run(command, cwd=open_to_all, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(Path("/dev/shm").glob("workalike-65534-*")) <= before
    users = {open_log(log).job.uid for log in (open_to_all / "logs").glob("*.darshan")}
    assert 65534 in users
    read = {}
    for log in (open_to_all / "logs").glob("*.darshan"):
        opened = open_log(log)
        table = opened.records("POSIX")
        if table is not None and opened.job.uid == 65534:
            read[Path(opened.job.exe.split()[0]).name] = int(table["BYTES_READ"].sum())
    assert read["cat"] == 100 and read["head"] >= 50
