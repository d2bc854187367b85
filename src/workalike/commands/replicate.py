"""`workalike replicate LOG -o DIR`: the whole line."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.commands import options as opt
from workalike.commands.characterize import EXIT_PARTLY, report_gaps
from workalike.commands.compare import fail_if_short
from workalike.commands.inputs import open_logs
from workalike.compare.fidelity import Fidelity, compare, write_fidelity
from workalike.compare.record import Record
from workalike.compare.require import check, parse_requirements
from workalike.compare.table import print_fidelity
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder, write_text
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.plan.files import write_plan
from workalike.plan.model import Plan
from workalike.plan.resolve import Options, resolve
from workalike.report import write_report
from workalike.workload.files import workload_text

MOST_BYTES = 2**30
FREE_SHARE = 10
WAITING_S = 50.0


def register(app: typer.Typer) -> None:
    app.command("replicate", epilog=opt.EXIT_CODES)(command)


@dataclass(frozen=True)
class Replica:
    """What one replication made."""

    characterization: Characterization
    plan: Plan
    record: Record
    fidelity: Fidelity
    full_scale: Fidelity


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Darshan logs of one job, or a folder of them.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all results.")],
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Where the data goes [default: DIR/data].")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The original's ranks, bytes and times.")] = False,
    states: Annotated[int | None, typer.Option(min=1, help="Dumps in each long-lived file.")] = None,
    model: opt.ModelName = None,
    variables: opt.Variables = None,
    ranks: opt.Ranks = None,
    nodes: opt.Nodes = None,
    ranks_per_node: opt.RanksPerNode = None,
    scaling: opt.Scaling = "strong",
    bytes_scale: Annotated[
        str | None, typer.Option(help="Factor on all bytes [default: at most 1 GiB].", metavar="F")
    ] = None,
    scale_by: opt.ScaleBy = "count",
    time_scale: Annotated[
        float | None,
        typer.Option(
            help="Factor on all waiting [default: about a minute].",
            metavar="F",
            min=0.0,
            max=opt.MAX_TIME_SCALE,
        ),
    ] = None,
    clock: opt.ClockName = "gap",
    backend: opt.BackendName = None,
    seed: opt.Seed = 1,
    gap_fill: opt.Fill = "sleep",
    compressibility: opt.Compressibility = 0.0,
    launcher: opt.LauncherName = None,
    keep: opt.Keep = False,
    verify: opt.Verify = False,
    capture: Annotated[
        bool,
        typer.Option(
            "--capture/--no-capture",
            help="Measure the replica by a log of it (replica.darshan), not by the engine's own record.",
        ),
    ] = True,
    require: Annotated[
        str | None,
        typer.Option(
            help="Fail (exit 1) beyond these errors: bytes, ops, time, hist (size histograms, 0..1).",
            metavar="bytes=0.1%,ops=1%,time=25%",
        ),
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """From a log to a verified replica: characterize, plan, run, compare, report.

    Without options the replica is small: at most twice as many ranks as cores, 1 GiB, about a minute. A full-scale
    count of every rank's operations (backend null) goes with it.

    Examples:

        workalike replicate app.darshan -o replica/

        workalike replicate app.darshan -o replica/ --full --dir /scratch/test
    """
    required = parse_requirements(require) if require else None
    taken = opt.model_of(model, variables)
    make_folder(output)
    screen = opt.console(quiet or as_json)
    found = characterize(open_logs(logs), CharacterizeOptions(states, model=taken, variables=variables))
    write_text(output / "workload.yaml", workload_text(found.workload))
    given = opt.resolve_options(
        ranks,
        scaling,
        bytes_scale or "1",
        scale_by,
        time_scale or 0.0,
        clock,
        None,
        seed,
        gap_fill,
        compressibility,
    )
    data = directory or output / "data"
    make_folder(data)
    if full:
        chosen = replace(given, time_scale=1.0 if time_scale is None else time_scale)
    else:
        chosen = fit_to_machine(found, given, data, bytes_scale is None, time_scale is None)
    screen.print(
        f"replica: {chosen.ranks or found.workload.ranks} of {found.workload.ranks} ranks, "
        f"bytes × {float(chosen.bytes_scale):.4g}, time × {chosen.time_scale:.4g}",
        soft_wrap=True,
    )
    run = RunOptions(
        data=data,
        out=output,
        backend=backend,
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        launcher=launcher,
        keep=keep,
        verify=verify,
        quiet=quiet or as_json,
        capture=capture,
    )
    try:
        replica = replicate(found, chosen, run)
    finally:
        if directory is None and not keep:
            with suppress(OSError):  # not empty: what lies there is not of this run
                data.rmdir()
    write_report(
        output / "report.html",
        characterization=found,
        workload=found.workload,
        plan=replica.plan,
        record=replica.record,
        fidelity=replica.fidelity,
    )
    if as_json:
        opt.print_json(replica.fidelity.model_dump(mode="json"))
    else:
        print_fidelity(replica.fidelity, screen)
        if replica.record.verified is not None:
            screen.print(replica.record.verified.text(), soft_wrap=True)
        full_scale = _full_scale_words(replica.full_scale)
        screen.print(f"full-scale plan against the log: {full_scale}", soft_wrap=True)
        screen.print(f"report: {output / 'report.html'}", soft_wrap=True)
    report_gaps(found)
    if required is not None:
        fail_if_short(replica.fidelity, check(replica.fidelity, required))
    if not found.complete:
        raise typer.Exit(EXIT_PARTLY)


def replicate(found: Characterization, chosen: Options, run: RunOptions) -> Replica:
    """Plan, run and compare; the full-scale count beside it."""
    plan = resolve(found.workload, chosen)
    write_plan(plan, run.out / "plan.json")
    record = run_plan(plan, run)
    fidelity = compare(found, record, plan=plan, witness=_witness(run))
    write_fidelity(fidelity, run.out / "fidelity.json")
    full_scale = count_at_full_scale(found, run.out)
    return Replica(found, plan, record, fidelity, full_scale)


def _witness(run: RunOptions) -> Characterization | None:
    """What the capture library saw of the replica, if it was asked: log against log, not the engine's own word."""
    log = run.out / REPLICA_LOG
    if not run.capture or not log.exists():
        return None
    try:
        return characterize(open_logs([log]), CharacterizeOptions(include_noise=True))
    except WorkalikeError as error:
        if error.kind is ErrorKind.NOTHING_TO_REPLICATE:  # a replica that moves no data
            return None
        raise


