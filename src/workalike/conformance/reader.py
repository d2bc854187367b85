"""Readers that are tested: this program, or any command that reads a workload and prints operations."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workalike.conformance.cases import Case, NotOperations, Operations, first_difference, operations_of
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.terminal import printable
from workalike.workload.workload_file import read_workload

LONGEST_S = 60
MOST_BYTES = 16 * 2**20
LONGEST_REASON = 200

Reader = Callable[[Path], Operations]
"""Reads a workload.

Raises:
    Refused: it takes the workload for invalid.
    NotOperations: what it printed cannot be read.
"""


class Refused(Exception):
    """A reader refuses a workload; the message is its own."""


@dataclass(frozen=True)
class Outcome:
    """How a reader did with a case; `problem` is None where it conforms."""

    case: Case
    problem: str | None


def own_reader(path: Path) -> Operations:
    """This program: the workload becomes a plan, and the core lists its operations."""
    try:
        plan = resolve(read_workload(path), Options())
    except WorkalikeError as error:
        raise Refused(error.message) from error
    listed = path.with_suffix(".operations")
    core_plan(plan).write_operations(str(listed))
    return operations_of(without_dump(read_text(listed, ErrorKind.BAD_PLAN).splitlines()))


def without_dump(lines: Iterable[str]) -> Iterator[str]:
    """Lines of the record backend in the columns of this interface."""
    for line in lines:
        rank, _, file, word, offset, size, _, *pieces = line.split("\t")
        yield "\t".join((rank, file, word, offset, size, *pieces))


def command_reader(words: Sequence[str]) -> Reader:
    """A command that gets the path of a workload as its last argument, and prints operations or fails."""

    def read(path: Path) -> Operations:
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
            code = _run([*words, str(path)], printed, said)
            if code < 0:
                raise NotOperations(f"it was ended by signal {-code}")
            if code:
                said.seek(0)
                raise Refused(printable(said.read(LONGEST_REASON).decode(errors="replace")).strip())
            if printed.seek(0, os.SEEK_END) > MOST_BYTES:
                raise NotOperations(f"it printed more than {MOST_BYTES:,} bytes")
            printed.seek(0)
            return operations_of(printed.read().decode(errors="replace").splitlines())

    return read


def _run(words: Sequence[str], printed: IO[bytes], said: IO[bytes]) -> int:
    """Run a command in a session of its own, so that what it starts ends with it; its exit code.

    Raises:
        NotOperations: it did not end in time, or printed too much.
    """
    try:
        started = subprocess.Popen(
            words, stdout=printed, stderr=said, stdin=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--reader: {words[0]}: {error.strerror}",
            hint="name a command that can be run",
        ) from error
    end = time.monotonic() + LONGEST_S
    try:
        while started.poll() is None:
            if time.monotonic() > end:
                raise NotOperations(f"it did not end within {LONGEST_S} s")
            if max(os.fstat(file.fileno()).st_size for file in (printed, said)) > MOST_BYTES:
                raise NotOperations(f"it printed more than {MOST_BYTES:,} bytes")
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    return started.returncode


def conform(reader: Reader, cases: Sequence[Case]) -> Iterator[Outcome]:
    """How a reader does with each case."""
    with tempfile.TemporaryDirectory(prefix="workalike-conformance-") as folder:
        for case in cases:
            path = Path(folder) / f"{case.name}.yaml"
            write_text(path, case.text)
            yield Outcome(case, _problem(reader, case, path))


def _problem(reader: Reader, case: Case, path: Path) -> str | None:
    try:
        found = reader(path)
    except Refused as refused:
        return f"refused: {refused}" if case.operations is not None else None
    except NotOperations as error:
        return str(error)
    if case.operations is None:
        return "accepted, and must be refused"
    return first_difference(case.operations, found)
