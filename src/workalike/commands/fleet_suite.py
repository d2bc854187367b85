"""`workalike fleet suite`"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt


def suite(
    db: Annotated[Path, typer.Option("--db", metavar="FLEET", help="Folder of the database.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the suite.")],
    count: Annotated[int, typer.Option("--k", min=1, max=50, help="How many jobs stand for the centre.")] = 6,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only jobs that began then or later.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only jobs that began before.")] = None,
    archive: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Archives of logs that are no longer where they were read."),
    ] = None,
    copies: Annotated[
        int, typer.Option(min=1, max=1000, help="Copies in all that MIX.yaml runs, about.")
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample and the resamples.")] = 15,
    as_json: opt.Json = False,
) -> None:
    """Choose the few jobs that stand for a centre, and write their workloads, without names.

    DIR gets a workload for each class of jobs, MIX.yaml with weights for `workalike mix`, and suite.html, which explains
    the choice: what it covers and how stable it is. No name of the centre is in DIR; the names are printed only.

    Example:

        workalike fleet suite --db fleet/ --k 6 -o suite/ && workalike mix suite/MIX.yaml --dir /scratch/me -o mixed/
    """
    from workalike.files import write_text
    from workalike.fleet.report.period import Period, moment
    from workalike.fleet.store import damage_named, open_store
    from workalike.fleet.suite.choice import choose
    from workalike.fleet.suite.features import measured as measured_of
    from workalike.fleet.suite.page import suite_page
    from workalike.fleet.suite.words import sentences
    from workalike.fleet.suite.write import as_json as suite_json
    from workalike.fleet.suite.write import write_suite

    now = time.time()
    period = Period(
        moment(since, "--since", now) if since else None, moment(until, "--until", now) if until else None
    )
    with damage_named(db):
        store = open_store(db)
        connection = store.connect()
        measured = measured_of(connection, period)
        choice = choose(measured, count, seed=seed)
        members = write_suite(store, measured, choice, output, archives=archive, copies=copies)
    write_text(output / "suite.html", suite_page(measured, choice, members))
    if as_json:
        opt.print_json(suite_json(choice, members))
        return
    for line in sentences(measured, choice, members):
        print(line)
    for member in members:
        found = connection.execute(
            'SELECT job_id, "user", application FROM log WHERE log_id = ?', [member.log_id]
        ).fetchall()
        for job_id, user, application in found:
            shown = "".join(c if c.isprintable() else "?" for c in f"{application} of {user}")
            print(f"{member.name} is job {job_id}: {shown} (not in {output})")
