"""Runs of the command that are killed from outside, and what they leave."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

WORKALIKE = str(Path(sys.executable).with_name("workalike"))
MARK = "WORKALIKE_TEST_RUN"
"""An environment variable that all processes of a run inherit."""

LAUNCHERS = ("mpiexec", "orterun", "prterun")
"""Names of programs: `mpiexec` of Open MPI 5 becomes `prterun`."""
RANKS = 3
DUMPS = 10
CONTENTS = {
    "posix": "content: {streams: [{direction: write, sizes: [30 x 4 KiB]}]}",
    "stdio": "content: {streams: [{direction: write, sizes: [30 x 4 KiB]}]}",
    "mpiio": "content: {streams: [{direction: write, sizes: [30 x 4 KiB]}]}",
    "hdf5": "level: mpiio\n  sizes: 120 KiB\n  content: {fit: {datasets: 3}}",
    "pnetcdf": "sizes: 120 KiB\n  content: {fit: {datasets: 3}}",
    "typhonio": "content: {mesh: {dimensions: 2, part_size: 40 kB, variables: 3}}",
    "adios2": "sizes: 120 KiB\n  content: {fit: {datasets: 3}}",
}
"""A small dump of each backend that performs something."""


def backends_built(engine: Path) -> list[str]:
    """Those of `CONTENTS` that the engine was built with."""
    listed = subprocess.run([engine, "--list-backends"], capture_output=True, text=True, check=True).stdout
    built = {line.split()[0] for line in listed.splitlines() if line.strip()}
    return [backend for backend in CONTENTS if backend in built]


def workload(backend: str, every: float = 0.1, count: int = DUMPS) -> str:
    """A workload of about a second."""
    shared = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: {backend}
  sharing: shared
  schedule: {{count: {count}, first: 0 s, every: {every} s}}
  {CONTENTS[backend]}
"""
    if backend not in ("posix", "stdio", "mpiio"):
        return shared
    return f"""{shared}\
- role: restart
  interface: {backend}
  sharing: per-rank
  schedule: {{count: {count}, first: 0 s, every: {every} s}}
  content: {{streams: [{{direction: read, sizes: [30 x 1 KiB]}}]}}
"""


def until(true: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a condition; the test fails with its name if it is never met."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds:g} s in vain for {what}"
        time.sleep(0.02)


def processes_with(mark: str) -> dict[int, str]:
    """Processes that have not ended, by their command lines."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (path / "environ").read_bytes().split(b"\0"):
                words = (path / "cmdline").read_bytes().split(b"\0")
                found[int(path.name)] = " ".join(word.decode(errors="replace") for word in words)
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def is_stopped(process: int) -> bool:
    """Whether a process is stopped, or has ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "TtZX"


def _by_shared_memory(folder: Path) -> dict[str, str]:
    """Settings of Open MPI 4 and 5: messages through shared memory in a folder, and no words about missing networks."""
    return {
        "OMPI_MCA_btl": "self,vader",
        "OMPI_MCA_btl_vader_backing_directory": str(folder),
        "OMPI_MCA_btl_sm_backing_directory": str(folder),
    }


def _heed_interrupts() -> None:
    """Reset the handling of Ctrl-C, which a shell ignores in background jobs and their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class KilledRun:
    """`workalike run` in a folder of its own: data in `data`, the record in `out`, shared memory in a private folder."""

    def __init__(
        self, folder: Path, text: str, *options: str, name: str = "app.yaml", out: str = "out"
    ) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.out = folder / out
        self.mark = secrets.token_hex(8)
        self.memory = Path("/dev/shm") / f"killed-run-{self.mark}"
        self._name = name
        self._options = options
        (folder / name).write_text(text)

    def start(self) -> subprocess.Popen[str]:
        self.memory.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [WORKALIKE, "run", self._name, "--dir", "data", "-o", self.out.name, "-q", *self._options],
            cwd=self.folder,
            env={**os.environ, MARK: self.mark, **_by_shared_memory(self.memory)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_heed_interrupts,
        )
        return self.process

    def processes(self) -> dict[int, str]:
        return processes_with(self.mark)

    def ranks(self) -> list[int]:
        found = self.processes().items()
        return sorted(p for p, words in found if Path(words.split(" ")[0]).name == "workalike-engine")

    def launcher(self) -> list[int]:
        found = self.processes().items()
        return [p for p, words in found if Path(words.split(" ")[0]).name.startswith(LAUNCHERS)]

    def dumps(self, pattern: str = "checkpoint-*") -> list[Path]:
        """Data files of dumps, without those in which a library was measured."""
        return [
            path
            for path in self.data.glob(pattern)
            if ".calibration." not in path.name and path.suffix != ".lock"
        ]

    def wait_for_data(self) -> None:
        """Wait until ranks write."""

        def begun() -> bool:
            assert self.process.poll() is None, f"ended too early: {self.said()}"
            try:
                return len(self.ranks()) == RANKS and any(p.stat().st_size for p in self.dumps())
            except FileNotFoundError:  # files come and go
                return False

        until(begun, 60, "a first data file")

    def stop_with_data(self) -> None:
        """Stop the ranks (SIGSTOP) at a moment when a data file exists, which is not so between dumps."""

        def stopped() -> bool:
            ranks = self.ranks()
            for rank in ranks:
                os.kill(rank, signal.SIGSTOP)
            # A call that removes a file ends before its process stops.
            until(lambda: all(map(is_stopped, ranks)), 60, "ranks to stop")
            if self.dumps():
                return True
            for rank in ranks:
                os.kill(rank, signal.SIGCONT)
            return False

        until(stopped, 60, "a data file")

    def said(self, seconds: float = 60) -> str:
        """The command's stderr, after it has ended."""
        return self.process.communicate(timeout=seconds)[1]

    def until_all_are_gone(self, seconds: float = 15) -> float:
        began = time.monotonic()
        until(lambda: not self.processes(), seconds, "the end of all processes")
        return time.monotonic() - began

    def litter(self) -> list[str]:
        """Files that must not exist after a successful run."""
        found = [path.name for path in self.data.iterdir()]
        found += [path.name for path in self.out.iterdir() if path.name not in ("run.jsonl", "run.json")]
        return found + [path.name for path in self.memory.iterdir()]

    def clear(self) -> None:
        """Remove everything of a test, even if it failed."""
        for process in self.processes():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        shutil.rmtree(self.memory, ignore_errors=True)
