"""`workalike run FILE --dir DIR`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from workalike.commands import options as opt
from workalike.commands.inputs import read_workload_or_plan
from workalike.compare.profile import print_profile
from workalike.compare.record import Record
from workalike.compare.words import plural
from workalike.launch.run import COUNTING_BACKENDS, RunOptions, run_plan
from workalike.plan.model import Plan
from workalike.plan.resolve import resolve


def register(app: typer.Typer) -> None:
    app.command("run", epilog=opt.EXIT_CODES)(command)


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Workload or plan file.")],
    directory: Annotated[
        Path, typer.Option("--dir", help="Where the data goes: the file system under test.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the record.")] = Path(),
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
    launcher: opt.LauncherName = None,
    keep: opt.Keep = False,
    verify: opt.Verify = False,
    capture: opt.Capture = False,
    per_rank: Annotated[Path | None, typer.Option(help="Also write a table of every rank's times.")] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Perform a workload on a file system and record what was done and how long it took.

    Writes `run.jsonl` (a line a dump, as it ends) and `run.json`. Data files are deleted afterwards unless --keep.

    The backends null and record, which perform nothing, wait only with --time-scale, or with that of a plan.

    Examples:

        workalike run app.yaml --dir /scratch/test --ranks 64

        workalike run app.yaml --dir /tmp/x --backend null      (count only, full scale, seconds)
    """
    given = read_workload_or_plan(file)
    if backend in COUNTING_BACKENDS and not opt.was_given(context, "time_scale"):
        time_scale = 0.0  # there is nothing to measure
    if isinstance(given, Plan):
        opt.refuse_given(context, opt.RESOLVED, file)
        plan = given
    else:
        plan = resolve(
            given,
            opt.resolve_options(
                ranks,
                scaling,
                bytes_scale,
                scale_by,
                time_scale,
                clock,
                None,
                seed,
                gap_fill,
                compressibility,
            ),
        )
    if backend is not None:
        opt.one_of(backend, opt.BACKENDS, "--backend")
    record = run_plan(
        plan,
        RunOptions(
            data=directory,
            out=output,
            backend=backend,
            nodes=nodes,
            ranks_per_node=ranks_per_node,
            launcher=launcher,
            keep=keep,
            verify=verify,
            quiet=quiet or as_json,
            per_rank=per_rank,
            plan_path=file if isinstance(given, Plan) else None,
            source=file,
            capture=capture,
        ),
    )
    if as_json:
        opt.print_json(record.model_dump(mode="json", exclude_none=True))
    elif not quiet:
        print_record(record, output / "run.json")


def print_record(record: Record, path: Path) -> None:
    """What moved, how fast, where the record is."""
    written = sum(d.bytes_written for d in record.dumps)
    read = sum(d.bytes_read for d in record.dumps)
    screen = opt.console()
    screen.print(
        f"{plural(len(record.dumps), 'dump')}: {written:,} bytes written, {read:,} read; record: {path}",
        soft_wrap=True,
    )
    print_profile(record, screen)
    if record.verified is not None:
        screen.print(record.verified.text(), soft_wrap=True)
    if record.stamp is not None:
        screen.print(Text.assemble((record.stamp.text, "yellow"), f": {'; '.join(record.stamp.reasons)}"))
