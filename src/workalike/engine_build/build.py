"""`workalike engine build`: the packaged source, compiled with the site's MPI into a folder of the user's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workalike.engine_build.source import cmake_lists, header_files, source_files
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in, make_folder
from workalike.launch.engines import NAME, Engine, engine_of, home

LEAST_GCC, LEAST_CLANG = 10, 12
"""The first versions that compile C++20 as the engine uses it."""
PROBE = (
    "#include <compare>\n#include <span>\nstatic_assert(__cplusplus > 201703L);\nint main() { return 0; }\n"
)
PROGRESS = re.compile(r"^\[(?:\s*(\d+)%|(\d+)/(\d+))\]")
LAST_LINES = 12
SHELL_WORD = re.compile(r"[^A-Za-z0-9.]+")

Report = Callable[[str], None]
Show = Callable[[float], None]
"""Gets the share that is done, from 0 to 1."""


@dataclass(frozen=True)
class BuildOptions:
    """What to build with: programs and folders as CMake takes them; None: what is found.

    `prefix` holds a folder for each engine, named after its MPI.
    """

    mpicc: str | None = None
    hdf5: Path | None = None
    compiler: str | None = None
    prefix: Path | None = None
    jobs: int | None = None


def build(options: BuildOptions, report: Report, show: Show) -> Engine:
    """Build an engine, and put it where runs find it. What was there of the same MPI is replaced at the end.

    Raises:
        WorkalikeError: NOT_INSTALLED for a program that is missing; CANNOT_WRITE; RUN_FAILED with the compiler's words.
    """
    cmake, mpicc, compiler = _programs(options)
    if options.hdf5 is not None and not options.hdf5.is_dir():
        raise WorkalikeError(
            ErrorKind.MISSING, "is not a folder", file=options.hdf5, hint="name that of a parallel HDF5"
        )
    prefix = options.prefix or home()
    _make_prefix(prefix)
    with alone_in(prefix, "another command is building an engine there"), _scratch() as scratch:
        report(f"with {mpicc} and {compiler}, for {prefix}")
        _write_source(scratch / "source")
        environment = _environment(options)
        configure = [
            cmake, "-S", str(scratch / "source"), "-B", str(scratch / "build"),
            f"-DMPI_C_COMPILER={mpicc}", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
        ]  # fmt: skip
        if options.hdf5 is not None:
            configure.append(f"-DHDF5_ROOT={options.hdf5.absolute()}")
        _run(configure, environment, "cannot be configured", lambda _: None)
        jobs = str(options.jobs or os.cpu_count() or 1)
        command = [cmake, "--build", str(scratch / "build"), "--parallel", jobs, "--target", NAME]
        _run(command, environment, "does not compile", show)
        built = scratch / "build" / NAME
        name = _name_of(engine_of(built))
        place = prefix / name
        make_folder(place)
        fresh = place / f".{NAME}.new"
        shutil.copy2(built, fresh)
        fresh.replace(place / NAME)  # a run that has started goes on with the old one
    return engine_of(place / NAME)


def _programs(options: BuildOptions) -> tuple[str, str, str]:
    """(cmake, mpicc, C++ compiler)."""
    cmake = _needed("cmake", "cmake", "install it, also by `pip install cmake`")
    mpicc = _needed(
        options.mpicc or "mpicc", "an MPI", "load the site's MPI, or name its compiler with --mpicc"
    )
    compiler = options.compiler or os.environ.get("CXX") or "c++"
    compiler = _needed(compiler, "a C++ compiler", "load one, or name it with --compiler")
    with tempfile.TemporaryDirectory(prefix="workalike-") as folder:
        probe = Path(folder, "probe.cpp")
        probe.write_text(PROBE)
        words = [compiler, "-std=c++20", str(probe), "-o", str(Path(folder, "probe"))]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise WorkalikeError(
            ErrorKind.NOT_INSTALLED,
            f"{compiler} does not compile C++20",
            hint=f"load GCC {LEAST_GCC}, Clang {LEAST_CLANG} or newer, or name one with --compiler",
        )
    return cmake, mpicc, compiler


def _needed(program: str, what: str, hint: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise WorkalikeError(
            ErrorKind.NOT_INSTALLED, f"the engine needs {what}: no {program} here", hint=hint
        )
    return found


def _make_prefix(prefix: Path) -> None:
    try:
        make_folder(prefix)
        writable = os.access(prefix, os.W_OK)
    except WorkalikeError as error:
        raise WorkalikeError(
            error.kind, error.message, file=prefix, hint="choose another folder with --prefix"
        ) from error
    if not writable:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE, "is read-only", file=prefix, hint="choose another folder with --prefix"
        )


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="workalike-engine-") as folder:
        yield Path(folder)


def _write_source(folder: Path) -> None:
    files = {**dict(source_files()), **dict(header_files()), "CMakeLists.txt": cmake_lists()}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _environment(options: BuildOptions) -> dict[str, str]:
    """CMake asks the wrapper of HDF5 first, so that of `--hdf5` comes first in PATH."""
    if options.hdf5 is None:
        return dict(os.environ)
    return {
        **os.environ,
        "PATH": f"{options.hdf5.absolute() / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def _run(command: list[str], environment: dict[str, str], failure: str, show: Show) -> None:
    """Run a step of CMake; its last lines are those of the error."""
    last: list[str] = []
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if found := PROGRESS.match(line):
                    percent, done, of_all = found.groups()
                    show(int(percent) / 100 if percent else int(done) / int(of_all))
                elif line.strip():
                    last = [*last[1 - LAST_LINES :], line.strip()]
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED, f"the engine {failure}", place=_reason(last), hint="see docs/install.md"
        )


def _reason(lines: list[str]) -> str:
    """The first error among the last lines, else the last line."""
    error = next(
        (line for line in lines if "error" in line.lower()), lines[-1] if lines else "no reason given"
    )
    return "".join(c for c in error if c.isprintable())[:200]


def _name_of(engine: Engine) -> str:
    """A folder's name, such as open-mpi-4.1.4."""
    if not engine.mpi:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            "the engine was built, and does not start",
            hint="are the libraries of this MPI in LD_LIBRARY_PATH?",
        )
    version = re.search(r"\d+(?:\.\d+)+", engine.mpi)
    family = engine.family or engine.mpi.split()[0]
    return SHELL_WORD.sub("-", f"{family}-{version[0] if version else ''}".lower()).strip("-.") or "engine"
