"""The command line: `workalike COMMAND`. Each command parses options, calls the library and prints."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn, TextIO

import typer

from workalike import __version__
from workalike.commands.catalogue import Commands
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.extras import missing
from workalike.terminal import degrade_output

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]  # typer exports no name for it

app = typer.Typer(
    name="workalike",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Replicate the I/O of a real HPC application anywhere, and prove how close the replica came.\n\n"
    "All steps in one command: `workalike replicate app.darshan -o replica/`\n\n"
    "What a file is, and what can be done with it: `workalike app.darshan`",
)


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
    """The options that come before the command."""


class Ended(BaseException):
    """A signal that ends the program, as an exception, so that running processes are stopped and files removed."""

    def __init__(self, number: int) -> None:
        self.number = number
        name = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
        super().__init__(name)


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise Ended(number)


def _handle_signals() -> None:
    """Handle the signals by which batch systems and closed terminals end a program: Python would die silently."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A signal that is ignored stays ignored (`nohup`).
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)


def main() -> None:
    """Entry point: a reader of our output that goes away (`| head -1`) ends the program without a word."""
    try:
        _run()
    except BrokenPipeError:
        _end_with_closed_pipe()
    except SystemExit as ended:
        # click and rich end the program themselves
        if isinstance(ended.__context__, BrokenPipeError):
            _end_with_closed_pipe()
        raise


def _run() -> None:
    """The command that was given: errors become one line on stderr and the exit code of their kind."""
    _handle_signals()
    degrade_output()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except WorkalikeError as error:
        _exit_with(error.one_line(), error.exit_code)
    except USAGE_ERROR as error:
        _exit_with_usage(error)
    except Ended as ended:
        _exit_with("; ".join([str(ended), *getattr(ended, "__notes__", [])]), ExitCode.SIGNAL + ended.number)
    except ModuleNotFoundError as error:
        if (lacking := missing(error.name or "")) is None:
            raise
        _exit_with(lacking.one_line(), lacking.exit_code)
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop(sys.stdout)
        reported = WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "failed",
            file=error.filename or "standard output",
            hint="check folder and space",
        )
        _exit_with(reported.one_line(), reported.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _exit_with(line: str, code: int) -> NoReturn:
    print(f"workalike: {line}", file=sys.stderr)
    sys.exit(code)


def _exit_with_usage(error: Any) -> NoReturn:
    """Report wrong options on one line, too."""
    text = error.format_message()
    if not text.strip():  # no arguments: the help has been shown
        sys.exit(ErrorKind.USAGE.exit_code)
    help_of = error.ctx.command_path if error.ctx else app.info.name
    reported = WorkalikeError(ErrorKind.USAGE, text.strip().rstrip("."), hint=f"see `{help_of} --help`")
    _exit_with(reported.one_line(), reported.exit_code)


def _end_with_closed_pipe() -> NoReturn:
    """End as a program does that the signal of a closed pipe ends."""
    for stream in (sys.stdout, sys.stderr):
        _drop(stream)
    sys.exit(ExitCode.SIGNAL + signal.SIGPIPE)


def _drop(stream: TextIO) -> None:
    """Redirect a stream to nowhere: it cannot be written to, and Python would flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
