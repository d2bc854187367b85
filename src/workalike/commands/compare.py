"""`workalike compare ORIGINAL REPLICA`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.outcome import fail_if_short
from workalike.errors import about


def register(app: typer.Typer) -> None:
    app.command("compare", epilog=opt.EXIT_CODES)(command)


def command(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="Log or workload of the original.")],
    replica: Annotated[
        Path, typer.Argument(metavar="REPLICA", help="Record (run.json) or log of the replica.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Fidelity file.")] = Path("fidelity.json"),
    plan: Annotated[Path | None, typer.Option(help="The replica's plan, for its scaling rule.")] = None,
    require: opt.Require = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Compare a replica with its original, counter by counter.

    Examples:

        workalike compare app.darshan run.json

        workalike compare app.yaml replica.darshan --require bytes=0.1%,ops=1%
    """
    from workalike.compare.fidelity import compare, write_fidelity
    from workalike.compare.inputs import read_original, read_replica
    from workalike.compare.require import check, parse_requirements
    from workalike.compare.table import print_fidelity
    from workalike.plan.plan_file import read_plan

    required = parse_requirements(require) if require else None
    with about(original):
        fidelity = compare(
            read_original(original), read_replica(replica), plan=read_plan(plan) if plan else None
        )
    write_fidelity(fidelity, output)
    if as_json:
        opt.print_json(fidelity.model_dump(mode="json"))
    elif not quiet:
        print_fidelity(fidelity, opt.console())
    if required is not None:
        fail_if_short(check(fidelity, required))
