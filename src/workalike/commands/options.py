"""Options and helpers that commands share; each group of options is one object.

A command takes a group as one parameter, and `with_options` makes its fields options of the command line. Models are
imported when a value is used, so that `workalike --help` stays fast.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.choices import BACKENDS, Clock, GapFill, only_counts

if TYPE_CHECKING:
    from rich.console import Console

    from workalike.characterize import CharacterizeOptions
    from workalike.launch.run import RunOptions
    from workalike.plan.resolve import Options
    from workalike.workload.model import Workload
    from workalike.workload.what_if import WhatIf

CLOCKS: tuple[str, ...] = get_args(Clock)
GAP_FILLS: tuple[str, ...] = ("auto", *get_args(GapFill))

EXIT_CODES = (
    "Exit codes: 0 done; 1 the run failed, or fell short of what was asked for; 2 bad usage or input, or nothing in it "
    "to replicate; 3 done, but a module of the log was partial or data could not be expressed."
)
MAX_TIME_SCALE = 1e6  # the limit that the engine enforces
MAX_FACTOR = 10**6
MIN_FACTOR = Fraction(1, 10**12)
# Digits are limited: `1e999999999` would take hours to become a number.
FACTOR = re.compile(r"-?[0-9]{1,20}/[0-9]{1,20}|-?[0-9]{0,20}\.?[0-9]{0,40}(?:[eE][+-]?[0-9]{1,3})?")


def complete_list(incomplete: str, words: Iterable[str]) -> list[str]:
    """What a shell offers for the last of several words that commas separate, each once."""
    before, comma, last = incomplete.rpartition(",")
    used = set(before.split(","))
    return [f"{before}{comma}{word}" for word in words if word.startswith(last) and word not in used]


def complete_backend(incomplete: str) -> list[str]:
    """Backends, for a shell."""
    from workalike.plan.choices import BACKENDS

    return [name for name in BACKENDS if name.startswith(incomplete)]


def complete_launcher(incomplete: str) -> list[str]:
    """Launchers, for a shell."""
    from workalike.launch.launchers import LAUNCHERS

    return [name for name in LAUNCHERS if name.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Rehearsal = Annotated[
    bool,
    typer.Option(
        "--rehearsal/--no-rehearsal",
        help="Perform families of HDF5, NetCDF and PnetCDF once, to see whether the library does here what it did in the "
        "log; what it does otherwise is modelled by the calls below it.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the data files that the run makes.")]
Capture = Annotated[
    bool, typer.Option("--capture", help="Run under the capture library, which writes replica.darshan.")
]
Directory = Annotated[
    list[str],
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Where the data goes: the file system under test; NAME=DIR for families with that directory, repeatable.",
    ),
]
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Read everything back and compare it with what was written or prepared."),
]
Ranks = Annotated[
    int | None, typer.Option("--ranks", "-n", min=1, help="Ranks of the replica [default: the original's].")
]
Require = Annotated[
    str | None,
    typer.Option(
        help="Fail (exit 1) beyond these errors, such as bytes=0.1%,storage=5%: bytes, ops, storage (counters of POSIX "
        "and STDIO), time, hist (size histograms, 0..1).",
        metavar="LIMITS",
    ),
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
    "what_if",
)
"""Options that a plan has settled already."""

RESOLVED_BUT_TIME = tuple(name for name in RESOLVED if name != "time_scale")
"""The same for a backend that only counts, whose waiting is not the plan's affair."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Ranks, scale and clock of a replica as given on the command line."""

    ranks: Ranks = None
    nodes: Annotated[
        int | None,
        typer.Option(min=1, help="Nodes; with --ranks-per-node, the product is the number of ranks."),
    ] = None
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Ranks on each node.")] = None
    scaling: Annotated[
        str, typer.Option(help="strong: total bytes stay; weak: bytes per rank stay.", metavar="strong|weak")
    ] = "strong"
    bytes_scale: Annotated[
        str | None, typer.Option(help="Factor on all bytes, such as 0.01 or 1/64.", metavar="F")
    ] = "1"
    scale_by: Annotated[
        str,
        typer.Option(
            help="What --bytes-scale lowers first: operation counts or sizes.", metavar="count|size"
        ),
    ] = "count"
    time_scale: Annotated[
        float | None,
        typer.Option(
            help="Factor on all waiting; 0 does not wait [default: 1, and 0 for backends that only count].",
            metavar="F",
            min=0.0,
            max=MAX_TIME_SCALE,
        ),
    ] = None
    clock: Annotated[
        str,
        typer.Option(
            "--clock",
            help="gap keeps the time between dumps, deadline their start times.",
            metavar="gap|deadline",
        ),
    ] = "gap"
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            help=f"Perform everything with one backend: {', '.join(BACKENDS)}.",
            metavar="NAME",
            autocompletion=complete_backend,
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of payload and random orders.", min=0, max=2**63 - 1)] = 1
    gap_fill: Annotated[
        str,
        typer.Option(
            "--gap-fill",
            help="What ranks do between dumps, and during compute time in one. With `auto` they compute for the share of "
            "the time that the original did, if the workload states it, and sleep for the rest.",
            metavar="|".join(GAP_FILLS),
        ),
    ] = "auto"
    compressibility: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of the payload that compresses away [default: the workload's].",
            metavar="F",
        ),
    ] = None

    what_if: Annotated[
        list[str] | None,
        typer.Option(
            "--what-if",
            metavar="PATH=VALUE",
            help="Change the workload, such as checkpoint.every=10min, checkpoint[5:].count=20, checkpoint.growth=2% or "
            "ranks=64; repeatable.",
        ),
    ] = None

    def changes(self) -> WhatIf:
        """What --what-if changes.

        Raises:
            WorkalikeError: USAGE.
        """
        from workalike.workload.what_if import parse_what_if

        found = parse_what_if(self.what_if or [])
        if found.ranks is not None and self.rank_count() not in (None, found.ranks):
            raise WorkalikeError(
                ErrorKind.USAGE, "--ranks and --what-if ranks contradict each other", hint="give one of them"
            )
        return found

    def changed(self, workload: Workload) -> Workload:
        """The workload as --what-if changes it; without that, the workload itself.

        Raises:
            WorkalikeError: USAGE.
        """
        from workalike.workload.what_if import changed

        return changed(workload, self.changes()) if self.what_if else workload

    def rank_count(self) -> int | None:
        """The number of ranks: --ranks, or --nodes times --ranks-per-node; None for the original's.

        Raises:
            WorkalikeError: USAGE where they contradict each other.
        """
        if self.nodes is None or self.ranks_per_node is None:
            return self.ranks
        if self.ranks is None:
            return self.nodes * self.ranks_per_node
        check_placement(self.ranks, self.nodes, self.ranks_per_node)
        return self.ranks

    def check_placement_of(self, ranks: int) -> None:
        """Refuse --nodes and --ranks-per-node that `ranks` ranks do not fill.

        Raises:
            WorkalikeError: USAGE.
        """
        if self.nodes is not None and self.ranks_per_node is not None:
            check_placement(ranks, self.nodes, self.ranks_per_node)

    def options(self) -> Options:
        """The checked options of `resolve`, without the backend.

        Raises:
            WorkalikeError: USAGE.
        """
        from workalike.plan.resolve import Options

        return Options(
            ranks=self.rank_count() or self.changes().ranks,
            scaling=one_of(self.scaling, ("strong", "weak"), "--scaling"),
            bytes_scale=factor_of(self.bytes_scale or "1", "--bytes-scale"),
            scale_by=one_of(self.scale_by, ("count", "size"), "--scale-by"),
            time_scale=self.chosen_time_scale(),
            clock=one_of(self.clock, CLOCKS, "--clock"),
            seed=self.seed,
            gap_fill=one_of(self.gap_fill, GAP_FILLS, "--gap-fill"),
            compressibility=self.compressibility,
        )

    def plan_options(self) -> Options:
        """The checked options of a plan, which is not placed on nodes.

        Raises:
            WorkalikeError: USAGE.
        """
        if (self.nodes is None) != (self.ranks_per_node is None):
            raise WorkalikeError(
                ErrorKind.USAGE,
                "--nodes and --ranks-per-node have an effect on a plan only together",
                hint="give both or --ranks; `workalike run` places the ranks",
            )
        return replace(self.options(), backend=self.checked_backend())

    def chosen_time_scale(self) -> float:
        """The factor as given; by default 0 for backends that only count, for they have nothing to measure."""
        if self.time_scale is not None:
            return self.time_scale
        return 0.0 if only_counts(self.backend) else 1.0

    def checked_backend(self) -> Any:
        """The backend that performs every family; None: each family has its own.

        Raises:
            WorkalikeError: USAGE.
        """
        return one_of(self.backend, BACKENDS, "--backend") if self.backend is not None else None


