"""`workalike study STUDY.yaml -o DIR`, `study check`, `study merge`, `study ceiling`"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from workalike.commands import options as opt
from workalike.commands.progress import tracked
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.text import plural, rate_text, seconds_text, size_text

if TYPE_CHECKING:
    from rich.console import Console

    from workalike.study.driver import DriverOptions, Outcome
    from workalike.study.estimate import Estimate
    from workalike.study.objective import Objective
    from workalike.study.study_file import StudyFile

RUN = "run"
EXIT_CODES = (
    "Exit codes: 0 done; 1 a trial failed or the study could not go on; 2 bad usage or input; 3 done, but trials whose "
    "settings did not take effect are left out."
)
MOST_LINES = 60

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="Study file.")]
Directory = Annotated[
    list[str] | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Where the data goes: the file system under test [default: the study's]; NAME=DIR for families with that "
        "directory, repeatable.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget", metavar="CORE_HOURS", min=0.0, max=1e12, help="End before a block that would exceed this."
    ),
]


def _complete_batch_system(incomplete: str) -> list[str]:
    from workalike.launch.batch.jobs import BATCH_SYSTEMS

    return [name for name in BATCH_SYSTEMS if name.startswith(incomplete)]


class _RunByDefault(TyperGroup):
    """`workalike study FILE` is `workalike study run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [RUN, *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        cls=_RunByDefault,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        help="Measure a workload under many settings, in blocks of trials in random order.\n\n"
        "`workalike study STUDY.yaml -o DIR` runs a study, and resumes it.",
    )
    group.command(RUN, epilog=EXIT_CODES)(run)
    group.command("check", epilog=EXIT_CODES)(check)
    group.command("merge", epilog=EXIT_CODES)(merge)
    group.command("ceiling", epilog=EXIT_CODES)(measure_ceiling)
    app.add_typer(group, name="study")


def run(
    file: StudyPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")],
    directory: Directory = None,
    blocks: Annotated[
        int | None, typer.Option(min=1, help="Number of blocks [default: the study's].")
    ] = None,
    budget: Budget = None,
    reuse: Annotated[
        list[Path] | None,
        typer.Option(help="Results of another study, whose equal trials are not run again."),
    ] = None,
    ceiling: Annotated[
        bool, typer.Option(help="First measure what the file system gives one process, into MACHINE.json.")
    ] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and run nothing.")
    ] = False,
    submit: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM",
            help="Run as a job of slurm, flux or pbs, and wait for it.",
            autocompletion=_complete_batch_system,
        ),
    ] = None,
    batch_option: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="With --submit: a directive for the job, such as --nodes=3."),
    ] = None,
    array: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10_000,
            help="With --submit: a job array of N tasks, which share the blocks.",
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option(
            help="Wait for the time of the next block, where blocks are spread (`blocks: {every: 6 h}`); "
            "--no-wait ends before it, for cron."
        ),
    ] = True,
    share: Annotated[str | None, typer.Option(metavar="I/N", hidden=True)] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Run a study, or what is left of it after an interruption.

    Every block runs each setting once, in random order. Writes `trials.jsonl` (a line per finished trial),
    `trials.parquet`, `dumps.parquet`, `manifest.json`, and, where times were measured, `report.html` with its figures.

    Examples:

        workalike study studies/file-modes.yaml -o modes --dir /scratch/test

        workalike study studies/striping.yaml -o striping --dry-run

        workalike study striping.yaml -o striping --submit slurm --batch-option=--nodes=4

        workalike study striping.yaml -o striping --submit slurm --array 5
    """
    from workalike.launch.directories import directories_of
    from workalike.study.driver import DriverOptions, run_study
    from workalike.study.halving import run_search
    from workalike.study.results_page import write_results_page
    from workalike.study.settings import counting_factors, factors_of
    from workalike.study.study_file import read_study

    if dry_run:
        check(file, output=output, directory=directory, budget=budget, as_json=as_json)
        return
    if (batch_option or array) and submit is None:
        name = "--batch-option" if batch_option else "--array"
        raise WorkalikeError(ErrorKind.USAGE, f"{name} is for jobs", hint="add --submit slurm")
    study = read_study(file)
    places = directories_of(directory or ())
    options = DriverOptions(
        out=output,
        directory=places.plain,
        named=places.named,
        budget=budget,
        reuse=reuse or (),
        blocks=blocks,
        wait=wait,
        ceiling=ceiling,
        report=(lambda _: None) if quiet or as_json else opt.warn,
        tracked=tracked("settings", hidden=quiet or as_json),
    )
    if share is not None:
        _run_share(study, options, share, as_json)
        return
    searched = run_search(study, options) if study.study.search and submit is None else None
    if submit is not None:
        outcome = _submitted(study, options, submit, tuple(batch_option or ()), array)
    else:
        outcome = searched.outcome if searched else run_study(study, options)
    if searched and not searched.is_complete:
        opt.warn(f"the search has not ended ({outcome.state}): the same command goes on")
        raise typer.Exit(ExitCode.FAILED if outcome.state == "failing" else 0)
    if as_json:
        opt.print_json(_document(outcome))
    elif not quiet:
        _print_outcome(outcome, output, study.study.objectives[0])
    # The page of a submitted search is the job's, which has what the search found.
    page = (
        output / "report.html"
        if submit and study.study.search
        else write_results_page(
            output,
            study.study.title or file.stem,
            list(factors_of(study.study)),
            outcome.finished,
            outcome.stopping,
            ended=outcome.state == "budget",
            search=searched.text() if searched else "",
            objectives=study.study.objectives,
            counts=counting_factors(study.study),
            method=study.study.interval,
        )
    )
    if page is not None and not (quiet or as_json):
        print(f"page: {page}")
    if code := _exit_code(outcome):
        raise typer.Exit(code)


def _run_share(study: StudyFile, options: DriverOptions, text: str, as_json: bool) -> None:
    """Run the blocks of one task; the command that submitted it joins the results."""
    from dataclasses import replace

    from workalike.study.driver import run_study
    from workalike.study.journal import read_finished
    from workalike.study.shares import finished_in_shares, refuse_dependent_blocks, share_of

    own = share_of(text)
    refuse_dependent_blocks(study)
    joined = {each.key for each in read_finished(options.out)}  # before this array was submitted
    before = joined | {each.key for each in finished_in_shares(options.out)}
    folder = own.folder(options.out)
    before -= {each.key for each in read_finished(folder)}
    outcome = run_study(
        study,
        replace(
            options,
            out=folder,
            share=own,
            finished_before=frozenset(before),
            paid_before=frozenset(joined),
            ceiling=options.ceiling and own.number == 0,
            report=opt.warn,
        ),
    )
    if as_json:
        opt.print_json(_document(outcome))
    if code := _exit_code(outcome):
        raise typer.Exit(code)


def _submitted(
    study: StudyFile, options: DriverOptions, system: str, batch: tuple[str, ...], tasks: int | None
) -> Outcome:
    """Run a study as a job that gets the same options, with absolute paths."""
    from workalike.launch.batch.jobs import batch_system
    from workalike.launch.directories import Directories
    from workalike.study.submit import Submission, submit_study

    arguments = [str(study.path.absolute()), f"--output={options.out.absolute()}"]
    places = Directories(options.directory, options.named).absolute()
    arguments += [f"--dir={text}" for text in places.texts()]
    arguments += [f"--reuse={folder.absolute()}" for folder in options.reuse]
    arguments += [f"--blocks={options.blocks}"] if options.blocks is not None else []
    arguments += [] if options.ceiling else ["--no-ceiling"]
    return submit_study(study, options, Submission(batch_system(system), arguments, batch, tasks))


def check(
    file: StudyPath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Results of the study: its finished trials and MACHINE.json count.",
        ),
    ] = None,
    directory: Directory = None,
    machine: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Machine file of `study ceiling` [default: that of the results]."),
    ] = None,
    budget: Budget = None,
    as_json: opt.Json = False,
) -> None:
    """Check a study, and print how many trials, bytes, core-hours and how much time it takes.

    Times come from finished trials of the study, else from a machine file, else from what the study assumes; the output
    says from which.

    Examples:

        workalike study check studies/weak-scaling.yaml

        workalike study ceiling --dir /scratch/me -o MACHINE.json && workalike study check study.yaml --machine MACHINE.json
    """
    from workalike.launch.directories import directories_of
    from workalike.study.driver import load
    from workalike.study.halving import estimates_of
    from workalike.study.known_times import known_of
    from workalike.study.prepare import refuse_what_cannot_run
    from workalike.study.study_file import read_study

    show = tracked("settings", hidden=as_json)
    loaded = load(read_study(file), show)
    for prepared in show(loaded.settings):
        refuse_what_cannot_run(loaded.file, prepared)
    known = known_of(loaded.file, output, directories_of(directory or ()).plain, machine)
    stages = estimates_of(loaded.file, known) if loaded.file.study.search else []
    estimated = stages[-1] if stages else loaded.estimate(known)
    if as_json:
        opt.print_json(
            estimated.document() | ({"rungs": [stage.document() for stage in stages[:-1]]} if stages else {})
        )
    else:
        for number, stage in enumerate(stages[:-1], 1):
            _print_rung(number, stage)
        _print_estimate(estimated, budget)
    if budget is not None and estimated.core_hours / estimated.blocks > budget:
        opt.warn(f"--budget {budget:g} is less than one block takes")
        raise typer.Exit(ExitCode.FAILED)


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Results of studies.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the joined results.")],
    quiet: opt.Quiet = False,
) -> None:
    """Join the results of studies, for instance of the same study on several machines.

    A column `source` names the folder of each trial, and `manifest.json` describes each system. Where times were
    measured, `report.html` compares the systems.

    Example:

        workalike study merge here/ there/ -o both/
    """
    from workalike.study.merge import merge as join
    from workalike.study.report.systems_page import write_systems_page

    trials = join(folders, output, write_systems_page, (lambda _: None) if quiet else opt.warn)
    page = output / "report.html"
    if not quiet:
        print(f"{plural(trials, 'trial')} of {plural(len(folders), 'study')}: {output / 'trials.parquet'}")
        if page.exists():
            print(f"page: {page}")


def measure_ceiling(
    directory: Annotated[Path, typer.Option("--dir", help="The file system to measure.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Machine file.")],
    size: Annotated[str, typer.Option(help="Size of the file that is written and read.")] = "256 MiB",
    repeats: Annotated[int, typer.Option(min=2, max=1000, help="How often each is measured.")] = 5,
    as_json: opt.Json = False,
) -> None:
    """Measure what a file system gives one process: sequential and random, metadata, and sync; about a minute.

    Example:

        workalike study ceiling --dir /scratch/me -o MACHINE.json
    """
    from workalike.study.ceiling import measure, write_machine
    from workalike.workload.units import parse_size

    try:
        size_bytes = parse_size(size)
    except ValueError as error:
        raise WorkalikeError(ErrorKind.USAGE, f"--size: {error}") from error
    machine = measure(directory, size_bytes, repeats)
    write_machine(machine, output)
    if as_json:
        opt.print_json(machine)
        return
    for name, ceiling in machine["ceilings"].items():
        middle, least, most = (
            _value_text(value, ceiling["unit"])
            for value in (ceiling["median"], min(ceiling["values"]), max(ceiling["values"]))
        )
        print(f"{name}: {middle}, from {least} to {most}")


def _value_text(value: float, unit: str) -> str:
    if unit == "B/s":
        return rate_text(value)
    return seconds_text(value) if unit == "s" else f"{value:,.0f} {unit}"


def _print_estimate(estimated: Estimate, budget: float | None) -> None:
    screen = opt.console()
    rows = [
        (
            setting.setting,
            str(setting.ranks),
            str(setting.dumps),
            size_text(setting.bytes),
            seconds_text(setting.seconds),
        )
        for setting in estimated.settings[:MOST_LINES]
    ]
    _print_table({"setting": 0, "ranks": 2, "dumps": 3, "bytes": 1, "a trial": 0}, rows, screen)
    if len(estimated.settings) > MOST_LINES:
        screen.print(f"and {len(estimated.settings) - MOST_LINES} settings more")
    a_a = f", one of them twice (a/a: {estimated.a_a})" if estimated.a_a else ""
    screen.print(
        f"{plural(len(estimated.settings), 'setting')}{a_a}, {plural(estimated.blocks, 'block')}: "
        f"{plural(estimated.trials, 'trial')}, {size_text(estimated.bytes)}, about "
        f"{seconds_text(estimated.seconds)}, {estimated.core_hours:.3g} core-hours ({estimated.basis})"
        + (f"; blocks are spread over {seconds_text(estimated.spread_s)}" if estimated.spread_s else ""),
        soft_wrap=True,
    )
    if budget is not None and estimated.core_hours > 0:
        fit = min(estimated.blocks, int(budget / estimated.core_hours * estimated.blocks))
        screen.print(f"within --budget {budget:g}: {plural(fit, 'block')} of {estimated.blocks}")


def _print_rung(number: int, estimated: Estimate) -> None:
    opt.console().print(
        f"rung {number}: {plural(estimated.trials, 'trial')}, {size_text(estimated.bytes)}, about "
        f"{seconds_text(estimated.seconds)}, {estimated.core_hours:.3g} core-hours",
        soft_wrap=True,
    )


def _print_table(heads: dict[str, int], rows: Sequence[tuple[str, ...]], screen: Console) -> None:
    """Print a table whose first column is text; of narrow screens, columns of high rank are left out."""
    from rich.text import Text

    from workalike.columns import Column, table_of

    columns = [
        Column(head, [Text(row[number]) for row in rows], rank=rank, left=not number)
        for number, (head, rank) in enumerate(heads.items())
    ]
    screen.print(table_of("", columns, screen.width))


def _exit_code(outcome: Outcome) -> int:
    states = {row.trial["state"] for row in outcome.finished}
    if outcome.state == "failing" or states & {"failed", "timed-out"}:
        return ExitCode.FAILED
    return ExitCode.PARTLY if states - {"ok"} else 0


def _document(outcome: Outcome) -> dict[str, Any]:
    from workalike.study.summary import left_out, lines_of

    return {
        "state": outcome.state,
        "trials": len(outcome.finished),
        "planned": outcome.planned,
        "reused": outcome.reused,
        "settings": [
            {
                "setting": line.setting,
                "counted": line.counted,
                "left_out": line.left_out,
                **{
                    name: dict(zip(("median", "lower_quartile", "upper_quartile"), values, strict=True))
                    for name, values in line.values.items()
                },
            }
            for line in lines_of(outcome.finished)
        ],
        "left_out": left_out(outcome.finished),
    }


def _print_outcome(outcome: Outcome, output: Path, objective: Objective) -> None:
    from workalike.study.objective import Objective
    from workalike.study.summary import left_out, lines_of

    lines = lines_of(outcome.finished)
    if not any(objective.column in line.values for line in lines):
        objective = Objective.WALL_TIME  # of a backend that only counts
    rows = []
    for line in lines[:MOST_LINES]:
        middle, lower, upper = map(objective.shown, line.values.get(objective.column, (math.nan,) * 3))
        slowest = seconds_text(line.values.get("slowest_dump_s", (None,))[0])
        rows.append(
            (line.setting, str(line.counted), str(line.left_out), middle, f"{lower} - {upper}", slowest)
        )
    screen = opt.console()
    heads = {
        **{"setting": 0, "trials": 3, "left out": 5, f"median {objective.phrase}": 0, "quartiles": 1},
        "the slowest dump": 4,
    }
    _print_table(heads, rows, screen)
    for setting, reasons in left_out(outcome.finished).items():
        for reason in reasons:
            screen.print(f"left out: {setting}: {reason}", soft_wrap=True)
    ended = {
        "decided": "every ratio is decided or narrow enough",
        "budget": "the budget ends before the next block",
        "waiting": "the next block is not due: the same command goes on",
        "failing": "too many trials failed in a row",
    }
    if outcome.state in ended:
        screen.print(
            f"{ended[outcome.state]}: {len(outcome.finished)} of {outcome.planned} trials", soft_wrap=True
        )
    screen.print(
        f"{plural(len(outcome.finished), 'trial')}; results: {output / 'trials.parquet'}", soft_wrap=True
    )
