"""`workalike-cc` and `workalike-fc`: a compiler that links the capture library into programs.

They stand in front of `mpicc` and `mpif90` (or what WORKALIKE_CC and WORKALIKE_FC name) and pass everything on; where
a program is linked, the library goes in. Such a program captures itself without a preload, also when it is linked
statically.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from workalike.capture.library import LinkedIn, linked_in
from workalike.errors import WorkalikeError

EXIT_USAGE = 2
EXIT_NOT_FOUND = 127

_NO_PROGRAM = {"-c", "-S", "-E", "-M", "-MM", "-r", "-shared", "-fsyntax-only"}
"""Options with which no program is linked."""

_LIBRARY = re.compile(r"-[lL].+|-Wl,-B(static|dynamic)|[^-].*\.(a|so(\.[0-9]+)*)")
_LIBRARY_IN_TWO_WORDS = {"-l", "-L"}
_WITH_MPI = re.compile(r"mpi|^(cc|CC|ftn)$")
"""Compilers that link MPI into everything."""

_ALWAYS_WITH_MPI = ("MPI_Init", "MPI_Init_thread", "MPI_File_open")
"""What MPI's own libraries call, or those on top of it, after our archive was searched."""


def makes_program(arguments: Sequence[str]) -> bool:
    """Whether a compiler that is called so links a program."""
    inputs = any(not word.startswith("-") for word in arguments)
    return inputs and not _NO_PROGRAM & set(arguments)


def libraries(arguments: Sequence[str]) -> list[str]:
    """The libraries among a compiler's arguments, and where it looks for them, in order."""
    found: list[str] = []
    for at, word in enumerate(arguments):
        if word in _LIBRARY_IN_TWO_WORDS:
            found += arguments[at : at + 2]
        elif _LIBRARY.fullmatch(word) and (
            at == 0 or arguments[at - 1] not in {"-o", *_LIBRARY_IN_TWO_WORDS}
        ):
            found.append(word)
    return found


def command(compiler: str, arguments: Sequence[str], ours: LinkedIn) -> list[str]:
    """The command that compiles as asked, with the capture library in the program.

    The libraries stand a second time after our archive: what they are needed for is known only there.
    """
    if not makes_program(arguments):
        return [compiler, *arguments]
    *options, archive = ours.flags()
    if _WITH_MPI.search(Path(compiler).name):
        options += [f"-Wl,-u,__wrap_{name}" for name in _ALWAYS_WITH_MPI]
    group = ["-Wl,--start-group", archive, *libraries(arguments), "-Wl,--end-group"]
    return [compiler, *arguments, *options, *group]


def _run(compiler: str) -> None:
    try:
        words = command(compiler, sys.argv[1:], linked_in())
    except WorkalikeError as error:
        print(f"{Path(sys.argv[0]).name}: {error.one_line()}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    try:
        os.execvp(compiler, words)
    except OSError as error:
        print(f"{Path(sys.argv[0]).name}: {compiler}: {error.strerror}", file=sys.stderr)
        sys.exit(EXIT_NOT_FOUND)


def cc() -> None:
    """The script `workalike-cc`."""
    _run(os.environ.get("WORKALIKE_CC") or "mpicc")


def fc() -> None:
    """The script `workalike-fc`."""
    _run(os.environ.get("WORKALIKE_FC") or "mpif90")
