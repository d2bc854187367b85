"""`workalike conformance`"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.text import plural

if TYPE_CHECKING:
    from workalike.conformance.reader import Outcome


def register(app: typer.Typer) -> None:
    app.command(
        "conformance", epilog="Exit codes: 0 the reader conforms; 1 it does not in some case; 2 bad usage."
    )(opt.with_options(command))


def command(
    reader: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="A command that gets the path of a workload as its last argument, and prints operations or fails "
            "[default: workalike itself].",
            show_default=False,
        ),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the workloads and their operations into a folder, and end."),
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Check that a program reads the workload format as workalike does.

    There are workloads that a reader must accept, with the operations that each rank must make, and workloads that it
    must refuse. docs/conformance.md has the lines that a reader prints.

    Examples:

        workalike conformance

        workalike conformance --write cases/

        workalike conformance --reader './my-reader --operations'
    """
    from workalike.conformance.cases import all_cases
    from workalike.conformance.reader import command_reader, conform, own_reader

    if write is not None:
        _write(write)
        return
    words = shlex.split(reader) if reader is not None else []
    if reader is not None and not words:
        raise WorkalikeError(
            ErrorKind.USAGE, "--reader is empty", hint="name a command, such as './my-reader --operations'"
        )
    outcomes = []
    for outcome in conform(command_reader(words) if words else own_reader, all_cases()):
        outcomes.append(outcome)
        if outcome.problem and not (quiet or as_json):
            opt.console().print(f"{outcome.case.name}: {outcome.problem}", markup=False, soft_wrap=True)
    _print(outcomes, quiet, as_json)
    if any(outcome.problem for outcome in outcomes):
        raise typer.Exit(ExitCode.FAILED)


def _write(folder: Path) -> None:
    from importlib import resources

    from workalike.files import make_folder, write_text

    packaged = resources.files("workalike.conformance").joinpath("cases")
    for kind in ("valid", "invalid"):
        make_folder(folder / kind)
        for path in packaged.joinpath(kind).iterdir():
            write_text(folder / kind / path.name, path.read_text())
    opt.console().print(f"cases: {folder}", markup=False, soft_wrap=True)


def _print(outcomes: list[Outcome], quiet: bool, as_json: bool) -> None:
    differ = sum(outcome.problem is not None for outcome in outcomes)
    if as_json:
        opt.print_json(
            {
                "cases": [
                    {
                        "name": outcome.case.name,
                        "valid": outcome.case.operations is not None,
                        "problem": outcome.problem,
                    }
                    for outcome in outcomes
                ],
                "differ": differ,
            }
        )
    elif not quiet:
        valid = sum(outcome.case.operations is not None for outcome in outcomes)
        opt.console().print(
            f"{plural(valid, 'workload')} to accept, {len(outcomes) - valid} to refuse: "
            + (f"{differ} differ" if differ else "the reader conforms")
        )
