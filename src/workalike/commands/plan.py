"""`workalike plan FILE --ranks N -o FILE`"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, WorkalikeError
from workalike.text import plural

if TYPE_CHECKING:
    from workalike.plan.plan_schema import Plan
    from workalike.plan.timeline import TimedCall


def register(app: typer.Typer) -> None:
    app.command("plan", epilog=opt.EXIT_CODES)(opt.with_options(command))


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Workload file.")],
    scale: opt.Scale,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Plan file [default: stdout].")
    ] = None,
    timeline: Annotated[
        int | None,
        typer.Option(
            metavar="RANK", min=0, help="Show when a rank makes each of its calls, instead of the plan."
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Resolve a workload for given ranks and scale into a plan, the engine's only input.

    A plan does not say on which nodes its ranks run; `workalike run` decides that. Here, --nodes and --ranks-per-node
    together give the number of ranks.

    Examples:

        workalike plan app.yaml --ranks 64 -o plan.json

        workalike plan app.yaml --ranks 4 --bytes-scale 0.01 --time-scale 0 -o plan.json

        workalike plan app.yaml --timeline 0 | less

        workalike plan app.yaml --what-if checkpoint.every=10min -o plan.json
    """
    from workalike.plan.plan_file import plan_text, write_plan
    from workalike.plan.processes import idle_ranks, idle_words
    from workalike.plan.resolve import resolve
    from workalike.workload.workload_file import read_workload

    options = scale.plan_options()
    resolved = resolve(scale.changed(read_workload(file)), options)
    if timeline is not None:
        _show_timeline(resolved, timeline, file, output, as_json)
        return
    if output is None and resolved.tables:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "the plan has an operation table, which lies in a file beside it",
            file=file,
            hint="name the plan's file with -o",
        )
    if output is None:
        typer.echo(plan_text(resolved), nl=False)
        return
    write_plan(resolved, output)
    if as_json:
        figures = {
            "plan": str(output),
            "ranks": resolved.ranks,
            "families": len(resolved.families),
            "dumps": len(resolved.dumps),
            "scale": resolved.scale.model_dump(),
            "idle_ranks": idle_ranks(resolved),
        }
        opt.print_json(figures)
    else:
        opt.console().print(
            f"{plural(len(resolved.dumps), 'dump')} of {plural(len(resolved.families), 'family')}, "
            f"{plural(resolved.ranks, 'rank')}: {output}",
            soft_wrap=True,
        )
        if (idle := idle_words(resolved.processes, resolved.ranks)) is not None:
            opt.console().print(idle, soft_wrap=True)


def _show_timeline(plan: Plan, rank: int, file: Path, output: Path | None, as_json: bool) -> None:
    """One line for each call of a rank; times are seconds of the original run."""
    import dataclasses

    from workalike.plan.processes import life_of
    from workalike.plan.timeline import timeline

    if rank >= plan.ranks:
        raise WorkalikeError(
            ErrorKind.USAGE, f"--timeline {rank}: the plan has {plural(plan.ranks, 'rank')}", file=file
        )
    calls = timeline(plan, rank)
    life = life_of(plan, rank)
    if as_json:
        begin, end = life
        shown = [dataclasses.asdict(call) for call in calls]
        opt.print_json({"rank": rank, "life": {"start_s": begin, "end_s": end}, "calls": shown})
        return
    if output is None:
        for line in _lines(calls, *life):
            typer.echo(line)
        return
    with output.open("w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in _lines(calls, *life))


def _lines(calls: Iterable[TimedCall], begin: float, end: float | None) -> Iterator[str]:
    """The lines of a timeline, with one more where the rank's process begins and ends."""
    import math

    yield f"{'start':>14} {'inside':>12}  {'call':6} {'offset':>14} {'bytes':>12}  dump"
    edges = [] if begin == 0 else [(begin, _edge(begin, "begins", "idle before"))]
    edges += [] if end is None else [(end, _edge(end, "ends", "idle after"))]
    for call in calls:
        while edges and (edges[0][0] < call.start_s or (edges[0][0] == call.start_s < (end or math.inf))):
            yield edges.pop(0)[1]
        offset, length = ("-" if n is None else str(n) for n in (call.offset, call.length))
        yield (
            f"{call.start_s:14.6f} {call.busy_s:12.6f}  {call.call:6} {offset:>14} {length:>12}  "
            f"{call.role} {call.number}, {call.dump}: {call.file}"
        )
    yield from (line for _, line in edges)


def _edge(moment: float, word: str, what: str) -> str:
    """A line for the start or the end of a rank's process."""
    return f"{moment:14.6f} {'-':>12}  {word:6} {'-':>14} {'-':>12}  {what}"
