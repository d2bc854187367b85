"""`workalike characterize LOG… -o FILE`"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.outcome import end_if_partly, report_gaps
from workalike.text import plural


def register(app: typer.Typer) -> None:
    app.command("characterize", epilog=opt.EXIT_CODES)(opt.with_options(command))


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Darshan logs of one job, or a folder of them.")
    ],
    modelling: opt.Modelling,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Workload file [default: stdout].")
    ] = None,
    privacy: Annotated[
        str,
        typer.Option(
            help="What of the numbers is kept: all of them; two digits of sizes and times; or powers of two, one digit of "
            "times, and means in place of lists. No level has names.",
            metavar="names|rounded|summary",
        ),
    ] = "names",
    include_program_start: Annotated[
        bool,
        typer.Option(
            "--include-program-start", help="Also replicate standard streams, libraries and the like."
        ),
    ] = False,
    level: Annotated[
        str | None,
        typer.Option(help="Characterize at this level where a file has it.", metavar="posix|mpiio|h5d"),
    ] = None,
    tables: Annotated[
        bool,
        typer.Option(
            help="Keep beside the workload file what would make it long: the operations of a complete trace (DXT) that "
            "no rule gives, and lists of hundreds of values. With --no-tables all is in one file: rules instead of such "
            "operations, and the lists. --privacy and output without -o have no table of operations.",
        ),
    ] = True,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules", help="Print the rules that decided each family, and the counters that it misses."
        ),
    ] = False,
    rehearsal: opt.Rehearsal = True,
    as_json: opt.Json = False,
) -> None:
    """Describe what a log's application does to storage, as a workload file without names.

    Exit code 3: done, but a module of the log was partial or data could not be expressed.

    Examples:

        workalike characterize app.darshan -o app.yaml

        workalike characterize job/*.darshan --privacy rounded -o job.yaml

        workalike characterize app.darshan --model mesh --variables 43 -o app.yaml
    """
    from workalike.characterize import characterize
    from workalike.characterize.contents.arrays.meshes import families_like_meshes
    from workalike.characterize.result import summary_of
    from workalike.darshan import open_logs
    from workalike.facts.thresholds import THRESHOLDS
    from workalike.rehearse.rehearsal import rehearsed, unrehearsed
    from workalike.workload.privacy import disclosing_less
    from workalike.workload.words import Privacy
    from workalike.workload.workload_file import workload_text, write_workload

    kept = Privacy(opt.one_of(privacy, tuple(Privacy), "--privacy"))
    characterizing = replace(
        modelling.options(include_program_start=include_program_start, level=level),
        tables=tables and output is not None and kept is Privacy.NAMES,
    )
    found = characterize(open_logs(logs), characterizing)
    found = rehearsed(found, characterizing) if rehearsal else unrehearsed(found)
    workload = disclosing_less(found.workload, kept)
    beside = write_workload(workload, output, tables=tables) if output is not None else []
    if as_json:
        files = {"workload": str(output) if output else None, "beside": [str(path) for path in beside]}
        opt.print_json({**files, **summary_of(found)})
    elif output is None:
        typer.echo(workload_text(workload), nl=False)
    else:
        families, ranks = plural(len(workload.families), "file family"), plural(workload.ranks, "rank")
        with_it = f" (with it: {', '.join(path.name for path in beside)})" if beside else ""
        opt.console().print(f"{families} of {ranks}: {output}{with_it}", soft_wrap=True)
    if rules and not as_json:
        for family in found.families:
            for rule in family.sentences():
                opt.warn(f"{family.family.role.value} {family.family.number}: {rule}")
            if family.misfit is None:
                opt.warn(
                    f"{family.family.role.value} {family.family.number}: not compared with the log's counters: more than "
                    f"{THRESHOLDS.synthesis_calls:,} calls, or files of several families"
                )
            for row in family.misfit_sentences():
                opt.warn(f"{family.family.role.value} {family.family.number}: off by more than 5 %: {row}")
    off = sum(bool(family.misfit) for family in found.families)
    if off and not rules and not as_json:
        verb = "misses" if off == 1 else "miss"
        opt.warn(
            f"{plural(off, 'file family')} {verb} counters of the log by more than 5 % (--rules lists them)"
        )
    for name in families_like_meshes(found) if modelling.model is None else []:
        opt.warn(f"{name}: has as many datasets as a mesh with variables; --model mesh models it as one")
    report_gaps(found)
    end_if_partly(found)
