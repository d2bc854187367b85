"""Readers that are tested: this program, or any command that reads a workload and prints operations."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workalike.conformance.cases import Case, NotOperations, Operations, first_difference, operations_of
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import read_workload

LONGEST_S = 60
MOST_BYTES = 16 * 2**20

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
    return operations_of(_without_dump(line) for line in read_text(listed, ErrorKind.BAD_PLAN).splitlines())


def _without_dump(line: str) -> str:
    """A line of the record backend in the columns of this interface."""
    rank, _, file, word, offset, size, _, *pieces = line.split("\t")
    return "\t".join((rank, file, word, offset, size, *pieces))


def command_reader(words: Sequence[str]) -> Reader:
    """A command that gets the path of a workload as its last argument, and prints operations or fails."""

    def read(path: Path) -> Operations:
        try:
            done = subprocess.run([*words, str(path)], capture_output=True, timeout=LONGEST_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise NotOperations(f"it did not end within {LONGEST_S} s") from error
        except OSError as error:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--reader: {words[0]}: {error.strerror}",
                hint="name a command that can be run",
            ) from error
        if done.returncode < 0:
            raise NotOperations(f"it was ended by signal {-done.returncode}")
        if done.returncode:
            raise Refused(done.stderr.decode(errors="replace").strip()[:200])
        return operations_of(done.stdout[:MOST_BYTES].decode(errors="replace").splitlines())

    return read


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
