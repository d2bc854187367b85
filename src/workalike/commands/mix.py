"""`workalike mix MIX.yaml --dir DIR -o OUT`"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workalike.commands import options as opt
from workalike.errors import ExitCode
from workalike.text import plural

if TYPE_CHECKING:
    from workalike.study.mix.rounds import CopyOverRounds


def register(app: typer.Typer) -> None:
    app.command("mix", epilog=opt.EXIT_CODES)(command)


def command(
    file: Annotated[Path, typer.Argument(metavar="MIX.yaml", help="Mix file.")],
    directory: opt.Directory,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for all results.")],
    bytes_scale: Annotated[
        str | None, typer.Option(help="Factor on all bytes [default: the mix's].", metavar="F")
    ] = None,
    time_scale: Annotated[
        float | None,
        typer.Option(help="Factor on all waiting [default: the mix's].", metavar="F", min=0.0, max=1e6),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            help="Rounds, each of them alone and side by side [default: the mix's, else 3].",
            metavar="N",
            min=1,
            max=1000,
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            help="Perform everything with one backend.", metavar="NAME", autocompletion=opt.complete_backend
        ),
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(
            help="mpiexec, srun, flux or serial.", metavar="NAME", autocompletion=opt.complete_launcher
        ),
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Run several workloads at the same time, and each alone, and show how much each is slowed down.

    A round runs each workload alone and all copies side by side. With N rounds every slowdown has an interval, and the
    mix takes N times as long. Writes the record of every run, `mix.json` after each round, and `mix.html`. Ctrl-C stops
    all runs and removes their data; what the rounds before have measured stays, with its page. Exit code 1: a run failed, or did
    not do what it did alone.

    Examples:

        workalike mix mix.yaml --dir /scratch/test -o mix/

        workalike mix mix.yaml --dir /scratch/test -o mix/ --repeats 10 --bytes-scale 1/64 --time-scale 0.1
    """
    from workalike.extras import require
    from workalike.files import write_text
    from workalike.launch.directories import directories_of
    from workalike.plan.choices import BACKENDS
    from workalike.study.mix.document import read_mix
    from workalike.study.mix.page import write_page
    from workalike.study.mix.perform import MixOptions, run_mix
    from workalike.study.mix.rounds import Round, copies_of, summary

    require("matplotlib", "the page of a mix")
    mix = read_mix(file)
    if bytes_scale is not None:
        mix.bytes_scale = float(opt.factor_of(bytes_scale, "--bytes-scale"))
    if time_scale is not None:
        mix.time_scale = time_scale
    if repeats is not None:
        mix.repeats = repeats
    chosen = opt.one_of(backend, BACKENDS, "--backend") if backend is not None else None
    screen = opt.console(quiet or as_json)

    kept: list[Round] = []

    def keep(rounds: Sequence[Round]) -> None:
        kept[:] = rounds
        write_text(output / "mix.json", json.dumps(summary(rounds, mix.repeats), indent=1) + "\n")

    try:
        rounds = run_mix(
            mix,
            file.parent,
            MixOptions(directories_of(directory), output, chosen, launcher),
            announce=lambda line: screen.print(line, soft_wrap=True),
            keep=keep,
        )
    finally:
        if kept:
            write_page(output / "mix.html", kept, summary(kept, mix.repeats))
    found, copies = summary(rounds, mix.repeats), copies_of(rounds)
    if as_json:
        opt.print_json(found)
    elif not quiet:
        _print(copies, found, output / "mix.html")
    for copy in copies:
        for line in copy.differences()[:3]:
            opt.warn(f"{copy.label}: {line}")
    if not found["as_alone"]:
        raise typer.Exit(ExitCode.FAILED)


def _print(copies: list[CopyOverRounds], found: dict[str, Any], page: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from workalike.text import percent_text, seconds_text

    table = Table(box=None, header_style="bold")
    for title in ("run", "ranks", "slowdown", "in I/O alone", "side by side", "share", "slowest dump"):
        table.add_column(title, justify="left" if title == "run" else "right")
    for copy in copies:
        share, slowest = copy.share_together, copy.slowest()
        table.add_row(
            Text(copy.label),
            str(copy.first.ranks),
            copy.slowdown.text,
            seconds_text(copy.alone_s),
            seconds_text(copy.together_s),
            "-" if share is None else percent_text(100 * share),
            "-" if slowest is None else seconds_text(slowest.together_s),
        )
    screen = opt.console()
    screen.print(table)
    fairness = found["fairness"]
    screen.print(
        f"fairness {'-' if fairness is None else f'{fairness:.3f}'} (1 is equal); "
        f"{plural(found['rounds'], 'round')}; page: {page}",
        soft_wrap=True,
    )
