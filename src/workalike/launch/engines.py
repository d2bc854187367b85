"""The engines of this machine, each built with one MPI, and the one that the launcher in use can start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError

NAME = "workalike-engine"
VARIABLE, FOLDERS = "WORKALIKE_ENGINE", "WORKALIKE_ENGINES"
NO_ENGINE = "performing a plan needs the engine"
HOW_TO_GET_THE_ENGINE = "build it with `workalike engine build`, which needs an MPI and a C++ compiler; --backend null only counts and needs none"
SECONDS = 60
FAMILIES = {
    "Open MPI": ("open mpi", "openrte", "open-mpi", "prte"),
    "MPICH": ("mpich", "hydra", "intel(r) mpi"),
}
"""Family of MPIs that start each other's programs -> words of their libraries and launchers."""


@dataclass(frozen=True)
class Engine:
    """An engine and what its libraries can do, by `workalike-engine --features`; empty where it does not start."""

    path: Path
    features: dict[str, str]

    @property
    def mpi(self) -> str:
        """The MPI that it was built with, such as "Open MPI v4.1.4"; empty if the engine does not say."""
        return self.features.get("mpi", "")

    @property
    def family(self) -> str:
        return family_in(self.mpi)


def home() -> Path:
    """Where `workalike engine build` puts engines by default."""
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "workalike" / "engines"


def engine_paths() -> list[Path]:
    """The engines that can be found, the preferred first; `WORKALIKE_ENGINE` names the only one."""
    if named := os.environ.get(VARIABLE):
        return [path for path in [Path(named)] if _is_program(path)]
    folders = [Path(each) for each in os.environ.get(FOLDERS, "").split(os.pathsep) if each]
    places = [*folders, home()]
    found = [Path(sys.executable).parent / NAME, Path(sysconfig.get_path("scripts")) / NAME]
    found += [path for place in places for path in sorted(place.glob(f"*/{NAME}"))]
    if (on_path := shutil.which(NAME)) is not None:
        found.append(Path(on_path))
    return list(dict.fromkeys(path for path in found if _is_program(path)))


def engine_of(path: Path) -> Engine:
    """An engine with its features."""
    return Engine(path, dict(_features(path)))


def engine_if_built() -> Path | None:
    """The first engine of the MPI whose mpiexec is in use, else the first of all; None without one."""
    paths = engine_paths()
    if len(paths) < 2:
        return paths[0] if paths else None
    launcher = launcher_family()
    return next((path for path in paths if engine_of(path).family == launcher), paths[0])


def find_engine() -> Path:
    """The engine.

    Raises:
        WorkalikeError: NOT_INSTALLED, with what to do.
    """
    engine = engine_if_built()
    if engine is None:
        if named := os.environ.get(VARIABLE):
            raise WorkalikeError(
                ErrorKind.MISSING,
                f"{VARIABLE} names no program",
                file=named,
                hint=f"correct or unset {VARIABLE}",
            )
        raise WorkalikeError(ErrorKind.NOT_INSTALLED, NO_ENGINE, hint=HOW_TO_GET_THE_ENGINE)
    return engine


def refuse_wrong_pair(path: Path, launcher: str) -> None:
    """Refuse an engine of another MPI than the launcher's: each of its ranks would be a run of its own.

    Raises:
        WorkalikeError: USAGE, naming both.
    """
    if launcher != "mpiexec":
        return
    engine, family = engine_of(path), launcher_family()
    if engine.family and family and engine.family != family:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"the engine was built with {engine.mpi}, and mpiexec is that of {family}",
            file=path,
            hint="build another with `workalike engine build`, or put the other MPI first in PATH",
        )


def refuse_what_is_no_engine(path: Path) -> None:
    """Refuse a program that does not say what an engine can do.

    Raises:
        WorkalikeError: USAGE, naming the program and what chose it.
    """
    if engine_of(path).features:
        return
    raise WorkalikeError(
        ErrorKind.USAGE,
        "is not an engine of workalike, or does not start here",
        file=path,
        hint=f"correct or unset {VARIABLE}" if os.environ.get(VARIABLE) else "see `workalike engine list`",
    )


def family_in(text: str) -> str:
    """The family of MPIs that a version text names; empty for an unknown one."""
    lower = text.lower()
    return next((name for name, words in FAMILIES.items() if any(word in lower for word in words)), "")


@lru_cache
def launcher_family() -> str:
    """The family of the mpiexec in use; empty where it is none or unknown."""
    return family_in(_output(("mpiexec", "--version")))


@lru_cache
def _features(path: Path) -> tuple[tuple[str, str], ...]:
    pairs = (line.partition(" ") for line in _output((str(path), "--features")).splitlines())
    return tuple((name, value) for name, _, value in pairs if value)


def _output(command: tuple[str, ...]) -> str:
    """What a short command prints; empty if it cannot run."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
