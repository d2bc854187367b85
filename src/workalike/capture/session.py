"""Runs one command under capture: prepares its environment, and gathers its logs afterwards.

What reads logs is imported after the command has ended, if there is something to read: NumPy takes longer to load than
the rest of `workalike profile`.
"""

from __future__ import annotations

import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workalike.capture.library import LIBRARY, find_library
from workalike.capture.mapped_files import find_mappings, mappings_elsewhere, still_used
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.file_kind import side_file_of
from workalike.files import is_log, writing
from workalike.leftovers import KEPT, make_locked, new_name, remove_leftovers

if TYPE_CHECKING:
    from workalike.darshan import Log

LOST = "workalike-*.lost"
"""File that the library creates if a process cannot be captured (capture/core/mapping.h)."""
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that are passed to the command: it decides how to end, and its logs are gathered afterwards."""


@dataclass(frozen=True)
class CaptureOptions:
    """What to count.

    Attributes:
        include: extended regular expression of paths to count even if they would be left out.
        exclude: extended regular expression of paths to leave out.
        max_memory: bytes that a process may use for counters.
        traces: record every read and write (DXT).
        keep_records: keep one record per rank, instead of one for a file that all ranks share.
        events: record opens, closes, syncs and MPI calls between ranks in the side file.
        stdio_sizes: record the sizes of STDIO calls there.
        darshan: a site's libdarshan.so to preload instead of workalike's library.
    """

    include: str | None = None
    exclude: str | None = None
    max_memory: int | None = None
    traces: bool = False
    keep_records: bool = False
    events: bool = False
    stdio_sizes: bool = False
    darshan: Path | None = None


@dataclass
class Captured:
    """The outcome of a command.

    Attributes:
        code: its exit code; 128 + n if signal n ended it.
        logs: the logs, the job's own first.
        remarks: what could not be recovered, with the reason.
    """

    code: int
    logs: list[Path] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def map_folder() -> Path:
    """A folder on this node, never on the file system under test: shared memory, or else TMPDIR or /tmp."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and os.access(shared, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def environment(spool: Path, maps: Path, options: CaptureOptions) -> dict[str, str]:
    """The environment variables that the capture library needs."""
    if options.darshan is not None:
        return darshan_environment(options.darshan, spool, options)
    library = str(find_library())
    before = os.environ.get("LD_PRELOAD")
    words = {
        "LD_PRELOAD": f"{library}:{before}" if before else library,
        "WORKALIKE_CAPTURE_DIR": str(spool),
        "WORKALIKE_CAPTURE_MAPS": str(maps),
    }
    if options.include is not None:
        words["WORKALIKE_CAPTURE_INCLUDE"] = options.include
    if options.exclude is not None:
        words["WORKALIKE_CAPTURE_EXCLUDE"] = options.exclude
    if options.max_memory is not None:
        words["WORKALIKE_CAPTURE_MAX_MEMORY"] = str(options.max_memory)
    if options.traces:
        words["WORKALIKE_CAPTURE_DXT"] = "1"
    if options.keep_records:
        words["WORKALIKE_CAPTURE_KEEP_RECORDS"] = "1"
    if options.events:
        words["WORKALIKE_CAPTURE_EVENTS"] = "1"
    if options.stdio_sizes:
        words["WORKALIKE_CAPTURE_STDIO_SIZES"] = "1"
    return words


