"""Runs a launcher to its end, and that of all processes that it has started."""

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
    signal.signal(
        signal.SIGTERM, signal.SIG_DFL
    )  # a handler of Python's would note it, and forget it at exec
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # killed before
        os._exit(1)


def run_to_its_end(command: list[str], environment: dict[str, str]) -> int:
    """Run a command, passing Ctrl-C on and waiting until all of its processes on this node have ended.

    A launcher that is killed leaves its processes behind: they are waited for, then killed. Returns the exit code.
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
    """Wait for the processes of a session, kill those that stay, and remove shared memory that they leave."""
    until = time.monotonic() + STOPPING_SECONDS
    killing = False
    memory: set[Path] = set()
    while processes := processes_of(session):
        for process in processes:
            memory |= _shared_memory(process)
        if time.monotonic() > until:
            if killing:
                return  # in a call of the kernel that does not end: there is nothing more to be done
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
    """Files of Open MPI that a process shares with others of its job; mpiexec removes them, if it is not killed."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    # Range, rights, offset, device and inode come before the path.
    paths = {Path(fields[5]) for line in lines if len(fields := line.split(maxsplit=5)) == 6}
    return {path for path in paths if path.name.startswith(("vader_segment.", "sm_segment."))}


def processes_of(session: int) -> list[int]:
    """Processes of a session that have not ended, as far as this system tells."""
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
