"""`workalike characterize LOG… -o FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.meshes import looks_like_mesh
from workalike.commands import options as opt
from workalike.commands.inputs import open_logs
from workalike.files import write_text
from workalike.text import plural, seconds_text
from workalike.workload.files import workload_text
from workalike.workload.model import Level
from workalike.workload.rounding import round_workload

EXIT_PARTLY = 3


def register(app: typer.Typer) -> None:
    app.command("characterize", epilog=opt.EXIT_CODES)(command)


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Darshan logs of one job, or a folder of them.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Workload file [default: stdout].")
    ] = None,
    states: Annotated[
        int | None, typer.Option(min=1, help="Dumps in each long-lived file, when the log cannot tell.")
    ] = None,
    round_to: Annotated[
        int | None,
        typer.Option("--round", min=1, max=17, help="Round sizes and times to N significant digits."),
    ] = None,
    include_noise: Annotated[
        bool, typer.Option(help="Replicate standard streams, libraries and the like too.")
    ] = False,
    level: Annotated[
        str | None,
        typer.Option(help="Characterize at this level where a file has it.", metavar="posix|mpiio|h5d"),
    ] = None,
    model: opt.ModelName = None,
    variables: opt.Variables = None,
    rules: Annotated[bool, typer.Option("--rules", help="Print which rule decided what.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Write down what a log's application does to storage, as an anonymous workload file.

    Exit code 3: done, but a module of the log was partial or data could not be expressed.

    Examples:

        workalike characterize app.darshan -o app.yaml

        workalike characterize job/*.darshan --round 3 -o job.yaml

        workalike characterize app.darshan --model mesh --variables 43 -o app.yaml
    """
    wanted = Level(opt.one_of(level, tuple(Level), "--level")) if level else None
    taken = opt.model_of(model, variables, level)
    found = characterize(
        open_logs(logs), CharacterizeOptions(states, include_noise, wanted, model=taken, variables=variables)
    )
    workload = found.workload
    workload = round_workload(workload, round_to) if round_to else workload
    text = workload_text(workload)
    if output is not None:
        write_text(output, text)
    if as_json:
        opt.print_json(summary(found, output))
    elif output is None:
        typer.echo(text, nl=False)
    else:
        families, ranks = plural(len(workload.families), "file family"), plural(workload.ranks, "rank")
        opt.console().print(f"{families} of {ranks}: {output}", soft_wrap=True)
    if rules and not as_json:
        for family in found.families:
            for rule in family.rules:
                opt.warn(f"{family.family.role.value} {family.family.number}: {rule}")
    if model is None:
        hint_at_meshes(found)
    report_gaps(found)
    if not found.complete:
        raise typer.Exit(EXIT_PARTLY)


def hint_at_meshes(found: Characterization) -> None:
    """Name the families that a mesh could stand for.

    It is not assumed: a mesh keeps its calls at any scale of the bytes and has the metadata of TyphonIO, which a log
    of datasets or of calls alone does not show.
    """
    for facts in found.families:
        if looks_like_mesh(facts.family, found.workload.ranks):
            name = f"{facts.family.role.value} {facts.family.number}"
            opt.warn(f"{name}: has as many datasets as a mesh with variables: --model mesh takes it for one")


def report_gaps(found: Characterization) -> None:
    """Say what of the log could not be used, and what may not have been meant."""
    jobs = {log.job.job_id for log in found.logs}
    if len(jobs) > 1:  # a workflow without a batch system has as many
        starts = [log.job.start_time for log in found.logs]
        apart = seconds_text(max(starts) - min(starts))
        opt.warn(
            f"{len(found.logs)} logs of {len(jobs)} jobs, begun within {apart}, are taken as one workflow: "
            "name the logs of one job if that is not meant"
        )
    for module in found.partial_modules:
        opt.warn(f"module {module} of the log is partial: what it lost is not in the workload")
    for module in found.skipped_modules:
        opt.warn(f"module {module} is not read: nothing of it is in the workload")


def summary(found: Characterization, output: Path | None) -> dict[str, object]:
    """What --json prints."""
    return {
        "workload": str(output) if output else None,
        "ranks": found.workload.ranks,
        "complete": found.complete,
        "families": [
            {
                "role": f.family.role.value,
                "number": f.family.number,
                "level": f.family.counted_at.value,
                "dumps": f.family.schedule.dumps,
                "bytes_written": sum(d.bytes_written for d in f.dumps),
                "bytes_read": sum(d.bytes_read for d in f.dumps),
                "rules": f.rules,
            }
            for f in found.families
        ],
        "noise": [{"rule": rule, "files": files, "bytes": size} for rule, files, size in found.noise],
        "partial_modules": found.partial_modules,
        "skipped_modules": found.skipped_modules,
        "uncovered": found.workload.model_dump(mode="json")["uncovered"],
    }
