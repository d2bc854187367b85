"""`workalike plan FILE --ranks N -o FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.compare.words import plural
from workalike.launch.run import COUNTING_BACKENDS
from workalike.plan.files import plan_text, write_plan
from workalike.plan.resolve import resolve
from workalike.workload.files import read_workload


def register(app: typer.Typer) -> None:
    app.command("plan", epilog=opt.EXIT_CODES)(command)


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Workload file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Plan file [default: stdout].")
    ] = None,
    ranks: opt.Ranks = None,
    nodes: opt.Nodes = None,
    ranks_per_node: opt.RanksPerNode = None,
    scaling: opt.Scaling = "strong",
    bytes_scale: opt.BytesScale = "1",
    scale_by: opt.ScaleBy = "count",
    time_scale: opt.TimeScale = 1.0,
    clock: opt.ClockName = "gap",
    backend: opt.BackendName = None,
    seed: opt.Seed = 1,
    gap_fill: opt.Fill = "sleep",
    compressibility: opt.Compressibility = 0.0,
    as_json: opt.Json = False,
) -> None:
    """Resolve a workload for given ranks and scale into a plan, the engine's only input.

    Examples:

        workalike plan app.yaml --ranks 64 -o plan.json

        workalike plan app.yaml --ranks 4 --bytes-scale 0.01 --time-scale 0 -o plan.json
    """
    if backend in COUNTING_BACKENDS and not opt.was_given(context, "time_scale"):
        time_scale = 0.0
    options = opt.resolve_options(
        ranks, scaling, bytes_scale, scale_by, time_scale, clock, backend, seed, gap_fill, compressibility
    )
    resolved = resolve(read_workload(file), options)
    if output is None:
        typer.echo(plan_text(resolved), nl=False)
        return
    write_plan(resolved, output)
    figures = {
        "plan": str(output),
        "ranks": resolved.ranks,
        "families": len(resolved.families),
        "dumps": len(resolved.dumps),
        "scale": resolved.scale.model_dump(),
    }
    if as_json:
        opt.print_json(figures)
    else:
        opt.console().print(
            f"{plural(len(resolved.dumps), 'dump')} of {plural(len(resolved.families), 'family')}, "
            f"{plural(resolved.ranks, 'rank')}: {output}",
            soft_wrap=True,
        )
