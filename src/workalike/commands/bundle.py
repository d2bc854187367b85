"""`workalike bundle WORKLOAD… -o NAME.tar.gz`, and `workalike bundle --collect`"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.text import plural, rate_text, seconds_text, size_text

if TYPE_CHECKING:
    from workalike.bundle.acceptance import Acceptance
    from workalike.bundle.collect import Collected
    from workalike.bundle.rules import PlanRule
    from workalike.plan.plan_schema import Plan

MEMORY_OF_A_RANK = 2**30
"""Bytes of memory that hardly any system has less of for each rank that it runs."""
SYSTEM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}")


def _complete_fields(incomplete: str) -> list[str]:
    from workalike.bundle.rules import FIELDS, GROUPS

    return opt.complete_list(incomplete, (*GROUPS, *FIELDS))


def register(app: typer.Typer) -> None:
    app.command(
        "bundle",
        epilog="Exit codes: 0 done; 1 not accepted, or undecided; 2 bad usage or input; 3 collected, but runs are left out.",
    )(opt.with_options(command))


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Workloads or plans; with --collect, the bundle that was sent out."
        ),
    ],
    scale: opt.Scale,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="NAME.tar.gz, or a folder for what is collected."
        ),
    ],
    results: Annotated[
        Path | None, typer.Option("--collect", metavar="RESULTS.tar.gz", help="What came back: check it.")
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the system that was measured [default: the archive's]."),
    ] = None,
    criteria: Annotated[
        Path | None,
        typer.Option(
            "--accept",
            metavar="ACCEPTANCE.yaml",
            help="With --collect: bandwidths that the workloads must reach.",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="How often each workload is run.")] = 5,
    tunable: Annotated[
        str | None,
        typer.Option(
            metavar="FIELDS",
            help="What may be tuned, separated by commas: hints, hdf5, single fields such as cb_nodes and alignment, or "
            "hints.NAME [default: hints,hdf5].",
            show_default=False,
            autocompletion=_complete_fields,
        ),
    ] = None,
    fixed: Annotated[bool, typer.Option("--fixed", help="Nothing may be tuned.")] = False,
    memory_factor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[WORKLOAD=]FACTOR",
            help="A run counts where its files are at least this multiple of the memory of all nodes; 0: any size counts "
            "[default: 1.5; 0 for plans at another scale of bytes]. May be repeated.",
            show_default=False,
        ),
    ] = None,
    exclude: Annotated[
        str,
        typer.Option(
            metavar="TYPES", help="Types of file system on which no run counts, separated by commas."
        ),
    ] = "tmpfs,ramfs",
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Pack workloads for a tender, or check what came back.

    The archive holds the engine's source, headers, plans, rules and two scripts. It is built and run with CMake, a C++
    compiler, MPI and HDF5, without Python and without a network. `--collect` discloses every change, leaves out runs of
    changed plans, and makes a study of the rest, which `workalike study merge` joins with others.

    Examples:

        workalike bundle climate.yaml genome.yaml -o tender.tar.gz --repeats 5

        workalike bundle climate.yaml -o tender.tar.gz --tunable cb_nodes,stripe_count,stripe_size,alignment

        workalike bundle small-trial.yaml -o trial.tar.gz --memory-factor 0

        workalike bundle tender.tar.gz --collect results.tar.gz --system vendor-a -o vendor-a/

        workalike bundle tender.tar.gz --collect results.tar.gz --accept acceptance.yaml -o vendor-a/
    """
    if results is not None:
        _collect(files, results, system, output, criteria, quiet, as_json)
        return
    if criteria is not None:
        raise WorkalikeError(
            ErrorKind.USAGE, "--accept judges what came back", hint="give the results with --collect"
        )
    from workalike.bundle.pack import pack, write_bundle
    from workalike.bundle.rules import TUNABLE, file_systems_of, memory_factors_of, words_of

    if fixed and tunable is not None:
        raise WorkalikeError(
            ErrorKind.USAGE, "--fixed and --tunable exclude each other", hint="leave one out"
        )
    words = () if fixed else TUNABLE if tunable is None else words_of(tunable)
    plans = _plans(files, scale)
    factor, factors = memory_factors_of(memory_factor or (), plans)
    packed = pack(
        plans,
        repeats,
        words,
        memory_factor=factor,
        memory_factors=factors,
        excluded=file_systems_of(exclude),
    )
    write_bundle(packed, output)
    if as_json:
        opt.print_json({"id": packed.id, "files": len(packed.files), **packed.rules.model_dump()})
    elif not quiet:
        screen = opt.console()
        for rule in packed.rules.plans:
            screen.print(
                f"{rule.name}: {plural(rule.ranks, 'rank')}, {size_text(rule.bytes)} a run; "
                f"{_memory_text(rule)}",
                soft_wrap=True,
            )
        screen.print(f"tunable: {', '.join(packed.rules.tunable) or 'nothing'}", markup=False, soft_wrap=True)
        screen.print(f"{plural(len(packed.files), 'file')}: {output}", markup=False, soft_wrap=True)


