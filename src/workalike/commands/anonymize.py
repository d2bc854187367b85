"""`workalike anonymize LOG… -o DIR`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ExitCode
from workalike.text import plural


def register(app: typer.Typer) -> None:
    app.command("anonymize", epilog=opt.EXIT_CODES)(command)


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Darshan logs, or folders with logs below them.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the new logs.")],
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the key; made if it does not exist. Logs with one key have the same tokens for the same "
            "names [default: a random key that is not kept].",
        ),
    ] = None,
    audit_too: Annotated[
        bool,
        typer.Option("--audit", help="Prove that no name, id or host of the originals is in the result."),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Write logs that may be published: names, ids, hosts, users and times are replaced, counters stay.

    Who has the key can check guesses, so it must not be published. Exit code 1: the audit found something. Exit code
    3: done, but modules that cannot be read were left out.

    Examples:

        workalike anonymize app.darshan -o published/ --audit

        workalike anonymize job/*.darshan -o published/ --key site.key
    """
    from workalike.errors import ErrorKind, WorkalikeError
    from workalike.fleet.anonymize.audit import audit
    from workalike.fleet.anonymize.key import key_of_file, random_key
    from workalike.fleet.anonymize.logs import anonymize

    if key is not None and output.resolve() in key.resolve().parents:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "the key would be in the folder that is published",
            file=key,
            hint="keep it elsewhere",
        )
    done = anonymize(logs, output, random_key() if key is None else key_of_file(key))
    report = audit(done) if audit_too else None
    if as_json:
        opt.print_json(
            {"logs": [log.as_dict() for log in done], "audit": report.as_dict() if report else None}
        )
    else:
        screen = opt.console()
        screen.print(f"{plural(len(done), 'log')}: {output}", markup=False, soft_wrap=True)
        for line in report.lines() if report else ():
            screen.print(line, markup=False, soft_wrap=True)
    for log in done:
        if log.dropped:
            opt.warn(f"{log.original}: left out, since they are not read: {', '.join(log.dropped)}")
        if log.shortened:
            opt.warn(f"{log.original}: left out, since there is no room: {', '.join(log.shortened)}")
    if report is not None and not report.clean:
        raise typer.Exit(ExitCode.FAILED)
    if any(log.dropped for log in done):
        raise typer.Exit(ExitCode.PARTLY)
