"""Commands and processes of the machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

COMMAND_SECONDS = 60
LOOK_SECONDS = 0.02
ADMINISTRATORS = ":/usr/local/sbin:/usr/sbin:/sbin"
"""A person's PATH has no sbin; the daemons live there."""


class TestbedError(Exception):
    """What cannot be done, in one line."""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": os.environ.get("PATH", "") + ADMINISTRATORS, **more}


def run(command: Sequence[str], given: str = "", seconds: float = COMMAND_SECONDS) -> str:
    """Run a short command; returns what it prints, errors included.

    Raises:
        TestbedError: it is not installed, fails or does not end; with the last line that it printed.
    """
    try:
        done = subprocess.run(
            list(command),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
            env=environment(),
            check=False,
        )
    except FileNotFoundError as error:
        raise TestbedError(
            f"{command[0]} is not installed: tools/install-system-packages installs it on Debian"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise TestbedError(f"{' '.join(command)}: no end within {seconds:g} s") from error
    if done.returncode != 0:
        lines = done.stdout.strip().splitlines() or [f"exit code {done.returncode}"]
        raise TestbedError(f"{' '.join(command)}: {lines[-1]}")
    return done.stdout


def tried(command: Sequence[str], seconds: float = COMMAND_SECONDS) -> bool:
    """Run a command that may fail; whether it succeeded."""
    with contextlib.suppress(TestbedError):
        run(command, seconds=seconds)
        return True
    return False


def wait_until(happened: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a condition.

    Raises:
        TestbedError: it is not met in time.
    """
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TestbedError(f"{what}: not within {seconds:g} s")
        time.sleep(LOOK_SECONDS)


def runs(process: int) -> bool:
    """Whether a process has not ended; a zombie has."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def words_of(process: int) -> list[str]:
    """A process's command line; empty if it has ended."""
    try:
        text = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return []
    return text.decode(errors="replace").rstrip("\0").split("\0")


def end(processes: Iterable[int], number: int = signal.SIGTERM, seconds: float = 10) -> None:
    """Signal processes and wait until they have ended; those that do not end are killed."""
    left = [process for process in processes if runs(process)]
    for stop in (number, signal.SIGKILL):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, stop)
        with contextlib.suppress(TestbedError):
            wait_until(lambda: not any(map(runs, left)), seconds, "the end of processes")
            return


def mounts_in(folder: Path) -> list[str]:
    """Mount points at or below a folder, the innermost first."""
    points = []
    for line in Path("/proc/self/mounts").read_text(errors="replace").splitlines():
        point = line.split()[1].replace("\\040", " ")
        if point == str(folder) or point.startswith(f"{folder}/"):
            points.append(point)
    return points[::-1]
