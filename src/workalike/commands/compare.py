"""`workalike compare ORIGINAL REPLICA` and `workalike compare LOG LOG`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.outcome import fail_if_short, report_unreadable
from workalike.errors import ErrorKind, ExitCode, WorkalikeError, about

if TYPE_CHECKING:
    from workalike.characterize.result import Characterization
    from workalike.darshan import Log
    from workalike.plan.plan_schema import Plan
    from workalike.record.run_record import Record

FIDELITY = Path("fidelity.json")
ENOUGH = ("same", "alike")
"""What --require may ask of two logs."""


def register(app: typer.Typer) -> None:
    app.command("compare", epilog=opt.EXIT_CODES)(command)


@dataclass(frozen=True)
class _Asked:
    """Options of both comparisons as given."""

    output: Path | None
    require: str | None
    quiet: bool
    as_json: bool


def command(
    original: Annotated[
        Path,
        typer.Argument(
            metavar="ORIGINAL", help="Log or workload of the original; or a log, or a folder of a job's."
        ),
    ],
    replica: Annotated[
        Path | None,
        typer.Argument(
            metavar="[REPLICA]",
            help="Record (run.json) or log of the replica; or any other log, to compare two logs.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help=f"JSON file [default: {FIDELITY} for a replica, none for two logs]."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="The replica's plan, for its scaling rule [default: plan.json beside the record, if it is of that run]."
        ),
    ] = None,
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            "--baseline",
            metavar="LOG",
            help="A log of an earlier run; repeatable. A change is what lies outside the range of all earlier runs.",
        ),
    ] = None,
    include_program_start: Annotated[
        bool,
        typer.Option(
            "--include-program-start",
            help="Of two logs: libraries, system files and standard streams decide, too.",
        ),
    ] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of two logs: HTML page. It shows the names of files.")
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            help="Fail (exit 1) beyond these errors of a replica, such as bytes=0.1%,storage=5%: bytes, ops, storage "
            "(counters of POSIX and STDIO), time, hist (size histograms, 0..1); of two logs, unless they are the same, "
            "or alike.",
            metavar="LIMITS",
        ),
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Compare a replica with its original, or any two logs, counter by counter.

    Two logs are equal, alike (every counter within 5 %), or changed. Times are not compared.

    Examples:

        workalike compare app.darshan run.json

        workalike compare app.yaml replica.darshan --require bytes=0.1%,ops=1%

        workalike compare before.darshan after.darshan --require alike

        workalike compare new.darshan --baseline run1.darshan --baseline run2.darshan
    """
    from workalike.compare.logs.inputs import logs_at, two_logs

    asked = _Asked(output, require, quiet, as_json)
    if baseline or replica is None:
        *earlier, new = _ordered(original, replica, baseline or [])
        _refuse_plan(plan)
        _compare_logs(
            [(path, logs_at(path)) for path in [*earlier, new]], asked, include_program_start, report
        )
        return
    logs = two_logs(original, replica)
    if logs is not None:
        _refuse_plan(plan)
        _compare_logs(list(zip((original, replica), logs, strict=True)), asked, include_program_start, report)
        return
    if include_program_start or report is not None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "--include-program-start and --report are of two logs",
            hint="name two logs; `workalike replicate` makes a replica's report",
        )
    _compare_replica(original, replica, asked, plan)


def _ordered(original: Path, replica: Path | None, baseline: list[Path]) -> list[Path]:
    """The logs of the baseline, then the new one."""
    if not baseline:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "nothing to compare it with",
            file=original,
            hint="name a second log, a replica's record, or earlier runs with --baseline LOG",
        )
    return [*baseline, original] if replica is None else [original, *baseline, replica]


def _refuse_plan(plan: Path | None) -> None:
    if plan is not None:
        raise WorkalikeError(
            ErrorKind.USAGE, "--plan is of a replica", hint="leave it out: two logs are compared as they are"
        )


