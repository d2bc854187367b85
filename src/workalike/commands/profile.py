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
from workalike.files import is_log, make_folder

MIB = 2**20
DEFAULT_MIB = 64
MOST_NAMED = 8
"""Logs that are named; a script can start hundreds of processes."""
NOTHING_DONE = "the command did no I/O that is counted (system files are not; see --include)"


def register(app: typer.Typer) -> None:
    app.command("profile", context_settings={"allow_interspersed_args": False})(command)


def command(
    run: Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND...", help="What to run.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="The log; a folder (DIR/) gets one log per process or MPI job.",
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
        bool,
        typer.Option("--keep-records", help="Keep one record per rank, also of files that all ranks share."),
    ] = False,
    events: Annotated[
        bool,
        typer.Option(
            "--events",
            help="Also record opens, closes, syncs and MPI calls between ranks, in LOG.extra.json.",
        ),
    ] = False,
    stdio_sizes: Annotated[
        bool,
        typer.Option(
            "--stdio-sizes",
            help="Also record the sizes of STDIO calls, in LOG.extra.json, which characterize reads.",
        ),
    ] = False,
    with_darshan: Annotated[
        Path | None,
        typer.Option(help="Preload this libdarshan.so instead of workalike's library.", metavar="PATH"),
    ] = None,
    recover_from: Annotated[
        Path | None,
        typer.Option(
            "--recover",
            help="Write logs from the counters that killed processes left in DIR (of several nodes: DIR DIR...).",
            metavar="DIR",
        ),
    ] = None,
    flags: Annotated[
        bool,
        typer.Option(
            "--link-flags", help="Only print the link flags that workalike-cc and workalike-fc add."
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Run a command and write a Darshan log of its I/O.

    Serial and MPI programs are captured without recompiling. Output and exit code are the command's. If a process is
    killed, the log is made from the counters that it left, and says so.

    Files below /etc, /dev, /usr, /bin, /boot, /lib, /lib64, /opt, /sbin, /sys, /proc, /var and /run are left out, unless
    --include names them.

    Options come before the command. Examples:

        workalike profile -o app.darshan -- mpiexec -n 4 ./app

        workalike profile -o logs/ -- ./script.sh      (a log for every process)

        workalike profile --dxt --exclude '[.]tmp$' -o app.darshan -- ./app

        workalike profile -o logs --recover node1 node2      (of a killed job)

        workalike-cc -static app.c -o app      (mpicc with the library linked in; workalike-fc for Fortran)
    """
    from workalike.capture.library import find_library, has_other_c_library, linked_in, loader_of
    from workalike.capture.session import CaptureOptions, Session, place_logs, set_aside

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
            "--include, --exclude, --events and --stdio-sizes work only without --with-darshan",
            hint="leave them out; Darshan has a file for settings (DARSHAN_CONFIG_PATH)",
        )
    elif not with_darshan.is_file():
        raise WorkalikeError(ErrorKind.MISSING, "is not a file", file=with_darshan, hint="name libdarshan.so")
    place = _place(output, run[0])
    max_bytes = None if with_darshan and max_memory == DEFAULT_MIB else max_memory * MIB
    darshan = with_darshan.resolve() if with_darshan else None
    options = CaptureOptions(include, exclude, max_bytes, dxt, keep_records, events, stdio_sizes, darshan)
    for option, pattern in (("--include", include), ("--exclude", exclude)):
        _check_pattern(option, pattern)
    if shutil.which(run[0]) is None:
        raise WorkalikeError(ErrorKind.USAGE, f"{run[0]} is not a program", hint="check the name and PATH")
    loader = loader_of(run[0])
    if loader and has_other_c_library(loader):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{run[0]} is linked with musl, and does not start with a library of glibc preloaded",
            hint="link it with glibc, or run it without capture",
        )
    unreachable = loader == ""
    if unreachable:
        opt.warn(
            f"{run[0]} is linked statically: a preload cannot count what it does, unless it was linked with the "
            "flags of `workalike profile --link-flags`"
        )
    for older in set_aside(place):
        opt.warn(f"an earlier log is now {older}")
    with Session(place if place.is_dir() else place.parent, options) as session:
        code = session.run(run, quiet=as_json)
        try:
            logs = place_logs(session.collect(), place)
        except WorkalikeError as error:
            # The command's exit code stays its own, although its log cannot be written.
            session.remarks.append(error.one_line())
            session.keep()
            logs = None
        remarks, lost = session.remarks, session.lost
    for remark in remarks:
        opt.warn(remark)
    reason: str | None = NOTHING_DONE
    if unreachable or lost:
        reason = (
            f"{run[0]} was not captured" if unreachable else "a process was not captured, as reported above"
        )
    if logs is None and not as_json:
        raise typer.Exit(code)
    if darshan and not logs:
        reason = None
        opt.warn(f"{darshan} wrote no log here; the site's settings (DARSHAN_...) may name another folder")
    _report(logs or [], code, as_json, reason)
    raise typer.Exit(code)


def _place(given: str | None, program: str) -> Path:
    """The path of the log; without -o, a name with the time in the current folder."""
    if given is None:
        return Path(f"{Path(program).name}_{time.strftime('%Y%m%d-%H%M%S')}.darshan")
    output = Path(given)
    if given.endswith("/") or output.is_dir():
        make_folder(output)
    elif output.exists() and not (output.is_file() and is_log(output)):
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            "is not a log, and is not replaced",
            file=output,
            hint="choose another name",
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
            hint = "put --recover after the other options, just before the folders" if option else None
            raise WorkalikeError(ErrorKind.MISSING, "is not a folder", file=folder, hint=hint)
    from workalike.capture.recover import recover

    make_folder(output)
    logs, remarks = recover(folders, output)
    for remark in remarks:
        opt.warn(remark)
    _report(
        logs, 0, as_json, "none could be made from the counters there" if remarks else "no counters are there"
    )


def _report(logs: list[Path], code: int, as_json: bool, why_none: str | None) -> None:
    """Name the logs, or give the reason why there is none (None: it was reported already)."""
    if as_json:
        opt.print_json({"logs": [str(log) for log in logs], "code": code})
        return
    for log in logs[:MOST_NAMED]:
        opt.warn(f"log: {log}")
    if len(logs) > MOST_NAMED:
        opt.warn(f"and {len(logs) - MOST_NAMED} more logs of processes that moved less, up to {logs[-1]}")
    if not logs and why_none:
        opt.warn(f"no log: {why_none}")
