"""The command line: `workalike COMMAND`. Each command is a thin call of the library."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

import typer

from workalike import __version__
from workalike.commands import characterize, check, compare, plan, replicate, run
from workalike.errors import WorkalikeError

EXIT_INTERRUPTED = 130
EXIT_OF_SIGNAL = 128

app = typer.Typer(
    name="workalike",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Replicate the I/O of a real HPC application anywhere, and prove how close the replica came.\n\n"
    "The whole line in one command: `workalike replicate app.darshan -o replica/`",
)

for command in (characterize, check, plan, run, compare, replicate):
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
        super().__init__(signal.Signals(number).name)


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise Ended(number)


def _heed_signals() -> None:
    """Batch systems and closed terminals end a program by signals that Python would die of without a word."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # `nohup` stays in force
            signal.signal(number, _end)


def main() -> None:
    """Entry point: errors become one line on stderr and the exit code of their kind."""
    _heed_signals()
    try:
        app()
    except WorkalikeError as error:
        print(f"workalike: {error.one_line()}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("workalike: interrupted; what the run made has been removed", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except Ended as ended:
        print(f"workalike: ended by {ended}; what the run made has been removed", file=sys.stderr)
        sys.exit(EXIT_OF_SIGNAL + ended.number)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
