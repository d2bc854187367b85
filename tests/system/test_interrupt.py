"""Stopping a run from outside: at once, nothing left running, no data left."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from .support import lines_of, processes_naming, wait_until, workalike_command

pytestmark = pytest.mark.system

# A run of hours: 16 MiB every ten seconds, and one that never rests.
WAITING = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: {interface}
  sharing: {sharing}
  schedule: {{count: 1000, first: 0 s, every: 10 s}}
  content:
    streams:
    - {{direction: write, sizes: [4/rank x 1 MiB]}}
"""
PROMPTLY_S = 20


def _heed_interrupts() -> None:
    """Reset the handling of Ctrl-C, which a shell ignores in background jobs and their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Run:
    """`workalike run` in a session of its own, as under a terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._stderr = folder / "stderr"

    def start(self, interface: str, sharing: str, *options: str) -> None:
        """Wait until it has written data."""
        (self.folder / "app.yaml").write_text(WAITING.format(interface=interface, sharing=sharing))
        with self._stderr.open("wb") as stderr:
            self._process = subprocess.Popen(
                [*workalike_command(), "run", "app.yaml", "--dir", str(self.data), "-o", "out", *options],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=_heed_interrupts,
            )
        wait_until(lambda: self._process.poll() is not None or self._has_data(), 60, "a first data file")
        assert self._process.poll() is None, self.said()

    def stop(self, number: int) -> int:
        """Signal the whole group, as Ctrl-C does; the exit code."""
        os.killpg(self._process.pid, number)
        return self._process.wait(PROMPTLY_S)

    def said(self) -> str:
        return self._stderr.read_text(errors="replace")

    def still_running(self) -> list[tuple[int, str]]:
        """Launcher and engine have the data folder on their command line."""
        return list(processes_naming(str(self.data)))

    def files(self) -> list[str]:
        return sorted(path.name for path in self.data.iterdir())

    def _has_data(self) -> bool:
        try:
            return any(path.stat().st_size for path in self.data.glob("checkpoint-*"))
        except FileNotFoundError:  # files come and go
            return False


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A run that is removed after the test, even if the test fails."""
    made = Run(tmp_path)
    yield made
    for process, _ in made.still_running():
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize(
    ("interface", "sharing", "time_scale"),
    [
        pytest.param("posix", "per-rank", "1", id="waiting"),
        pytest.param("posix", "per-rank", "0", id="writing"),
        pytest.param("mpiio", "shared", "0", id="writing-mpiio"),
    ],
)
def test_interrupted(run: Run, interface: str, sharing: str, time_scale: str) -> None:
    run.start(interface, sharing, "--time-scale", time_scale)
    assert run.stop(signal.SIGINT) == 130, run.said()
    assert any("interrupted" in line for line in lines_of(run.said()))
    assert "Traceback" not in run.said()
    assert run.still_running() == []
    assert run.files() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminated(run: Run, number: signal.Signals) -> None:
    """As batch systems, `timeout` and closed terminals end a run."""
    before = signal.signal(number, signal.SIG_DFL)  # `nohup` would be inherited, and heeded
    run.start("posix", "per-rank")
    signal.signal(number, before)
    assert run.stop(number) == 128 + number
    assert number.name in run.said()
    assert run.still_running() == []
    assert run.files() == []


def test_files_of_others_stay(run: Run) -> None:
    run.data.mkdir()
    (run.data / "notes.txt").write_text("mine")
    run.start("posix", "per-rank")
    assert run.stop(signal.SIGINT) == 130, run.said()
    assert run.files() == ["notes.txt"]
