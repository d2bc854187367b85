"""The command line: `workalike COMMAND`. Each command is a thin call of the library."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

import typer

from workalike import __version__
from workalike.commands import (
    calibrate,
    characterize,
    check,
    compare,
    export,
    import_,
    inspect,
    plan,
    profile,
    replicate,
    run,
    thresholds,
)
from workalike.errors import ErrorKind, WorkalikeError

EXIT_OF_SIGNAL = 128
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]  # typer exports no name for it

app = typer.Typer(
    name="workalike",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Replicate the I/O of a real HPC application anywhere, and prove how close the replica came.\n\n"
    "The whole line in one command: `workalike replicate app.darshan -o replica/`",
)

for command in (
    characterize,
    check,
    plan,
    run,
    compare,
    replicate,
    profile,
    inspect,
    import_,
    export,
    calibrate,
    thresholds,
):
    command.register(app)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"workalike {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options before the command."""


class Ended(BaseException):
    """A signal that ends the program, as an exception: what runs is stopped and tidied up on the way."""

    def __init__(self, number: int) -> None:
        self.number = number
        name = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
        super().__init__(name)


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise Ended(number)


def _heed_signals() -> None:
    """Batch systems and closed terminals end a program by signals that Python would die of without a word."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # What is ignored stays so (`nohup`).
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)


def main() -> None:
    """Entry point: errors become one line on stderr and the exit code of their kind."""
    _heed_signals()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except WorkalikeError as error:
        _leave(error.one_line(), error.exit_code)
    except USAGE_ERROR as error:
        _leave_usage(error)
    except Ended as ended:
        _leave(f"{ended}; of a run's data only what --keep keeps is left", EXIT_OF_SIGNAL + ended.number)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        told = WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "failed",
            file=error.filename or "standard output",
            hint="check folder and space",
        )
        _leave(told.one_line(), told.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _leave(line: str, code: int) -> NoReturn:
    print(f"workalike: {line}", file=sys.stderr)
    sys.exit(code)


def _leave_usage(error: Any) -> NoReturn:
    """Wrong options are one line too."""
    text = error.format_message()
    if not text.strip():  # no arguments: the help has been shown
        sys.exit(ErrorKind.USAGE.exit_code)
    help_of = error.ctx.command_path if error.ctx else app.info.name
    told = WorkalikeError(ErrorKind.USAGE, text.strip().rstrip("."), hint=f"see `{help_of} --help`")
    _leave(told.one_line(), told.exit_code)


def _drop_output() -> None:
    """Nothing more can be said on stdout: Python shall not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