def darshan_environment(library: Path, spool: Path, options: CaptureOptions) -> dict[str, str]:
    """The environment variables for a site's Darshan, as in its manual; workalike's library is not preloaded."""
    others = [
        preload
        for preload in os.environ.get("LD_PRELOAD", "").split(":")
        if preload and LIBRARY not in preload
    ]
    words = {
        "LD_PRELOAD": ":".join([str(library), *others]),
        "DARSHAN_ENABLE_NONMPI": "1",
        "DARSHAN_LOGPATH": str(spool),
    }
    if options.traces:
        words["DARSHAN_MOD_ENABLE"] = "DXT_POSIX,DXT_MPIIO"
    if options.keep_records:
        words["DARSHAN_DISABLE_SHARED_REDUCTION"] = "1"
    if options.max_memory is not None:
        words["DARSHAN_MODMEM"] = str(options.max_memory // 2**20)
    return words


def make_darshan_folders(spool: Path) -> None:
    """Create the folders that Darshan expects, one per day of local time, for a run may last several days."""
    today = datetime.date.today()
    for days in range(8):
        day = today + datetime.timedelta(days=days)
        (spool / str(day.year) / str(day.month) / str(day.day)).mkdir(parents=True, exist_ok=True)


class Session:
    """The folders of one captured command, as a context manager that removes them.

    Use::

        with Session(beside=Path("logs"), options=CaptureOptions()) as session:
            code = session.run(["./app"])
            logs = session.collect()
    """

    def __init__(self, beside: Path, options: CaptureOptions) -> None:
        self._beside = beside
        self._options = options
        self.remarks: list[str] = []
        self._kept = False
        self._locks = ExitStack()
        self.lost = False
        """Whether a process reported that it could not be captured, or that its counters are lost."""

    def __enter__(self) -> Session:
        with writing(self._beside, "choose another place for the log with -o"):
            self._make_folders()
            if self._options.darshan is not None:
                make_darshan_folders(self.spool)
        return self

    def _make_folders(self) -> None:
        """Create two folders of one name, after those of killed commands were removed."""
        beside, maps = self._beside.absolute(), map_folder()

        def has_counting_process(folder: Path) -> bool:
            return any(still_used(path) for path in find_mappings(maps / folder.name.removeprefix(".")))

        remove_leftovers(beside, has_counting_process)
        remove_leftovers(maps, has_counting_process)
        name = new_name("workalike-capture")
        self.spool, self.maps = beside / f".{name}", maps / name
        for folder in (self.spool, self.maps):
            self._locks.callback(os.close, make_locked(folder, folder=True))

    def keep(self) -> None:
        """Keep the counters and logs, and report where they are, because the logs cannot be moved to their place."""
        self._kept = True
        remaining = {
            "counters are in {}: workalike profile --recover {} -o ELSEWHERE": find_mappings(self.maps),
            "logs are in {}": list(self.spool.rglob("*.darshan")),
        }
        for remark, files in remaining.items():
            if files:
                self.remarks.append(remark.format(files[0].parent, files[0].parent))

    def __exit__(self, *_: object) -> None:
        with self._locks:
            self._clean_up()

    def _clean_up(self) -> None:
        if self._kept:
            for folder in (self.maps, self.spool):
                if any(folder.iterdir()):
                    (folder / KEPT).touch()
                else:
                    folder.rmdir()
            return
        if any(still_used(path) for path in find_mappings(self.maps)):
            for folder in (self.maps, self.spool):
                (folder / KEPT).touch()
            self.remarks.append(f"processes still run; their logs will be in {self.spool}")
            return
        shutil.rmtree(self.spool, ignore_errors=True)
        shutil.rmtree(self.maps, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        return environment(self.spool, self.maps, self._options)

    def run(self, command: list[str], more: Mapping[str, str] | None = None, quiet: bool = False) -> int:
        """Run a command and return its exit code. It inherits the streams; with `quiet`, its stdout is our stderr."""
        process = subprocess.Popen(
            command,
            env={**os.environ, **(more or {}), **self.environment()},
            stdout=sys.stderr if quiet else None,
        )
        before = {number: signal.signal(number, _pass_to(process)) for number in PASSED_ON}
        try:
            code = process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return code if code >= 0 else ExitCode.SIGNAL - code

    def collect(self) -> list[Path]:
        """All logs of the run, in the spool: those that processes wrote, and those made from mappings."""
        for path in mappings_elsewhere(self.maps.name.removeprefix("workalike-capture-")):
            if not still_used(path):
                shutil.move(path, self.maps / path.name)
        if find_mappings(self.maps):
            from workalike.capture.recover import recover

            _, remarks = recover([self.maps], self.spool)
            self.remarks += remarks
        self.lost = any(self.spool.glob(LOST))
        logs = list(self.spool.rglob("*.darshan"))
        return sorted(logs, key=_importance) if len(logs) > 1 else logs


def _pass_to(process: subprocess.Popen[bytes]) -> Callable[..., None]:
    """A handler that passes a signal to the process; not Ctrl-C, which the terminal has sent to it already."""

    def handler(number: int, _: object) -> None:
        if number != signal.SIGINT:
            process.send_signal(number)

    return handler


def _importance(path: Path) -> tuple[int, int, float]:
    """The order of logs: larger MPI jobs first, then those that moved more bytes of files, then by start.

    What a program started for it (a shell, a helper) moves little, or only through standard streams.
    """
    from workalike.darshan import open_log

    log = open_log(path)
    return (-log.job.nprocs, -_moved(log), log.job.start_time)


def _moved(log: Log) -> int:
    """Bytes that were read and written, without those of standard streams."""
    moved = 0
    for module in ("POSIX", "STDIO"):
        table = log.records(module) if module in log.modules else None
        if table is not None:
            of_files = [not log.names.get(number, "").startswith("<STD") for number in table.ids.tolist()]
            moved += sum(int(table[name][of_files].sum()) for name in ("BYTES_READ", "BYTES_WRITTEN"))
    return moved


@contextmanager
def _reported(target: Path) -> Iterator[None]:
    """An OSError becomes CANNOT_WRITE of the log that is written or renamed."""
    try:
        yield
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE, error.strerror or "cannot be written", file=target
        ) from error


def set_aside(output: Path) -> list[Path]:
    """Rename the logs of an earlier run, OUTPUT, OUTPUT.1 and so on, so that none is taken for one of this run.

    Returns:
        Their new names, which end in `.old`; a log that had such a name before is replaced.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    if not output.is_file():
        return []
    older = [output]
    while (following := output.with_name(f"{output.name}.{len(older)}")).is_file() and is_log(following):
        older.append(following)
    renamed = []
    for log in older:
        target = log.with_name(f"{log.name}.old")
        with _reported(target):
            if side_file_of(log).exists():
                side_file_of(log).replace(side_file_of(target))
            log.replace(target)
        renamed.append(target)
    return renamed


def place_logs(logs: list[Path], output: Path) -> list[Path]:
    """Move logs to OUTPUT, OUTPUT.1, ..., or into OUTPUT if it is a folder; returns their new paths.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    placed = []
    for number, log in enumerate(logs):
        if output.is_dir():
            target = output / log.name
        else:
            target = output if number == 0 else output.with_name(f"{output.name}.{number}")
        with _reported(target):
            shutil.move(log, target)
            if side_file_of(log).exists():
                shutil.move(side_file_of(log), side_file_of(target))
            else:  # a side file of an earlier log must not be taken for this one's
                side_file_of(target).unlink(missing_ok=True)
        placed.append(target)
    return placed