def count_at_full_scale(found: Characterization, out: Path) -> Fidelity:
    """Every rank's operations of the original, counted and compared; in `full-scale/`."""
    folder = out / "full-scale"
    plan = resolve(found.workload, Options())
    record = run_plan(plan, RunOptions(data=folder, out=folder, backend="null", quiet=True))
    fidelity = compare(found, record, plan=plan)
    write_fidelity(fidelity, folder / "fidelity.json")
    return fidelity


def fit_to_machine(
    found: Characterization, given: Options, data: Path, scale_bytes: bool, scale_time: bool
) -> Options:
    """A replica that this machine does in about a minute (docs/reference/terms.md#size-of-a-replica)."""
    ranks = given.ranks or min(found.workload.ranks, 2 * (os.cpu_count() or 1))
    moved = sum(d.bytes_written + d.bytes_read for f in found.families for d in f.dumps)
    if given.scaling == "weak":
        moved = moved * ranks // found.workload.ranks
    limit = min(MOST_BYTES, shutil.disk_usage(data).free // FREE_SHARE)
    factor = given.bytes_scale
    if scale_bytes and moved > limit > 0:
        factor = Fraction(limit, moved).limit_denominator(10**9) or Fraction(limit, moved)
    time = given.time_scale
    if scale_time:
        time = min(1.0, WAITING_S / found.workload.runtime) if found.workload.runtime else 1.0
    return replace(given, ranks=ranks, bytes_scale=factor, time_scale=time)


def _full_scale_words(fidelity: Fidelity) -> str:
    worst = max((f.bytes_error_max_pct for f in fidelity.families), default=0.0)
    distance = [
        d
        for d in (fidelity.size_histogram_distance.read, fidelity.size_histogram_distance.write)
        if d is not None
    ]
    return f"bytes of a dump at most {worst:.3g} % off, size histograms {max(distance, default=0.0):.3g} apart (0..1)"
