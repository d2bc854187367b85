"""`workalike mix MIX.yaml --dir DIR -o OUT`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.outcome import EXIT_SHORT

if TYPE_CHECKING:
    from workalike.study.mix.measure import CopyResult


def register(app: typer.Typer) -> None:
    app.command("mix", epilog=opt.EXIT_CODES)(command)


def command(
    file: Annotated[Path, typer.Argument(metavar="MIX.yaml", help="Mix file.")],
    directory: Annotated[
        Path, typer.Option("--dir", help="Where the data goes: the file system under test.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for all results.")],
    bytes_scale: Annotated[
        str | None, typer.Option(help="Factor on all bytes [default: the mix's].", metavar="F")
    ] = None,
    time_scale: Annotated[
        float | None,
        typer.Option(help="Factor on all waiting [default: the mix's].", metavar="F", min=0.0, max=1e6),
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help="Perform everything with one backend.", metavar="NAME")
    ] = None,
    launcher: Annotated[
        str | None, typer.Option(help="mpiexec, srun, flux or serial.", metavar="NAME")
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Run several workloads at the same time, each alone first, and show how much each is slowed down.

    Writes `mix.json`, `mix.html` and the record of every run. Ctrl-C stops all runs and removes their data. Exit code
    1: a run failed, or did not do what it did alone.

    Examples:

        workalike mix mix.yaml --dir /scratch/test -o mix/

        workalike mix mix.yaml --dir /scratch/test -o mix/ --bytes-scale 1/64 --time-scale 0.1
    """
    from workalike.files import write_text
    from workalike.plan.choices import BACKENDS
    from workalike.study.mix.document import read_mix
    from workalike.study.mix.measure import summary
    from workalike.study.mix.page import write_page
    from workalike.study.mix.perform import MixOptions, run_mix

    mix = read_mix(file)
    if bytes_scale is not None:
        mix.bytes_scale = float(opt.factor_of(bytes_scale, "--bytes-scale"))
    if time_scale is not None:
        mix.time_scale = time_scale
    chosen = opt.one_of(backend, BACKENDS, "--backend") if backend is not None else None
    screen = opt.console(quiet or as_json)
    copies = run_mix(
        mix,
        file.parent,
        MixOptions(directory, output, chosen, launcher),
        announce=lambda line: screen.print(line, soft_wrap=True),
    )
    found = summary(copies)
    write_text(output / "mix.json", json.dumps(found, indent=1) + "\n")
    write_page(output / "mix.html", copies, found)
    if as_json:
        opt.print_json(found)
    elif not quiet:
        _print(copies, found["fairness"], output / "mix.html")
    for copy in copies:
        for line in copy.differences[:3]:
            opt.warn(f"{copy.name} {copy.copy}: {line}")
    if not found["as_alone"]:
        raise typer.Exit(EXIT_SHORT)


def _print(copies: list[CopyResult], fairness: float | None, page: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from workalike.text import percent_text, seconds_text

    table = Table(box=None, header_style="bold")
    for title in ("run", "ranks", "slowdown", "in I/O alone", "side by side", "share", "slowest dump"):
        table.add_column(title, justify="left" if title == "run" else "right")
    for copy in copies:
        share, slowest = copy.share_together, copy.slowest
        table.add_row(
            Text(f"{copy.name} {copy.copy}"),
            str(copy.ranks),
            "-" if copy.slowdown is None else f"{copy.slowdown:.2f}",
            seconds_text(copy.alone_s),
            seconds_text(copy.together_s),
            "-" if share is None else percent_text(100 * share),
            "-" if slowest is None else seconds_text(slowest.together_s),
        )
    screen = opt.console()
    screen.print(table)
    screen.print(
        f"fairness {'-' if fairness is None else f'{fairness:.3f}'} (1 is equal); page: {page}",
        soft_wrap=True,
    )
