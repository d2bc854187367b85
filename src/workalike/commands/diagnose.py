"""`workalike diagnose LOG…`"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.progress import progress
from workalike.errors import ErrorKind, ExitCode, WorkalikeError


def register(app: typer.Typer) -> None:
    app.command("diagnose", epilog=opt.EXIT_CODES)(command)


def command(
    logs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="LOG...", help="Darshan logs of one job, or a folder of them."),
    ] = None,
    site: Annotated[
        Path | None, typer.Option(help="Site file (TOML) with other thresholds.", metavar="FILE")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML page with the job's timeline.")
    ] = None,
    explain: Annotated[str | None, typer.Option(help="Print the page of a rule.", metavar="RULE")] = None,
    show_site: Annotated[
        bool, typer.Option("--show-site", help="Print the site file with all defaults.")
    ] = False,
    attempt: Annotated[
        Path | None,
        typer.Option(
            "--try",
            metavar="DIR",
            help="Measure what changes gain: a study of the log's workload with and without them, in this folder.",
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="With --try: where the data goes [default: in DIR].")
    ] = None,
    ranks: Annotated[
        int | None, typer.Option(min=1, help="With --try: ranks [default: two per core].")
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Compare with earlier runs of the same workload: a folder of logs, or a fleet's database.",
        ),
    ] = None,
    blocks: Annotated[int, typer.Option(min=2, max=1000, help="With --try: times that each is run.")] = 6,
    names: Annotated[
        bool, typer.Option("--names", help="Name the files of each family, by their pattern.")
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Say what is wrong with a job's I/O, what it costs in time, and what to change.

    Exit code 3: done, but a module of the log was partial, or could not be read.

    Examples:

        workalike diagnose app.darshan

        workalike diagnose app.darshan -o app.html --names

        workalike diagnose app.darshan --try tried/ --dir /scratch/me

        workalike diagnose app.darshan --history /logs/2026

        workalike diagnose --explain sync-each-write
    """
    from workalike.darshan import open_logs
    from workalike.diagnose.diagnosis import diagnosis_of
    from workalike.diagnose.job import read_job
    from workalike.diagnose.pages import page_of
    from workalike.diagnose.registry import rule_of
    from workalike.diagnose.site import default_text, read_site
    from workalike.diagnose.text import diagnosis_text

    if explain is not None:
        typer.echo(page_of(rule_of(explain)), nl=False)
        return
    if show_site:
        typer.echo(default_text(), nl=False)
        return
    if not logs:
        raise WorkalikeError(ErrorKind.USAGE, "no log to diagnose", hint="name a Darshan log")
    chosen = read_site(site)
    job = read_job(open_logs(logs))
    past = None
    if history is not None:
        from workalike.fleet.history.compare import history_of

        with progress("logs", hidden=as_json) as report_done:
            past = history_of(job.logs, history, report_done)
    found = diagnosis_of(job, chosen, names=names, history=past)
    if attempt is not None:
        from workalike.diagnose.trying.measure import TryOptions
        from workalike.diagnose.trying.of_findings import try_findings, with_gains
        from workalike.files import make_data_folder

        if directory is not None:
            make_data_folder(directory)

        said = opt.warn if not as_json else lambda _: None
        options = TryOptions(attempt, directory, ranks, blocks=blocks, report=said)
        if not found.findings and not as_json:
            opt.warn("nothing to try: the job has no findings")
        found = with_gains(found, try_findings(found, job, options))
    elif directory is not None or ranks is not None:
        raise WorkalikeError(ErrorKind.USAGE, "--dir and --ranks need --try", hint="add --try DIR")
    if output is not None:
        from workalike.diagnose.page import write_page

        if output.is_dir():
            raise WorkalikeError(ErrorKind.USAGE, "is a folder", file=output, hint="name a file for the page")
        write_page(output, found, job)
        if not as_json:
            opt.warn(f"page: {output}")
    if as_json:
        opt.print_json(found.model_dump(mode="json"))
    else:
        typer.echo(diagnosis_text(found, shutil.get_terminal_size().columns), nl=False)
    if found.partial_modules or found.unreadable_modules:
        raise typer.Exit(ExitCode.PARTLY)
