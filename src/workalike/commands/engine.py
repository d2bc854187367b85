"""`workalike engine build`, `engine check`, `engine list`"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.progress import progress
from workalike.errors import ErrorKind, ExitCode, WorkalikeError
from workalike.text import seconds_text

if TYPE_CHECKING:
    from workalike.engine_build.check import Checked
    from workalike.launch.engines import Engine

EXIT_CODES = "Exit codes: 0 done; 1 the engine does not compile, or its self-test failed; 2 bad usage, or something is missing."
PERCENT = 100
SEVERAL_RANKS = 2


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="markdown",
        help="Build the engine, the MPI program that performs replicas, and check what it can do here.",
    )
    group.command("build", epilog=EXIT_CODES)(build)
    group.command("check", epilog=EXIT_CODES)(check)
    group.command("list", epilog=EXIT_CODES)(show)
    app.add_typer(group, name="engine")


def build(
    mpicc: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="C compiler of the MPI [default: mpicc].")
    ] = None,
    hdf5: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of a parallel HDF5 [default: what is found].")
    ] = None,
    compiler: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="C++ compiler [default: CXX, else c++].")
    ] = None,
    prefix: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of engines [default: ~/.local/share/workalike/engines]."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Compilers at a time [cores].")
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Compile the engine with the MPI of this site, for this user; then check it. It takes about two minutes.

    Engines of several MPIs live side by side. A run takes the one whose MPI the mpiexec in use belongs to. Nothing is
    downloaded.

    Examples:

        workalike engine build

        workalike engine build --mpicc mpicc.mpich --hdf5 /opt/hdf5-mpich
    """
    from workalike.engine_build.build import BuildOptions
    from workalike.engine_build.build import build as build_engine
    from workalike.launch.engines import FOLDERS, home

    options = BuildOptions(mpicc, hdf5, compiler, prefix, jobs)
    with progress("per cent", hidden=quiet) as report_done:
        engine = build_engine(
            options,
            (lambda _: None) if quiet else opt.warn,
            lambda share: report_done(round(PERCENT * share), PERCENT),
        )
    if prefix is not None and prefix.absolute() != home() and not quiet:
        opt.warn(f"runs find it with {FOLDERS}={prefix.absolute()} in the environment")
    _check([engine], None, as_json=False, quiet=quiet)


def check(
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir", metavar="DIR", help="On the file system to be used [default: a temporary folder]."
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Let two ranks write through each interface of the engine in use and read it back, and say what is missing.

    Examples:

        workalike engine check

        workalike engine check --dir /scratch/me
    """
    from workalike.launch.engines import engine_of, find_engine

    if directory is not None and not directory.is_dir():
        raise WorkalikeError(
            ErrorKind.MISSING, "is not a folder", file=directory, hint="make it, or name another"
        )
    _check([engine_of(find_engine())], directory, as_json=as_json, quiet=False)


def show(as_json: opt.Json = False) -> None:
    """List the engines that are found, each with its MPI; a star marks the one that runs take.

    None has a star where no run of several ranks can start: without mpiexec, say. A line says why.

    Example:

        workalike engine list
    """
    from workalike.launch.engines import VARIABLE, engine_if_built, engine_of, engine_paths, find_engine

    if os.environ.get(VARIABLE):
        find_engine()  # refuses the name where no program has it
    used, engines = engine_if_built(), [engine_of(path) for path in engine_paths()]
    if as_json:
        opt.print_json(
            [{"path": str(e.path), "features": e.features, "used": e.path == used} for e in engines]
        )
        return
    obstacle = _obstacle(used) if used is not None else None
    for engine in engines:
        mark = "*" if engine.path == used and obstacle is None else " "
        print(f"{mark} {engine.mpi or 'does not start'}: {engine.path}")
    if not engines:
        print("no engine here: workalike engine build")
    elif obstacle is not None:
        print(f"no run of several ranks can start: {obstacle.message} ({obstacle.hint})")


def _obstacle(engine: Path) -> WorkalikeError | None:
    """Why no run of several ranks can start with an engine; None where it can."""
    from workalike.launch.engines import refuse_wrong_pair
    from workalike.launch.launchers import choose

    try:
        refuse_wrong_pair(engine, choose(None, SEVERAL_RANKS).name)
    except WorkalikeError as error:
        return error
    return None


def _check(engines: list[Engine], directory: Path | None, *, as_json: bool, quiet: bool) -> None:
    from workalike.engine_build.check import check as check_engine

    found = [check_engine(engine, directory) for engine in engines]
    if as_json:
        opt.print_json(found[0].document())
    elif not quiet:
        for each in found:
            _print(each)
    if not all(each.works for each in found):
        raise typer.Exit(ExitCode.FAILED)


def _print(found: Checked) -> None:
    libraries = ", ".join(f"{name} {version}" for name, version in found.libraries.items()) or "none"
    print(f"engine       {found.path}")
    print(f"MPI          {found.mpi or 'unknown'}; started by {found.launcher}")
    print(f"libraries    {libraries}")
    if found.passed:
        print(
            f"self-test    two ranks wrote and read back through {', '.join(found.passed)}: {seconds_text(found.seconds)}"
        )
    for name, reason in found.failures.items():
        print(f"failed       {name}: {reason}")
    for name, remedy in found.missing.items():
        print(f"missing      {name}: {remedy}")
