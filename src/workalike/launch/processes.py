"""Runs a launcher until it and all processes that it has started have ended."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from workalike.launch.messages import Relay

STOPPING_SECONDS = 10.0
"""How long processes have to end by themselves before they are killed."""
LOOK_SECONDS = 1.0
"""How often to look whether the launcher still has processes."""
FIRST_LOOK_SECONDS = 0.2
"""The same in the beginning, until their shared memory is known."""
BEGINNING_SECONDS = 3.0

SEGMENTS = ("vader_segment.", "sm_segment.")
SEGMENT_FOLDERS = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory")
HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CLOCK_TICK_SECONDS = 0.05
"""Time stamps of files are of the last tick of the kernel's clock."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold back the signals that end a program while a process is started; `end_with_parent` lets them through again.

    At a fork Python calls functions of its libraries and drops their exceptions, and with them that of a signal.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """In the child: when this command is killed, the launcher gets SIGTERM and ends its processes."""
    # A Python handler would only note a SIGTERM that comes before exec, and lose it there.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # the parent was killed before prctl took effect
        os._exit(1)


def run_to_its_end(
    command: list[str], environment: dict[str, str], *, limit_s: float | None = None, silent: bool = False
) -> int:
    """Run a command, and wait until all of its processes on this node have ended; returns its exit code.

    Any exception, such as that of Ctrl-C, stops the command. A killed launcher leaves processes running: they are
    waited for, then killed. So is a launcher that does not end after its processes have. What they say goes to our
    standard error, without what launchers say about every run that was ended (`messages`), and nowhere if `silent`.

    Raises:
        TimeoutError: it has taken longer than `limit_s` seconds, and was ended.
    """
    command_id = os.getpid()
    began = time.time()
    process: subprocess.Popen[bytes] | None = None
    memory: set[Path] = set()
    relay = Relay(silent)
    try:
        with signals_held():
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=relay.descriptor,
                stderr=relay.descriptor,
                start_new_session=True,
                preexec_fn=lambda: end_with_parent(command_id),
            )
            relay.start()
        return _wait(process, memory, None if limit_s is None else time.monotonic() + limit_s)
    except BaseException:
        if process is None:
            raise
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
        if process is not None:
            _end_session(process.pid, memory)
        relay.end()
        if process is None or process.returncode != 0:
            _remove_abandoned(environment, began)


def _wait(process: subprocess.Popen[bytes], memory: set[Path], ends: float | None) -> int:
    """Wait for the launcher; returns its exit code. `memory` gets shared-memory files of its processes.

    The processes of a killed launcher may end before anyone can look what they leave, so this looks early. When a
    process is killed at a bad moment, Open MPI's launcher can wait for itself for ever, after all processes have ended.
    """
    had_children = False
    alone_since: float | None = None
    beginning_ends = time.monotonic() + BEGINNING_SECONDS
    while True:
        if ends is not None and time.monotonic() > ends:
            raise TimeoutError
        beginning = not memory and time.monotonic() < beginning_ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(FIRST_LOOK_SECONDS if beginning else LOOK_SECONDS)
        if beginning:
            memory.update(*map(_shared_memory, children_of(process.pid)))
        if has_children(process.pid):
            had_children, alone_since = True, None
            continue
        alone_since = alone_since or time.monotonic()
        if had_children and time.monotonic() - alone_since > STOPPING_SECONDS:
            process.kill()


def has_children(process: int) -> bool:
    """Whether a process has children that have not ended. True where the kernel does not say."""
    try:
        return bool(_children(process))
    except OSError:
        return True


def children_of(process: int) -> list[int]:
    """The children of a process that have not ended, as far as /proc shows them."""
    with contextlib.suppress(OSError):
        return _children(process)
    return []


def _children(process: int) -> list[int]:
    lists = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")]
    return [int(number) for numbers in lists for number in numbers.split()]


def _end_session(session: int, memory: set[Path]) -> None:
    """Wait for the processes of a session, kill those that do not end, and remove the shared memory that they leave.

    `memory` are files of it that are known already.
    """
    until = time.monotonic() + STOPPING_SECONDS
    killing = False
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
    # The name of a segment ends with the number of its process; a job's others have the same name before it.
    jobs = {(path.parent, path.name.rpartition(".")[0]) for path in memory}
    for folder, job in jobs:
        for path in folder.glob(f"{glob.escape(job)}.*"):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _remove_abandoned(environment: dict[str, str], began: float) -> None:
    """Remove segments of this user that were made since `began` and that no process has mapped.

    Ranks whose launcher is killed while they start may end before anyone could look which segments are theirs.
    """
    folders = {Path(environment.get(name) or "/dev/shm") for name in SEGMENT_FOLDERS}
    abandoned = {path for folder in folders for path in _segments_since(folder, began)}
    for _ in range(2):  # another job may be between making a segment and mapping it
        if not abandoned:
            return
        time.sleep(0.2)
        for process in Path("/proc").glob("[0-9]*"):
            abandoned -= _shared_memory(int(process.name))
    for path in abandoned:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _segments_since(folder: Path, began: float) -> set[Path]:
    found = set()
    for path in folder.glob("*_segment.*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            own = status.st_uid == os.getuid() and stat.S_ISREG(status.st_mode)
            if path.name.startswith(SEGMENTS) and own and status.st_ctime >= began - CLOCK_TICK_SECONDS:
                found.add(path)
    return found


def _shared_memory(process: int) -> set[Path]:
    """Shared-memory files of Open MPI that a process has mapped; mpiexec removes them unless it is killed."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    # Range, rights, offset, device and inode come before the path.
    paths = {Path(fields[5]) for line in lines if len(fields := line.split(maxsplit=5)) == 6}
    return {path for path in paths if path.name.startswith(SEGMENTS)}


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
