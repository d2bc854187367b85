"""`workalike profile [-o LOG] -- COMMAND...`"""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder

MIB = 2**20
DEFAULT_MIB = 64
NOTHING_DONE = "nothing that is counted was done (files of the system are not; see --include)"


def register(app: typer.Typer) -> None:
    app.command("profile", context_settings={"allow_interspersed_args": False})(command)


def command(
    run: Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND...", help="What to run.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="The log; a folder (DIR/) gets one log a process or MPI job.",
            metavar="LOG",
        ),
    ] = None,
    include: Annotated[
        str | None, typer.Option(help="Also count paths that match, wherever they are.", metavar="REGEX")
    ] = None,
    exclude: Annotated[
        str | None, typer.Option(help="Do not count paths that match.", metavar="REGEX")
    ] = None,
    max_memory: Annotated[int, typer.Option(min=1, help="MiB a process may use for counters.")] = DEFAULT_MIB,
    dxt: Annotated[bool, typer.Option("--dxt", help="Also record every read and write.")] = False,
    keep_records: Annotated[
        bool, typer.Option("--keep-records", help="A record for every rank, also of files that all share.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Also record opens, closes and syncs, in LOG.extra.json.")
    ] = False,
    stdio_sizes: Annotated[
        bool,
        typer.Option(
            "--stdio-sizes",
            help="Also record the sizes of STDIO's calls, in LOG.extra.json, which characterize reads.",
        ),
    ] = False,
    with_darshan: Annotated[
        Path | None,
        typer.Option(help="Preload this libdarshan.so instead of our library.", metavar="PATH"),
    ] = None,
    recover_from: Annotated[
        Path | None,
        typer.Option(
            "--recover",
            help="Make logs of what killed processes left in DIR (of several nodes: DIR DIR...).",
            metavar="DIR",
        ),
    ] = None,
    flags: Annotated[
        bool,
        typer.Option(
            "--link-flags", help="Print what workalike-cc and workalike-fc link into a program instead."
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Run a command and write a Darshan log of the I/O that it does.

    Serial and MPI programs, as they are; no recompiling. The command's output and exit code are its own. A process
    that is killed does not lose its counters: the log is then made of what it left, and says so.

    Options come before the command. Examples:

        workalike profile -o app.darshan -- mpiexec -n 4 ./app

        workalike profile -o logs/ -- ./script.sh      (a log for every process)

        workalike profile --dxt --exclude '[.]tmp$' -o app.darshan -- ./app

        workalike profile -o logs --recover node1 node2      (of a killed job)

        workalike-cc -static app.c -o app      (no preload: mpicc with the library linked in; workalike-fc for Fortran)
    """
    from workalike.capture.library import find_library, is_static, linked_in
    from workalike.capture.session import CaptureOptions, Session, place_logs

    if flags:
        print(" ".join(linked_in().flags()))
        return
    if recover_from is not None:
        _recover([recover_from, *map(Path, run or [])], Path(output or "."), as_json)
        return
    if not run:
        raise WorkalikeError(ErrorKind.USAGE, "no command to run", hint="workalike profile -- COMMAND...")
    if with_darshan is None:
        find_library()
    elif include or exclude or events or stdio_sizes:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "--include, --exclude, --events and --stdio-sizes are our library's own",
            hint="leave them out with --with-darshan; Darshan has a file for settings (DARSHAN_CONFIG_PATH)",
        )
    elif not with_darshan.is_file():
        raise WorkalikeError(ErrorKind.MISSING, "is no library", file=with_darshan, hint="name libdarshan.so")
    place = _place(output, run[0])
    room = None if with_darshan and max_memory == DEFAULT_MIB else max_memory * MIB
    darshan = with_darshan.resolve() if with_darshan else None
    options = CaptureOptions(include, exclude, room, dxt, keep_records, events, stdio_sizes, darshan)
    for option, pattern in (("--include", include), ("--exclude", exclude)):
        _check_pattern(option, pattern)
    if shutil.which(run[0]) is None:
        raise WorkalikeError(ErrorKind.USAGE, f"{run[0]} is not a program", hint="check the name and PATH")
    unreachable = is_static(run[0])
    if unreachable:
        opt.warn(
            f"{run[0]} is linked statically: a preload cannot count what it does, unless it was linked with the "
            "flags of `workalike profile --link-flags`"
        )
    with Session(place if place.is_dir() else place.parent, options) as session:
        code = session.run(run, quiet=as_json)
        try:
            logs = place_logs(session.collect(), place)
        except WorkalikeError as error:
            # The command has ended as it did: that its log cannot be written does not change what it says.
            session.remarks.append(error.one_line())
            session.keep()
            logs = None
        remarks, lost = session.remarks, session.lost
    for remark in remarks:
        opt.warn(remark)
    reason: str | None = NOTHING_DONE
    if unreachable or lost:
        reason = (
            f"{run[0]} was not captured" if unreachable else "a process was not captured, as it said above"
        )
    if logs is None and not as_json:
        raise typer.Exit(code)
    if darshan and not logs:
        reason = None
        opt.warn(
            f"{darshan} left no log here; a site may have it write elsewhere (its DARSHAN_ settings say where)"
        )
    _tell(logs or [], code, as_json, reason)
    raise typer.Exit(code)


def _place(given: str | None, program: str) -> Path:
    """Where the log goes; a free name here without -o."""
    if given is None:
        return Path(f"{Path(program).name}_{time.strftime('%Y%m%d-%H%M%S')}.darshan")
    output = Path(given)
    if given.endswith("/") or output.is_dir():
        make_folder(output)
    elif output.exists():
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE, "is there already", file=output, hint="choose another name or remove it"
        )
    else:
        make_folder(output.parent)
    return output


def _check_pattern(option: str, pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise WorkalikeError(ErrorKind.USAGE, f"{option} {pattern!r}: {error}") from error


def _recover(folders: list[Path], output: Path, as_json: bool) -> None:
    for folder in folders:
        if not folder.is_dir():
            option = str(folder).startswith("-")
            hint = "options come before the folders: --recover is the last" if option else None
            raise WorkalikeError(ErrorKind.MISSING, "is no folder", file=folder, hint=hint)
    from workalike.capture.recover import recover

    make_folder(output)
    logs, remarks = recover(folders, output)
    for remark in remarks:
        opt.warn(remark)
    _tell(logs, 0, as_json, "none was made of what lies there" if remarks else "no counters lie there")


def _tell(logs: list[Path], code: int, as_json: bool, why_none: str | None) -> None:
    """Name the logs, or say why there is none (unless that has been said)."""
    if as_json:
        opt.print_json({"logs": [str(log) for log in logs], "code": code})
        return
    for log in logs:
        opt.warn(f"log: {log}")
    if not logs and why_none:
        opt.warn(f"no log: {why_none}")
