"""`workalike import TOOL SOURCE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ExitCode

SOURCES = {"macsio": "a command line of MACSio", "minio": "an input of MINIO", "dlio": "a workload of DLIO"}


def register(app: typer.Typer) -> None:
    # A command line that is one argument begins with two dashes, as an option does.
    app.command("import", epilog=opt.EXIT_CODES, context_settings={"ignore_unknown_options": True})(command)


def command(
    tool: Annotated[str, typer.Argument(metavar="macsio|minio|dlio", help="The other tool.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="MACSio's command line, quoted, or a file; the YAML file of MINIO or DLIO."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Workload file.")],
    ranks: opt.Ranks = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Convert another tool's input into a workload.

    The options of upstream MACSio and of its fork with plots are known; options that MACSio parses and ignores are
    refused. Notes on what was assumed or lost are printed, and are comments in the workload. Exit code 3: something
    essential was lost.

    Examples:

        workalike import macsio '--interface typhonio --parallel_file_mode SIF 1 --part_size 64K' -n 16 -o job.yaml

        workalike import macsio 'mpiexec -n 16 macsio --interface hdf5 --parallel_file_mode MIF 4' -o job.yaml

        workalike import minio input.yaml -o job.yaml

        workalike import dlio unet3d.yaml -n 4 -o job.yaml
    """
    from workalike.exchange.document import text_of, workload_of
    from workalike.exchange.registry import IMPORTERS
    from workalike.files import write_text
    from workalike.workload.summary import summarize

    read = IMPORTERS[opt.one_of(tool, tuple(IMPORTERS), "tool")]
    imported = read(source, ranks)
    write_text(output, text_of(imported, SOURCES[tool]))
    for note in imported.notes.all:
        opt.warn(f"note: {note.text}")
    lines = summarize(workload_of(imported))
    if as_json:
        opt.print_json({"workload": str(output), "summary": lines, "notes": imported.notes.as_list()})
    elif not quiet:
        for line in lines:
            opt.console().print(line, markup=False)
    if imported.notes.essential:
        raise typer.Exit(ExitCode.PARTLY)
