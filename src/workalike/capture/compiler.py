"""`workalike-cc` and `workalike-fc`: a compiler that links the capture library into programs.

They call `mpicc` and `mpif90` (or what WORKALIKE_CC and WORKALIKE_FC name) with the same arguments, and add the library
where a program is linked. Such a program captures itself without a preload, even if it is linked statically.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from workalike.capture.library import LinkedIn, linked_in
from workalike.errors import ExitCode, WorkalikeError

_NO_PROGRAM = {"-c", "-S", "-E", "-M", "-MM", "-r", "-shared", "-fsyntax-only"}
"""Options with which the compiler links no program."""

_LIBRARY = re.compile(r"-[lL].+|-Wl,-B(static|dynamic)|[^-].*\.(a|so(\.[0-9]+)*)")
_SEPARATE_LIBRARY = {"-l", "-L"}
_WITH_MPI = re.compile(r"mpi|^(cc|CC|ftn)$")
"""Names of compilers that link MPI into every program."""

_ALWAYS_WITH_MPI = ("MPI_Init", "MPI_Init_thread", "MPI_File_open")
"""Functions that MPI, or a library above it, calls after the linker has searched workalike's archive."""


def makes_program(arguments: Sequence[str]) -> bool:
    """Whether a compiler with these arguments links a program."""
    inputs = any(not word.startswith("-") for word in arguments)
    return inputs and not _NO_PROGRAM & set(arguments)


def libraries(arguments: Sequence[str]) -> list[str]:
    """The libraries and library folders among a compiler's arguments, in order."""
    found: list[str] = []
    for at, word in enumerate(arguments):
        if word in _SEPARATE_LIBRARY:
            found += arguments[at : at + 2]
        elif _LIBRARY.fullmatch(word) and (at == 0 or arguments[at - 1] not in {"-o", *_SEPARATE_LIBRARY}):
            found.append(word)
    return found


def command(compiler: str, arguments: Sequence[str], capture: LinkedIn) -> list[str]:
    """The compiler's command, with the capture library added where it links a program.

    The libraries follow the archive once more, because the linker learns only there which of their functions it needs.
    """
    if not makes_program(arguments):
        return [compiler, *arguments]
    *options, archive = capture.flags()
    if _WITH_MPI.search(Path(compiler).name):
        options += [f"-Wl,-u,__wrap_{name}" for name in _ALWAYS_WITH_MPI]
    group = ["-Wl,--start-group", archive, *libraries(arguments), "-Wl,--end-group"]
    return [compiler, *arguments, *options, *group]


def _run(compiler: str) -> None:
    try:
        words = command(compiler, sys.argv[1:], linked_in())
    except WorkalikeError as error:
        print(f"{Path(sys.argv[0]).name}: {error.one_line()}", file=sys.stderr)
        sys.exit(ExitCode.BAD_INPUT)
    try:
        os.execvp(compiler, words)
    except OSError as error:
        print(f"{Path(sys.argv[0]).name}: {compiler}: {error.strerror}", file=sys.stderr)
        sys.exit(ExitCode.NOT_FOUND)


def cc() -> None:
    """The script `workalike-cc`."""
    _run(os.environ.get("WORKALIKE_CC") or "mpicc")


def fc() -> None:
    """The script `workalike-fc`."""
    _run(os.environ.get("WORKALIKE_FC") or "mpif90")
