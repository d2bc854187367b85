"""`workalike replicate LOG -o DIR`: all steps from a log to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.outcome import end_if_partly, fail_if_short, report_gaps, report_missing_sizes

if TYPE_CHECKING:
    from workalike.plan.resolve import Options


def register(app: typer.Typer) -> None:
    app.command("replicate", epilog=opt.EXIT_CODES)(opt.with_options(command))


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Darshan logs of one job, or a folder of them.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all results.")],
    scale: opt.FittedScale,
    performing: opt.Performing,
    modelling: opt.Modelling,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Where the data goes [default: DIR/data].")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The original's ranks, bytes and times.")] = False,
    capture: Annotated[
        bool,
        typer.Option(
            "--capture/--no-capture",
            help="Measure the replica by a log of it (replica.darshan), not by the engine's own record.",
        ),
    ] = True,
    rehearsal: opt.Rehearsal = True,
    require: opt.Require = None,
) -> None:
    """From a log to a verified replica: characterize, plan, run, compare, report.

    Without options the replica is small: at most twice as many ranks as cores, 1 GiB, about a minute of waiting, and
    of calls, which a probe of the file system times. A full-scale count of every rank's operations (backend null) is
    made as well. With --what-if the replica is compared with the changed workload, not with the log.

    Examples:

        workalike replicate app.darshan -o replica/

        workalike replicate app.darshan -o replica/ --full --dir /scratch/test
    """
    from workalike.characterize import characterize
    from workalike.compare.require import check, parse_requirements
    from workalike.compare.table import print_summary
    from workalike.compare.verdict import full_scale_words
    from workalike.darshan import open_logs
    from workalike.extras import require as needs
    from workalike.files import make_folder
    from workalike.launch.run import require_engine
    from workalike.launch.waiting import schedule_words, waiting_words
    from workalike.plan.processes import idle_words, scale_processes
    from workalike.rehearse.rehearsal import rehearsed, unrehearsed
    from workalike.replica.replicate import REPORT, Sizing, replicate_into

    required = parse_requirements(require) if require else None
    require_engine(scale.checked_backend())
    needs("matplotlib", "the report")
    characterizing = modelling.options()
    make_folder(output)
    screen = opt.console(performing.silent)
    found = characterize(open_logs(logs), characterizing)
    found = rehearsed(found, characterizing) if rehearsal else unrehearsed(found)
    changed = scale.changed(found.workload) if scale.changes() else None

    def announce(chosen: Options) -> None:
        screen.print(
            f"replica: {chosen.ranks or found.workload.ranks} of {found.workload.ranks} ranks, "
            f"bytes × {float(chosen.bytes_scale):.4g}, time × {chosen.time_scale:.4g}",
            soft_wrap=True,
        )
        ranks = chosen.ranks or found.workload.ranks
        waiting = waiting_words(found.workload, chosen.gap_fill, ranks, chosen.time_scale)
        groups = scale_processes(found.workload.processes, found.workload.ranks, ranks)
        schedule = schedule_words((changed or found.workload).runtime or 0.0, chosen.time_scale)
        for line in (schedule, waiting, idle_words(groups, ranks) if chosen.time_scale > 0 else None):
            if line is not None:
                screen.print(line, soft_wrap=True)

    with performing.running():
        replica = replicate_into(
            found,
            scale.options(),
            performing.run_options(scale, directory or output / "data", output, capture=capture),
            sizing=Sizing(full=full, bytes=scale.bytes_scale is None, time=scale.time_scale is None),
            scratch=directory is None,
            announce=announce,
            changed=changed,
        )
    if performing.as_json:
        opt.print_json(replica.fidelity.model_dump(mode="json"))
    else:
        if replica.record.verified is not None:
            screen.print(replica.record.verified.text(), soft_wrap=True)
        full_scale = full_scale_words(replica.full_scale)
        basis = "log" if changed is None else "workload as changed"
        screen.print(f"full-scale plan against the {basis}: {full_scale}", soft_wrap=True)
        has_trace = any(name.startswith("DXT") for log in found.logs for name in log.modules)
        print_summary(replica.fidelity, output / REPORT, screen, has_trace=has_trace)
    report_gaps(found)
    report_missing_sizes(found)
    if required is not None:
        fail_if_short(check(replica.fidelity, required))
        if not performing.as_json:
            screen.print(f"required     met: {require}", soft_wrap=True)
    end_if_partly(found)