@dataclass(frozen=True, kw_only=True)
class FittedScale(Scale):
    """The scale of `replicate`, which chooses the factors that are not given."""

    bytes_scale: Annotated[
        str | None, typer.Option(help="Factor on all bytes [default: at most 1 GiB].", metavar="F")
    ] = None
    time_scale: Annotated[
        float | None,
        typer.Option(
            help="Factor on all waiting [default: about a minute].",
            metavar="F",
            min=0.0,
            max=MAX_TIME_SCALE,
        ),
    ] = None

    def chosen_time_scale(self) -> float:
        """The factor as given; 0 until the replica is fitted to the machine."""
        return self.time_scale or 0.0


@dataclass(frozen=True, kw_only=True)
class Performing:
    """How a plan is performed."""

    launcher: Annotated[
        str | None,
        typer.Option(
            "--launcher",
            help="mpiexec, srun, flux or serial [default: the one that is available].",
            metavar="NAME",
        ),
    ] = None
    keep: Keep = False
    verify: Verify = False
    quiet: Quiet = False
    as_json: Json = False

    @property
    def silent(self) -> bool:
        """Whether stdout gets nothing, or one JSON object only."""
        return self.quiet or self.as_json

    def run_options(self, scale: Scale, data: Path | None, out: Path, **more: Any) -> RunOptions:
        """The options of `run_plan`; `more` are further fields of it."""
        from workalike.launch.run import RunOptions

        return RunOptions(
            data=data,
            out=out,
            backend=scale.checked_backend(),
            nodes=scale.nodes,
            ranks_per_node=scale.ranks_per_node,
            launcher=self.launcher,
            keep=self.keep,
            verify=self.verify,
            quiet=self.silent,
            **more,
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around a run: a signal that ends it says what became of the data."""
        try:
            yield
        except BaseException as error:
            if not self.keep and not isinstance(error, Exception):
                error.add_note("a run's data is left only with --keep")
            raise


@dataclass(frozen=True, kw_only=True)
class Modelling:
    """How a log's dumps are modelled."""

    states: Annotated[
        int | None, typer.Option(min=1, help="Dumps in each long-lived file, where the log does not show it.")
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="How dumps are modelled: arrays (datasets of HDF5 and PnetCDF), extents (calls on a file), mesh "
            "(HDF5 families as unstructured meshes of the same bytes through TyphonIO) "
            "[default: what the log shows best].",
            metavar="mesh|arrays|extents",
        ),
    ] = None
    variables: Annotated[
        int | None,
        typer.Option(min=1, help="With --model mesh: variables of a mesh [default: as found]."),
    ] = None

    def options(
        self, *, include_program_start: bool = False, level: str | None = None
    ) -> CharacterizeOptions:
        """The options of `characterize`.

        Raises:
            WorkalikeError: USAGE, also where options contradict each other.
        """
        from workalike.characterize import CharacterizeOptions
        from workalike.characterize.options import Model
        from workalike.workload.quantities import MAX_DATASETS
        from workalike.workload.words import Level

        wanted = Level(one_of(level, tuple(Level), "--level")) if level else None
        model = Model(one_of(self.model, tuple(Model), "--model")) if self.model is not None else None
        if self.variables is not None and model is not Model.MESH:
            raise WorkalikeError(ErrorKind.USAGE, "--variables needs --model mesh")
        if self.variables is not None and self.variables > MAX_DATASETS:
            raise WorkalikeError(ErrorKind.USAGE, f"--variables must be at most {MAX_DATASETS}")
        if wanted is not None and model in (Model.ARRAYS, Model.EXTENTS):
            raise WorkalikeError(
                ErrorKind.USAGE, "--level and --model both choose the level", hint="give one of them"
            )
        return CharacterizeOptions(
            self.states, include_program_start, wanted, model=model, variables=self.variables
        )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its option groups as parameters, from which typer makes the command line."""
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if not (isinstance(group, type) and is_dataclass(group)):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(group)
        ]

    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    # Not `functools.wraps`: it would lead to the parameters of the command itself.
    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def check_placement(ranks: int, nodes: int, ranks_per_node: int) -> None:
    """Refuse ranks that overflow the nodes or leave a node empty; the last node may have fewer ranks.

    Raises:
        WorkalikeError: USAGE.
    """
    if -(-ranks // ranks_per_node) != nodes:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{ranks} ranks do not fill --nodes {nodes} with --ranks-per-node {ranks_per_node}",
            hint="leave one of the three out",
        )


def factor_of(text: str, option: str) -> Fraction:
    """The exact value of a positive factor such as `0.01` or `1/64`.

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
    """The value, if it is in the closed list.

    Raises:
        WorkalikeError: USAGE, naming the allowed values.
    """
    if value not in allowed:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{option} {value!r} is unknown", hint=f"use one of {', '.join(allowed)}"
        )
    return value


def console(quiet: bool = False) -> Console:
    """A console on stdout, or on nothing. Markup is off, because a file may be called `[red]`."""
    from rich.console import Console

    return Console(quiet=quiet, highlight=False, markup=False)


def was_given(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_given(context: typer.Context, names: tuple[str, ...], file: Path) -> None:
    """Refuse options that a plan has settled already, for they would do nothing.

    Raises:
        WorkalikeError: USAGE, naming the options.
    """
    given = [f"--{name.replace('_', '-')}" for name in names if was_given(context, name)]
    if given:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"is a plan, in which {', '.join(given)} is settled",
            file=file,
            hint="leave the option out, or make another plan with it",
        )


def warn(text: str) -> None:
    """Print one line on stderr."""
    print(f"workalike: {text}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    json.dump(value, sys.stdout, indent=1)
    sys.stdout.write("\n")
