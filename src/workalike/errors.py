"""The closed list of error kinds.

Every error names the file, the place in it, and the hint. The command line prints it as one line on stderr and ends
with the exit code of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, IntEnum
from pathlib import Path

MOST_QUOTED = 400
"""Characters of one part of an error's line: file, place, message or hint."""


class ExitCode(IntEnum):
    """How a command ends. docs/reference/terms.md#exit-codes has the same table, with the causes of each."""

    DONE = 0
    FAILED = 1
    """The work failed, or its result is not what was required."""
    BAD_INPUT = 2
    """Bad usage, or a file that cannot be used."""
    PARTLY = 3
    """Done, but something was left out or could not be expressed, which is stated."""
    NOT_FOUND = 127
    """A command that is to be run does not exist, as shells say it."""
    SIGNAL = 128
    """With the signal's number added, as shells say it."""


class ErrorKind(Enum):
    """What went wrong: a title and its exit code (docs/reference/terms.md#exit-codes)."""

    USAGE = ("bad usage", ExitCode.BAD_INPUT)
    MISSING = ("no such file", ExitCode.BAD_INPUT)
    NOT_INSTALLED = ("not installed", ExitCode.BAD_INPUT)
    DAMAGED_LOG = ("damaged log", ExitCode.BAD_INPUT)
    UNSUPPORTED_LOG = ("unsupported log", ExitCode.BAD_INPUT)
    BAD_WORKLOAD = ("bad workload", ExitCode.BAD_INPUT)
    BAD_PLAN = ("bad plan", ExitCode.BAD_INPUT)
    BAD_RECORD = ("bad record", ExitCode.BAD_INPUT)
    BAD_STUDY = ("bad study", ExitCode.BAD_INPUT)
    BAD_EVIDENCE = ("bad evidence", ExitCode.BAD_INPUT)
    BAD_FILE = ("cannot inspect", ExitCode.BAD_INPUT)
    NOTHING_TO_REPLICATE = ("nothing to replicate", ExitCode.BAD_INPUT)
    CANNOT_WRITE = ("cannot write", ExitCode.FAILED)
    RUN_FAILED = ("run failed", ExitCode.FAILED)
    FELL_SHORT = ("fell short", ExitCode.FAILED)
    FAULT = ("fault of workalike", ExitCode.FAILED)

    def __init__(self, title: str, exit_code: ExitCode) -> None:
        self.title = title
        self.exit_code = exit_code


class WorkalikeError(Exception):
    """An error for the user: kind, file, place in it, message and a hint.

    Args:
        kind: one of the closed list.
        message: what is wrong, in one sentence without the file's name.
        file: the file concerned, if any.
        place: where in it ("module POSIX, record 17", "families[0].dumps", "byte 1328").
        hint: how to fix it.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        file: str | Path | None = None,
        place: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.kind = kind
        self.message = message
        self.file = str(file) if file is not None else None
        self.place = place
        self.hint = hint
        super().__init__(self.one_line())

    @property
    def exit_code(self) -> int:
        return self.kind.exit_code

    def one_line(self) -> str:
        """The error as one printable line; control characters of hostile input are escaped."""
        where = ": ".join(bounded(part) for part in (self.file, self.place) if part)
        text = f"{self.kind.title}: {where + ': ' if where else ''}{bounded(self.message)}"
        if self.hint:
            text += f" ({bounded(self.hint)})"
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class Refusal(WorkalikeError):
    """The engine or its core refuses a plan. Where workalike made the plan by itself, that is a fault of workalike."""


def fault_of_ours(reason: str, log: str | Path, place: str | None = None) -> WorkalikeError:
    """The error for a workload that was made of a log and is refused by the schema or the engine."""
    return WorkalikeError(
        ErrorKind.FAULT,
        f"the workload that was made of this log is refused: {reason}",
        file=log,
        place=place,
        hint="the log is not to blame: please report it, with what `workalike anonymize` makes of the log",
    )


@contextmanager
def about(file: str | Path | None) -> Iterator[None]:
    """Name a file in errors from inside that name none."""
    try:
        yield
    except WorkalikeError as error:
        if error.file is None and file is not None:
            error.file = str(file)
        raise


def bounded(text: str) -> str:
    """The text, without its middle where it is long: quoted input must not fill the screen."""
    if len(text) <= MOST_QUOTED:
        return text
    half = MOST_QUOTED // 2
    return f"{text[:half]}...{text[-half:]}"
