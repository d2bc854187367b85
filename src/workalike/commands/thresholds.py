"""`workalike thresholds [LOG...]`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt


def register(app: typer.Typer) -> None:
    app.command("thresholds", hidden=True)(command)


def command(
    logs: Annotated[
        list[Path] | None, typer.Argument(metavar="[LOG...]", help="Logs, or folders of one job's logs.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Only this threshold; may be repeated.", metavar="NAME"),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """List the thresholds of characterization; with logs, also which workloads change when one is halved or doubled.

    Examples:

        workalike thresholds

        workalike thresholds logs/*.darshan --name level_explains
    """
    from workalike.characterize.sensitivity import effects, jobs_of
    from workalike.facts.thresholds import table

    rows = table()
    for wanted in name or []:
        opt.one_of(wanted, tuple(row.name for row in rows), "--name")
    rows = [row for row in rows if not name or row.name in name]
    jobs = jobs_of(logs or [])
    screen = opt.console(as_json)
    if as_json and not jobs:
        opt.print_json({"thresholds": [vars(row) for row in rows]})
        return
    shown = []
    for effect in effects(rows, jobs):
        row = effect.threshold
        shown.append({**vars(row), "halved": effect.halved, "doubled": effect.doubled})
        screen.print(f"{row.name} = {row.value:g} {row.unit}: {row.decides}", soft_wrap=True)
        if not jobs:
            screen.print(f"  seen on: {', '.join(row.seen_on) or 'no known log'}", soft_wrap=True)
            continue
        for change, changed in (("halved", effect.halved), ("doubled", effect.doubled)):
            screen.print(f"  {change}: {', '.join(changed) or 'nothing changes'}", soft_wrap=True)
    if as_json:
        opt.print_json({"jobs": [job.name for job in jobs], "thresholds": shown})
