"""`workalike thresholds [LOG...]`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt

HEADINGS = {
    "threshold": "Thresholds decide what a log means.",
    "limit": "Limits bound work, memory, and what a damaged log can claim.",
}


def register(app: typer.Typer) -> None:
    app.command("thresholds")(command)


def command(
    logs: Annotated[
        list[Path] | None, typer.Argument(metavar="[LOG...]", help="Logs, or folders of one job's logs.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Only this threshold or limit; may be repeated.", metavar="NAME"),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """List the thresholds and limits of characterization; with logs, which workloads change when one is halved or doubled.

    A threshold decides what a log means: each is seen on the logs, or in the tests, that are listed with it. A limit
    bounds work, memory, or what a damaged log can claim.

    Examples:

        workalike thresholds

        workalike thresholds logs/*.darshan --name level_explains
    """
    from workalike.characterize.sensitivity import effects, jobs_of
    from workalike.facts.thresholds import Kind, table

    rows = table()
    for wanted in name or []:
        opt.one_of(wanted, tuple(row.name for row in rows), "--name")
    rows = [row for row in rows if not name or row.name in name]
    jobs = jobs_of(logs or [])
    screen = opt.console(as_json)
    shown: dict[Kind, list[dict[str, object]]] = {kind: [] for kind in Kind}
    for kind in Kind:
        of_kind = [row for row in rows if row.kind is kind]
        if of_kind:
            screen.print(HEADINGS[kind], soft_wrap=True)
        for effect in effects(of_kind, jobs):
            row = effect.threshold
            screen.print(f"{row.name} = {row.value:g} {row.unit}: {row.decides}", soft_wrap=True)
            if not jobs:
                shown[kind].append(vars(row))
                if row.seen_on:
                    screen.print(f"  seen on: {', '.join(row.seen_on)}", soft_wrap=True)
                continue
            shown[kind].append({**vars(row), "halved": effect.halved, "doubled": effect.doubled})
            for change, changed in (("halved", effect.halved), ("doubled", effect.doubled)):
                screen.print(f"  {change}: {', '.join(changed) or 'nothing changes'}", soft_wrap=True)
    if as_json:
        names = {"jobs": [job.name for job in jobs]} if jobs else {}
        opt.print_json({**names, "thresholds": shown[Kind.THRESHOLD], "limits": shown[Kind.LIMIT]})
