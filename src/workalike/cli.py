"""The command line: `workalike COMMAND`. Each command is a thin call of the library."""

from __future__ import annotations

import sys

import typer

from workalike import __version__
from workalike.commands import characterize, check, compare, plan, profile, replicate, run
from workalike.errors import WorkalikeError

EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="workalike",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Replicate the I/O of a real HPC application anywhere, and prove how close the replica came.\n\n"
    "The whole line in one command: `workalike replicate app.darshan -o replica/`",
)

for command in (characterize, check, plan, run, compare, replicate, profile):
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


def main() -> None:
    """Entry point: errors become one line on stderr and the exit code of their kind."""
    try:
        app()
    except WorkalikeError as error:
        print(f"workalike: {error.one_line()}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("workalike: interrupted; what the run made has been removed", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
