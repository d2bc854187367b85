"""Logs that cannot be written: the application's result stays, one line says so, and the counters can be recovered."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workalike.darshan import open_log

from .conftest import MPI_ENVIRONMENT, WORKALIKE

RANKS = 4
needs_mpi = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"),
]


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system without room for a byte."""
    folder = tmp_path / "full"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    (folder / "fill").write_bytes(bytes(4096))
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def programs(compiled: Callable[..., Path], kind: str) -> tuple[list[str], int, str, bytes]:
    """A command, its exit code, and a file with what it writes there."""
    if kind == "serial":
        return [str(compiled("processes.c")), "_exit"], 3, "parent", b"0123456789" * 3
    command = ["mpiexec", "-n", str(RANKS), str(compiled("mpi_known.c", compiler="mpicc"))]
    return command, 0, "own.1", b""


def preloaded(library: Path, logs: Path, maps: Path) -> dict[str, str]:
    return {
        **os.environ, **MPI_ENVIRONMENT, "LD_PRELOAD": str(library), "WORKALIKE_CAPTURE_DIR": str(logs),
        "WORKALIKE_CAPTURE_MAPS": str(maps),
    }  # fmt: skip


@pytest.mark.parametrize("why", ["missing", "no folder", "full"])
@pytest.mark.parametrize("kind", ["serial", pytest.param("mpi", marks=needs_mpi)])
def test_application_keeps_its_result(
    library: Path,
    compiled: Callable[..., Path],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    why: str,
    kind: str,
) -> None:
    logs = tmp_path / "no/such/folder"
    if why == "no folder":
        logs = tmp_path / "file"
        logs.write_text("no folder")
    elif why == "full":
        logs = request.getfixturevalue("full_disk")
    maps, data = tmp_path / "maps", tmp_path / "data"
    maps.mkdir()
    data.mkdir()
    command, code, name, content = programs(compiled, kind)
    done = subprocess.run(
        command, env=preloaded(library, logs, maps), cwd=data, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == code
    assert (data / name).exists() and (data / name).read_bytes().startswith(content)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and "cannot be written" in lines[0], done.stderr
    if why == "full":
        assert "No space left" in lines[0]
        assert [path.name for path in logs.iterdir()] == ["fill"]

    subprocess.run(
        [*WORKALIKE, "profile", "--recover", str(maps), "-o", "logs"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    made = [open_log(path) for path in (tmp_path / "logs").glob("*.darshan")]
    assert any(str(data / name) in log.names.values() for log in made)
    assert not list(maps.iterdir())


@pytest.mark.parametrize("kind", ["serial", pytest.param("mpi", marks=needs_mpi)])
def test_profile_onto_a_full_disk(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, full_disk: Path, kind: str
) -> None:
    command, code, name, content = programs(compiled, kind)
    done = subprocess.run(
        [*WORKALIKE, "profile", "-o", str(full_disk / "app.darshan"), "--", *command],
        env={**os.environ, **MPI_ENVIRONMENT}, cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip
    assert (tmp_path / name).read_bytes().startswith(content)
    assert "Traceback" not in done.stderr
    assert done.returncode == code
    assert "No space left" in done.stderr
    assert not list(full_disk.rglob("*.darshan"))
    kept = done.stderr.split("--recover ")[1].split(" ")[0]
    subprocess.run([*WORKALIKE, "profile", "--recover", kept, "-o", "logs"], cwd=tmp_path, check=True)
    # Any command under capture removes such empty folders when it begins.
    with contextlib.suppress(FileNotFoundError):
        Path(kept).rmdir()
    made = [open_log(path) for path in (tmp_path / "logs").glob("*.darshan")]
    assert any(str(tmp_path / name) in log.names.values() for log in made)
