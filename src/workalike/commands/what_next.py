"""`workalike FILE`: what the file is, and what can be done with it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.commands.catalogue import WHAT_NEXT
from workalike.text import plural, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

VOWELS = "aeiou"
HDF5 = b"\x89HDF\r\n\x1a\n"
NEXT = {
    "log": (
        ("diagnose {file}", "what is wrong with its I/O, and what that costs"),
        ("replicate {file} -o replica/", "a small replica of it, and how close that is"),
        ("characterize {file} -o app.yaml", "what it does to storage, without names"),
    ),
    "folder of logs": (
        ("fleet ingest {file} --db fleet/", "of many jobs: a database of them"),
        ("diagnose {file}", "of one job: what is wrong with its I/O"),
        ("replicate {file} -o replica/", "of one job: a small replica of it"),
    ),
    "workload": (
        ("check {file}", "what it does, in words"),
        ("run {file} --dir /scratch/me -o out/", "perform it on a file system"),
        ("run {file} --dir /tmp/x --backend null -o out/", "count its operations, without MPI"),
    ),
    "study": (
        ("study check {file}", "how many trials, and how long they take"),
        ("study {file} -o results/ --dir /scratch/me", "run it"),
    ),
    "mix": (("mix {file} -o mixed/ --dir /scratch/me", "run it"),),
    "plan": (("run {file} --dir /scratch/me -o out/", "perform it on a file system"),),
    "record": (("compare app.darshan {file}", "how close the run came to a log"),),
    "evidence file": (("evidence {file}", "what it says of the system that it was made on"),),
    "bundle for a tender": (
        (
            "bundle {file} --collect results.tar.gz --system vendor -o vendor/",
            "check what came back of it",
        ),
        (
            "bundle {file} --collect results.tar.gz --system vendor -o vendor/ --accept ACCEPTANCE.yaml",
            "also judge it by what the tender requires",
        ),
    ),
    "archive of a bundle's results": (
        (
            "bundle tender.tar.gz --collect {file} --system vendor -o vendor/",
            "check it against the bundle that was sent out",
        ),
    ),
    "file of HDF5": (("inspect {file}", "its groups and datasets, and what is wrong with them"),),
}
"""Kind -> commands, with what each gives."""


def register(app: typer.Typer) -> None:
    app.command(WHAT_NEXT, hidden=True, epilog=opt.EXIT_CODES)(command)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Any file of workalike, or a log.")],
) -> None:
    """Say what a file is, and what can be done with it.

    Example:

        workalike app.darshan
    """
    kind = _kind(file)
    for line in _described(file, kind):
        print(line)
    print("\nnext:")
    for text, what in NEXT[kind]:
        print(f"  {what}:\n    workalike {text.format(file=shlex.quote(str(file)))}")


def _kind(file: Path) -> str:
    """What a file holds, by its content."""
    from workalike.bundle.archive_kind import archive_kind_of
    from workalike.errors import ErrorKind
    from workalike.file_kind import FileKind, kind_of
    from workalike.files import open_file

    kind = kind_of(file)
    if file.is_dir():
        return "folder of logs"
    if kind is FileKind.LOG and file.is_file():
        with open_file(file, ErrorKind.USAGE) as opened:
            if opened.read(len(HDF5)) == HDF5:
                return "file of HDF5"
        return archive_kind_of(file) or "log"
    if kind is FileKind.WORKLOAD:
        from workalike.files import read_text

        words = {
            line.partition(":")[0] for line in read_text(file, ErrorKind.USAGE, 2**26).splitlines()[:200]
        }
        return next((word for word in ("study", "mix") if word in words), "workload")
    return kind.value


def _described(file: Path, kind: str) -> Sequence[str]:
    """What the file says of itself, in a line or two."""
    from workalike.bundle.archive_kind import ArchiveKind
    from workalike.file_kind import FileKind

    if kind == "log":
        from workalike.darshan import open_logs

        (log,) = open_logs([file])
        ranks, modules = plural(log.job.nprocs, "rank"), ", ".join(sorted(log.modules))
        return [f"{file}: a Darshan log of {ranks}, {seconds_text(log.job.run_time)}; modules {modules}"]
    if kind == "folder of logs":
        from workalike.darshan import open_logs

        return [f"{file}: {plural(len(open_logs([file])), 'Darshan log')}"]
    if kind == "workload":
        from workalike.workload.workload_file import read_workload

        workload = read_workload(file)
        ranks, families = plural(workload.ranks, "rank"), plural(len(workload.families), "file family")
        return [f"{file}: a workload of {ranks}, {families}"]
    if kind == FileKind.EVIDENCE:
        from workalike.evidence.document import read_evidence

        evidence = read_evidence(file)
        return [f"{file}: an evidence file of {evidence.made_on}, on {evidence.system.file_system.value}"]
    if kind == ArchiveKind.BUNDLE:
        return [
            f"{file}: a {kind}",
            "its README.txt says how bidders build and run it: tar xzf, ./build.sh, ./run.sh DIR",
        ]
    return [f"{file}: {'an' if kind[0] in VOWELS else 'a'} {kind}"]
