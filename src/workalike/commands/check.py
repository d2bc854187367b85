"""`workalike check FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ExitCode

if TYPE_CHECKING:
    from workalike.workload.audit import AuditReport

DISCLOSURES = "\ndiscloses: each field of the file, its value, and what that tells"
"""The heading of the list of --audit."""


def register(app: typer.Typer) -> None:
    app.command("check", epilog=opt.EXIT_CODES)(command)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Workload file.")],
    more_logs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[LOG]...", help="Further logs of --audit.", show_default=False),
    ] = None,
    audit_logs: Annotated[
        list[Path] | None,
        typer.Option(
            "--audit",
            metavar="LOG...",
            help="Search the workload for every name of these logs; a folder stands for the logs in it.",
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Validate a workload and describe in words what it does; with --audit, prove that it has none of the names of a log.

    Contradictions are refused. Where the engine was built, so is what its libraries cannot do
    (`workalike-engine --features`).

    The audit lists, line by line, what the file discloses, for a security officer to sign. Exit code 1: a name of the
    log was found.

    Examples:

        workalike check app.yaml

        workalike check app.yaml --audit app.darshan

        workalike check job.yaml --audit job/*.darshan
    """
    from workalike.columns import broken
    from workalike.darshan import open_logs
    from workalike.errors import ErrorKind, WorkalikeError
    from workalike.files import read_text
    from workalike.launch.engines import engine_if_built
    from workalike.launch.possible import refuse_impossible
    from workalike.plan.resolve import Options, resolve
    from workalike.workload.audit import audit
    from workalike.workload.disclosure import disclose
    from workalike.workload.summary import summarize
    from workalike.workload.workload_file import lists_text, read_workload

    if more_logs and not audit_logs:
        raise WorkalikeError(
            ErrorKind.USAGE, "one workload is checked at a time", hint="logs come after --audit"
        )
    logs = [*(audit_logs or []), *(more_logs or [])]
    workload = read_workload(file)
    if workload.families:
        refuse_impossible(engine_if_built(), resolve(workload, Options()), file)
    report = None
    if logs:
        text = read_text(file, ErrorKind.BAD_WORKLOAD)
        report = audit(text, open_logs(logs), workload.operations, lists_text(text, file))
    disclosures = disclose(workload) if logs else []
    if as_json:
        opt.print_json(
            {
                "valid": True,
                "summary": summarize(workload),
                "audit": report.as_dict() if report else None,
                "discloses": [d.as_dict() for d in disclosures],
            }
        )
    else:
        screen = opt.console()
        width = screen.width if screen.is_terminal else None  # nobody breaks lines of a pipe: they are input
        for line in summarize(workload):
            for part in broken(line, width):
                screen.print(part, markup=False, soft_wrap=True)
        if report is not None:
            screen.print(DISCLOSURES, markup=False, soft_wrap=True)
            for disclosure in disclosures:
                screen.print(f"  {disclosure.text()}", markup=False, soft_wrap=True)
            _print_audit(report)
    if report is not None and report.hits:
        raise typer.Exit(ExitCode.FAILED)


def _print_audit(report: AuditReport) -> None:
    screen = opt.console()
    for line in report.lines():
        screen.print(line, markup=False, soft_wrap=True)