def _compare_logs(
    logs: list[tuple[Path, list[Log]]], asked: _Asked, include_program_start: bool, report: Path | None
) -> None:
    """Compare the last log with those before it."""
    from workalike.compare.logs.comparison import compare_logs
    from workalike.compare.logs.schema import write_comparison
    from workalike.compare.logs.sentences import shortfall_of
    from workalike.compare.logs.side import side_of
    from workalike.compare.logs.table import print_comparison

    if asked.require is not None and asked.require not in ENOUGH:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--require {asked.require[:40]!r} is not a limit for two logs",
            hint="use same or alike; limits such as bytes=0.1% are of a replica",
        )
    sides = []
    for path, of_job in logs:
        with about(path):
            sides.append(side_of(of_job, str(path)))
    found = compare_logs(sides[:-1], sides[-1], include_program_start=include_program_start)
    if asked.output is not None:
        write_comparison(found, asked.output)
    if report is not None:
        from workalike.report.logs_page import write_page

        write_page(found, report)
    if asked.as_json:
        opt.print_json(found.model_dump(mode="json"))
    elif not asked.quiet:
        print_comparison(found, opt.console())
    if asked.require is not None:
        fail_if_short([text for text in [shortfall_of(found, asked.require)] if text])
    if found.partial_modules or found.unreadable_modules:
        raise typer.Exit(ExitCode.PARTLY)


def _compare_replica(original: Path, replica: Path, asked: _Asked, plan: Path | None) -> None:
    from workalike.characterize import Characterization
    from workalike.compare.fidelity import compare, write_fidelity
    from workalike.compare.inputs import read_original, read_replica
    from workalike.compare.require import check, parse_requirements
    from workalike.compare.table import print_fidelity
    from workalike.plan.plan_file import read_plan
    from workalike.record.run_record import Record

    if asked.require in ENOUGH:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--require {asked.require} is of two logs",
            hint="write limits such as bytes=0.1%,ops=1% for a replica",
        )
    required = parse_requirements(asked.require) if asked.require else None
    with about(original):
        before, after = read_original(original), read_replica(replica)
        chosen = read_plan(plan) if plan is not None else None
        witness = None
        if isinstance(after, Record):
            chosen = chosen or _plan_beside(replica, after)
            witness = _log_beside(replica, after)
        fidelity = compare(before, after, plan=chosen, witness=witness)
    if asked.output is None and FIDELITY.exists():
        opt.warn(f"{FIDELITY} of an earlier comparison is replaced; -o FILE keeps it")
    write_fidelity(fidelity, asked.output or FIDELITY)
    if asked.as_json:
        opt.print_json(fidelity.model_dump(mode="json"))
    elif not asked.quiet:
        print_fidelity(fidelity, opt.console())
    characterized = [side for side in (before, after) if isinstance(side, Characterization)]
    for side in characterized:
        report_unreadable(side)
    if required is not None:
        fail_if_short(check(fidelity, required))
    if any(side.unreadable for side in characterized):
        raise typer.Exit(ExitCode.PARTLY)


def _log_beside(path: Path, record: Record) -> Characterization | None:
    """The log of the run in the folder of its record, where the run was captured; a new run removes that of an old one."""
    from workalike.compare.inputs import characterized_replica
    from workalike.darshan import open_log
    from workalike.launch.run import REPLICA_LOG

    place = path.parent / REPLICA_LOG
    if not place.is_file():
        return None
    try:
        log = open_log(place)
        return characterized_replica([log]) if log.job.nprocs == record.processes else None
    except WorkalikeError:  # damaged, or without data: the record is compared, and storage is not judged
        return None


def _plan_beside(path: Path, record: Record) -> Plan | None:
    """The plan in the folder of a record, if its ranks and dumps are those of the record; None otherwise."""
    from workalike.plan.plan_file import read_plan

    place = path.parent / "plan.json"
    if not place.is_file():
        return None
    try:
        plan = read_plan(place)
    except WorkalikeError:
        return None
    names = {(family.role, family.number) for family in plan.families}
    performed = {(dump.role, dump.number) for dump in record.dumps}
    return plan if plan.ranks == record.plan_ranks and performed == names else None
