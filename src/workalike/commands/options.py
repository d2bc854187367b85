"""Options that `plan`, `run` and `replicate` share, and what the commands do alike."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.model import Backend, Clock, GapFill
from workalike.plan.resolve import Options

BACKENDS: tuple[str, ...] = get_args(Backend)
CLOCKS: tuple[str, ...] = get_args(Clock)
GAP_FILLS: tuple[str, ...] = get_args(GapFill)

Ranks = Annotated[
    int | None, typer.Option("--ranks", "-n", min=1, help="Ranks of the replica [default: the original's].")
]
Nodes = Annotated[int | None, typer.Option(min=1, help="Nodes to spread the ranks over (srun, flux).")]
RanksPerNode = Annotated[int | None, typer.Option(min=1, help="Ranks on each node.")]
Scaling = Annotated[
    str, typer.Option(help="strong: total bytes stay; weak: bytes per rank stay.", metavar="strong|weak")
]
BytesScale = Annotated[str, typer.Option(help="Factor on all bytes, such as 0.01 or 1/64.", metavar="F")]
ScaleBy = Annotated[
    str,
    typer.Option(help="What --bytes-scale lowers first: operation counts or sizes.", metavar="count|size"),
]
TimeScale = Annotated[
    float, typer.Option(help="Factor on all waiting; 0 does not wait.", metavar="F", min=0.0)
]
ClockName = Annotated[
    str,
    typer.Option(
        "--clock",
        help="gap keeps the time between dumps, deadline their start times.",
        metavar="gap|deadline",
    ),
]
BackendName = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help=f"Perform everything with one backend: {', '.join(BACKENDS)}.",
        metavar="NAME",
        autocompletion=lambda: list(BACKENDS),
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of payload and random orders.", min=0)]
Fill = Annotated[
    str, typer.Option("--gap-fill", help="What fills the time between dumps.", metavar="|".join(GAP_FILLS))
]
Compressibility = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of the payload that compresses away.", metavar="F")
]
LauncherName = Annotated[
    str | None,
    typer.Option(
        "--launcher", help="mpiexec, srun, flux or serial [default: what is there].", metavar="NAME"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the data files that the run makes.")]
Capture = Annotated[
    bool, typer.Option("--capture", help="Watch the run with the capture library: replica.darshan.")
]
Verify = Annotated[
    bool, typer.Option("--verify", help="Read everything back and compare it with what was written.")
]


def factor_of(text: str, option: str) -> Fraction:
    """A positive factor, exactly: `0.01`, `1/64`.

    Raises:
        WorkalikeError: USAGE.
    """
    try:
        factor = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{option} {text!r} is not a number such as 0.01 or 1/64"
        ) from error
    if not 0 < factor <= 10**6:
        raise WorkalikeError(ErrorKind.USAGE, f"{option} must be above 0 and at most 1000000")
    return factor


def one_of(value: str, allowed: tuple[str, ...], option: str) -> Any:
    """The value, if the closed list has it.

    Raises:
        WorkalikeError: USAGE naming the list.
    """
    if value not in allowed:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{option} {value!r} is unknown", mend=f"use one of {', '.join(allowed)}"
        )
    return value


def resolve_options(
    ranks: int | None,
    scaling: str,
    bytes_scale: str,
    scale_by: str,
    time_scale: float,
    clock: str,
    backend: str | None,
    seed: int,
    gap_fill: str,
    compressibility: float,
) -> Options:
    """The shared options, checked."""
    return Options(
        ranks=ranks,
        scaling=one_of(scaling, ("strong", "weak"), "--scaling"),
        bytes_scale=factor_of(bytes_scale, "--bytes-scale"),
        scale_by=one_of(scale_by, ("count", "size"), "--scale-by"),
        time_scale=time_scale,
        clock=one_of(clock, CLOCKS, "--clock"),
        backend=one_of(backend, BACKENDS, "--backend") if backend else None,
        seed=seed,
        gap_fill=one_of(gap_fill, GAP_FILLS, "--gap-fill"),
        compressibility=compressibility,
    )


def console(quiet: bool = False) -> Console:
    """Where people read: stdout, or nowhere."""
    return Console(quiet=quiet, highlight=False)


def warn(text: str) -> None:
    """A word to the person on stderr, one line."""
    print(f"workalike: {text}", file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    json.dump(value, sys.stdout, indent=1)
    sys.stdout.write("\n")


def make_folder(path: Path) -> None:
    """A folder for results.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "cannot be made",
            file=path,
            mend="choose another folder",
        ) from error
