"""Options that `plan`, `run` and `replicate` share, and what the commands do alike."""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console

from workalike.characterize.options import Model
from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.model import Backend, Clock, GapFill
from workalike.plan.resolve import Options
from workalike.workload.quantities import MAX_DATASETS

BACKENDS: tuple[str, ...] = get_args(Backend)
CLOCKS: tuple[str, ...] = get_args(Clock)
GAP_FILLS: tuple[str, ...] = get_args(GapFill)

EXIT_CODES = (
    "Exit codes: 0 done; 1 the run failed, or fell short of what was asked for; 2 bad usage or input, or nothing in it "
    "to replicate; 3 done, but a module of the log was partial or data could not be expressed."
)
MAX_TIME_SCALE = 1e6  # the engine's
MAX_FACTOR = 10**6
MIN_FACTOR = Fraction(1, 10**12)
# Short ones: `1e999999999` would take hours to become a number.
FACTOR = re.compile(r"-?[0-9]{1,20}/[0-9]{1,20}|-?[0-9]{0,20}\.?[0-9]{0,40}(?:[eE][+-]?[0-9]{1,3})?")

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
    float,
    typer.Option(help="Factor on all waiting; 0 does not wait.", metavar="F", min=0.0, max=MAX_TIME_SCALE),
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
Seed = Annotated[int, typer.Option(help="Seed of payload and random orders.", min=0, max=2**63 - 1)]
Fill = Annotated[
    str,
    typer.Option(
        "--gap-fill",
        help="What ranks do between dumps, and while they think in one.",
        metavar="|".join(GAP_FILLS),
    ),
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
    bool,
    typer.Option(
        "--verify", help="Read everything back and compare it with what was written, or prepared to be read."
    ),
]

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="What to take dumps for: arrays (datasets of HDF5 and PnetCDF), extents (calls of a file), mesh (HDF5 families as "
        "unstructured meshes of the same bytes through TyphonIO) [default: what the log shows best].",
        metavar="mesh|arrays|extents",
    ),
]
Variables = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_DATASETS, help="With --model mesh: variables of a mesh [default: as found]."),
]


RESOLVED = (
    "ranks",
    "scaling",
    "bytes_scale",
    "scale_by",
    "time_scale",
    "clock",
    "seed",
    "gap_fill",
    "compressibility",
)
"""What a plan holds."""


def model_of(model: str | None, variables: int | None, level: str | None = None) -> Model | None:
    """What --model says.

    Raises:
        WorkalikeError: USAGE, also where another option contradicts it.
    """
    chosen = Model(one_of(model, tuple(Model), "--model")) if model is not None else None
    if variables is not None and chosen is not Model.MESH:
        raise WorkalikeError(ErrorKind.USAGE, "--variables goes with --model mesh")
    if level is not None and chosen in (Model.ARRAYS, Model.EXTENTS):
        raise WorkalikeError(
            ErrorKind.USAGE, "--level and --model both choose the level", mend="give one of them"
        )
    return chosen


def factor_of(text: str, option: str) -> Fraction:
    """A positive factor, exactly: `0.01`, `1/64`.

    Raises:
        WorkalikeError: USAGE.
    """
    try:
        if FACTOR.fullmatch(text.strip()) is None:
            raise ValueError
        factor = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{option} {text[:40]!r} is not a number such as 0.01 or 1/64"
        ) from error
    if not MIN_FACTOR <= factor <= MAX_FACTOR:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{option} must lie between {float(MIN_FACTOR):g} and {MAX_FACTOR}"
        )
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
    """Where people read: stdout, or nowhere. Text is text: a file may be called `[red]`."""
    return Console(quiet=quiet, highlight=False, markup=False)


def was_given(context: typer.Context, name: str) -> bool:
    """Whether an option was on the command line, rather than left to its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_given(context: typer.Context, names: tuple[str, ...], file: Path) -> None:
    """Options that a plan has settled already must not be given with it: they would do nothing.

    Raises:
        WorkalikeError: USAGE naming them.
    """
    given = [f"--{name.replace('_', '-')}" for name in names if was_given(context, name)]
    if given:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"is a plan, in which {', '.join(given)} is settled",
            file=file,
            mend="leave the option out, or make another plan with it",
        )


def warn(text: str) -> None:
    """A word to the person on stderr, one line."""
    print(f"workalike: {text}", file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    json.dump(value, sys.stdout, indent=1)
    sys.stdout.write("\n")
