"""Runs a launcher until it and all processes that it has started have ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STOPPING_SECONDS = 10.0
"""How long processes have to end by themselves before they are killed."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def _end_with_parent(parent: int) -> None:
    """In the child: when this command is killed, the launcher gets SIGTERM and ends its processes."""
    # A Python handler would only note a SIGTERM that comes before exec, and lose it there.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # the parent was killed before prctl took effect
        os._exit(1)


def run_to_its_end(command: list[str], environment: dict[str, str]) -> int:
    """Run a command, and wait until all of its processes on this node have ended; returns its exit code.

    Any exception, such as that of Ctrl-C, stops the command. A killed launcher leaves processes running: they are
    waited for, then killed.
    """
    command_id = os.getpid()
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,
        preexec_fn=lambda: _end_with_parent(command_id),
    )
    try:
        return process.wait()
    except BaseException:
        for stop, seconds in ((signal.SIGTERM, STOPPING_SECONDS), (signal.SIGKILL, STOPPING_SECONDS)):
            try:
                os.killpg(process.pid, stop)
                process.wait(seconds)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        raise
    finally:
        _end_session(process.pid)


def _end_session(session: int) -> None:
    """Wait for the processes of a session, kill those that do not end, and remove the shared memory that they leave."""
    until = time.monotonic() + STOPPING_SECONDS
    killing = False
    memory: set[Path] = set()
    while processes := processes_of(session):
        for process in processes:
            memory |= _shared_memory(process)
        if time.monotonic() > until:
            if killing:
                return  # they hang in the kernel, where no signal reaches them
            killing = True
            until = time.monotonic() + STOPPING_SECONDS
            for process in processes:
                try:
                    os.kill(process, signal.SIGKILL)
                except OSError:
                    continue
        time.sleep(0.02)
    for path in memory:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _shared_memory(process: int) -> set[Path]:
    """Shared-memory files of Open MPI that a process has mapped; mpiexec removes them unless it is killed."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    # Range, rights, offset, device and inode come before the path.
    paths = {Path(fields[5]) for line in lines if len(fields := line.split(maxsplit=5)) == 6}
    return {path for path in paths if path.name.startswith(("vader_segment.", "sm_segment."))}


def processes_of(session: int) -> list[int]:
    """The processes of a session that have not ended, as far as /proc shows them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # pid (name) state parent group session ...; a name may hold spaces and brackets.
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(path.parent.name))
    return found
