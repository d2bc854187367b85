"""`workalike export TOOL FILE`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ExitCode

DIALECTS = ("fork", "upstream")


def register(app: typer.Typer) -> None:
    app.command("export", epilog=opt.EXIT_CODES)(command)


def command(
    tool: Annotated[str, typer.Argument(metavar="macsio|ior|h5bench|fio|dlio", help="The other tool.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Workload file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file [default: stdout].")
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="MACSio's fork with plots and sleeps, or upstream.", metavar="fork|upstream")
    ] = "fork",
    as_json: opt.Json = False,
) -> None:
    """Write the command line or job file of another tool that comes nearest to a workload.

    What the tool cannot express is printed on stderr, one line each. Exit code 3: bytes, operations or files differ
    from the workload's.

    Examples:

        workalike export macsio job.yaml

        workalike export ior job.yaml -o job.sh

        workalike export fio job.yaml -o job.fio

        workalike export dlio job.yaml -o job.dlio.yaml
    """
    from workalike.exchange.macsio_out import write_macsio
    from workalike.exchange.registry import EXPORTERS
    from workalike.files import write_text
    from workalike.workload.workload_file import read_workload

    write = EXPORTERS[opt.one_of(tool, tuple(EXPORTERS), "tool")]
    opt.one_of(dialect, DIALECTS, "--dialect")
    workload = read_workload(file)
    exported = write_macsio(workload, dialect) if tool == "macsio" else write(workload)
    for note in exported.notes.all:
        opt.warn(f"{'lost' if note.essential else 'note'}: {note.text}")
    if output is not None:
        write_text(output, exported.text)
    if as_json:
        opt.print_json({"text": exported.text, "notes": exported.notes.as_list()})
    elif output is None:
        sys.stdout.write(exported.text)
    if exported.notes.essential:
        raise typer.Exit(ExitCode.PARTLY)