def _memory_text(rule: PlanRule) -> str:
    """Which systems the rule about memory leaves in. A run writes and reads at most what its files hold, mostly."""
    if rule.storage is None or not rule.storage.memory_factor:
        return "it may lie in memory: do not take its times for performance"
    most = rule.bytes / rule.storage.memory_factor
    text = (
        f"counts where its files are {rule.storage.memory_factor:g} x the memory of all nodes (under "
        f"{size_text(most)})"
    )
    if most >= rule.ranks * MEMORY_OF_A_RANK:
        return text
    return (
        f"{text}, so on hardly any system: enlarge it (--scaling weak --ranks N), or let it count at any size "
        f"(--memory-factor {rule.name}=0)"
    )


def _plans(files: list[Path], scale: opt.Scale) -> dict[str, Plan]:
    """Name in the bundle -> plan; plans that are given stay as they are."""
    from workalike.bundle.rules import name_of
    from workalike.plan.plan_file import read_workload_or_plan
    from workalike.plan.plan_schema import Plan
    from workalike.plan.resolve import resolve

    options = scale.plan_options()
    plans: dict[str, Plan] = {}
    for path in files:
        name = name_of(path.stem)
        if name in plans:
            raise WorkalikeError(
                ErrorKind.USAGE,
                "two workloads have this name",
                file=path,
                hint="give their files other names",
            )
        given = read_workload_or_plan(path)
        plans[name] = given if isinstance(given, Plan) else resolve(scale.changed(given), options)
    return plans


def _collect(
    files: list[Path],
    results: Path,
    system: str | None,
    output: Path,
    criteria: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    from workalike.bundle.acceptance import Verdict, judge, read_criteria, refuse_other_workloads
    from workalike.bundle.collect import collect

    if len(files) != 1:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "--collect checks one bundle",
            hint="workalike bundle TENDER.tar.gz --collect RESULTS.tar.gz",
        )
    name = system or results.name.removesuffix(".tar.gz")
    if not SYSTEM_NAME.fullmatch(name):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{name[:60]!r} is not a name of a system",
            hint="give letters and digits with --system",
        )
    if criteria is None:
        collected, judged = collect(files[0], results, name, output), None
    else:
        required = read_criteria(criteria)
        collected = collect(
            files[0], results, name, output, lambda names: refuse_other_workloads(required, names, criteria)
        )
        judged = judge(required, collected)
    if as_json:
        opt.print_json(_document(collected, judged))
    elif not quiet:
        _print(collected, output)
        if judged:
            _print_acceptance(judged)
    if judged and judged.verdict is not Verdict.PASSED:
        raise typer.Exit(ExitCode.FAILED)
    if not collected.all_count:
        raise typer.Exit(ExitCode.PARTLY)


def _document(collected: Collected, judged: Acceptance | None) -> dict[str, object]:
    from dataclasses import asdict

    merits = [{k: None if v != v else v for k, v in asdict(merit).items()} for merit in collected.merits]
    document: dict[str, object] = {
        "system": collected.system,
        "merits": merits,
        "disclosed": collected.disclosed,
    }
    return document | ({"acceptance": judged.document()} if judged else {})


def _print_acceptance(judged: Acceptance) -> None:
    from rich.text import Text

    from workalike.columns import Column, table_of

    screen = opt.console()
    rows = [
        (
            judgement.workload,
            rate_text(judgement.at_least),
            f"{rate_text(_known(judgement.low))} to {rate_text(_known(judgement.high))}"
            if judgement.low == judgement.low
            else "unknown",
            f"{judgement.weight:g}",
            judgement.verdict.value,
        )
        for judgement in judged.workloads
    ]
    heads = ("workload", "required", f"measured, {100 * judged.confidence:g} % interval", "weight", "verdict")
    columns = [
        Column(head, [Text(row[number]) for row in rows], rank=number, left=not number)
        for number, head in enumerate(heads)
    ]
    screen.print(table_of("", columns, screen.width))
    for judgement in judged.workloads:
        screen.print(
            f"{judgement.workload}: {judgement.verdict.value}: {judgement.reason}",
            markup=False,
            soft_wrap=True,
        )
    score = "unknown" if judged.score != judged.score else f"{judged.score:.3g} x what is required"
    screen.print(f"acceptance: {judged.verdict.value}; weighted score {score}", markup=False, soft_wrap=True)


def _print(collected: Collected, output: Path) -> None:
    from rich.text import Text

    from workalike.columns import Column, table_of

    screen = opt.console()
    rows = [
        (
            merit.workload,
            str(merit.runs),
            str(merit.left_out),
            rate_text(_known(merit.bandwidth)),
            rate_text(_known(merit.slowest_run)),
            seconds_text(_known(merit.dump_s)),
            seconds_text(_known(merit.dump_p95_s)),
        )
        for merit in collected.merits
    ]
    heads = (
        "workload",
        "runs",
        "left out",
        "mean bandwidth",
        "slowest run",
        "median dump",
        "95 % of dumps within",
    )
    columns = [
        Column(head, [Text(row[number]) for row in rows], rank=number, left=not number)
        for number, head in enumerate(heads)
    ]
    screen.print(table_of("", columns, screen.width))
    for place, noted in collected.disclosed.items():
        for text in noted:
            screen.print(f"disclosed: {place}: {text}", markup=False, soft_wrap=True)
    screen.print(f"a study of it: {output / 'trials.parquet'}", markup=False, soft_wrap=True)


def _known(value: float) -> float | None:
    return None if value != value else value
