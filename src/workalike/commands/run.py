"""`workalike run FILE --dir DIR`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import about
from workalike.plan.choices import only_counts
from workalike.text import plural

if TYPE_CHECKING:
    from workalike.plan.plan_schema import Plan
    from workalike.record.run_record import Record


def register(app: typer.Typer) -> None:
    app.command("run", epilog=opt.EXIT_CODES)(opt.with_options(command))


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Workload or plan file.")],
    directory: opt.Directory,
    scale: opt.Scale,
    performing: opt.Performing,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the record.")] = Path(),
    capture: opt.Capture = False,
    per_rank: Annotated[Path | None, typer.Option(help="Also write a table of every rank's times.")] = None,
) -> None:
    """Perform a workload on a file system and record what was done and how long it took.

    Writes `run.jsonl` (one line per dump, as it ends) and `run.json`. Data files are deleted afterwards unless --keep.

    The backends null and record, which perform nothing, wait only with --time-scale.

    Examples:

        workalike run app.yaml --dir /scratch/test --ranks 64

        workalike run app.yaml --dir /scratch/test --dir fast=/bb/test      (families with `directory: fast`)

        workalike run app.yaml --dir /tmp/x --backend null      (count only, full scale, seconds)
    """
    from workalike.launch.directories import directories_of
    from workalike.launch.run import run_plan
    from workalike.launch.waiting import schedule_words, waiting_words
    from workalike.plan.plan_file import read_workload_or_plan
    from workalike.plan.plan_schema import Plan
    from workalike.plan.processes import idle_words
    from workalike.plan.resolve import at_time_scale, resolve

    given = read_workload_or_plan(file)
    if isinstance(given, Plan):
        counts = only_counts(scale.checked_backend())
        opt.refuse_given(context, opt.RESOLVED_BUT_TIME if counts else opt.RESOLVED, file)
        # A plan made for real I/O waits; counting its operations must not.
        plan = at_time_scale(given, scale.chosen_time_scale()) if counts else given
        plan_path = file
    else:
        options = scale.options()
        changed = scale.changed(given)
        plan, plan_path = resolve(changed, options), None
        waiting = waiting_words(changed, options.gap_fill, plan.ranks, plan.time_scale)
        if waiting is not None:
            opt.console(performing.silent).print(waiting, soft_wrap=True)
    idle = idle_words(plan.processes, plan.ranks) if plan.time_scale > 0 else None
    if idle is not None:
        opt.console(performing.silent).print(idle, soft_wrap=True)
    schedule = schedule_words(max((dump.end_s for dump in plan.dumps), default=0.0), plan.time_scale)
    if schedule is not None:
        opt.console(performing.silent).print(schedule, soft_wrap=True)
    scale.check_placement_of(plan.ranks)
    places = directories_of(directory)
    more = {"capture": capture, "per_rank": per_rank, "plan_path": plan_path, "source": file}
    running = performing.run_options(scale, places.plain, output, named=places.named, **more)
    with about(file), performing.running():
        record = run_plan(plan, running)
    if performing.as_json:
        opt.print_json(record.model_dump(mode="json", exclude_none=True))
    elif not performing.quiet:
        print_record(record, output / "run.json", plan)


def print_record(record: Record, path: Path, plan: Plan | None = None) -> None:
    """Print how many bytes moved, how fast, which ranks of a plan idled, and where the record is."""
    from rich.text import Text

    from workalike.plan.processes import idle_lines
    from workalike.record.profile import print_profile

    written = sum(d.bytes_written for d in record.dumps)
    read = sum(d.bytes_read for d in record.dumps)
    screen = opt.console()
    screen.print(
        f"{plural(len(record.dumps), 'dump')}: {written:,} bytes written, {read:,} read; record: {path}",
        soft_wrap=True,
    )
    print_profile(record, screen)
    for line in idle_lines(plan) if plan is not None and record.time_scale > 0 else ():
        screen.print(line, soft_wrap=True)
    if record.verified is not None:
        screen.print(record.verified.text(), soft_wrap=True)
    if record.stamp is not None:
        screen.print(Text.assemble((record.stamp.text, "yellow"), f": {'; '.join(record.stamp.reasons)}"))
