"""Compiles small programs, runs them under capture, and reads their logs by PyDarshan and by workalike's reader."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import darshan_oracle
import pytest

from workalike.capture.library import find_library
from workalike.darshan import Log, open_log
from workalike.errors import WorkalikeError

PROGRAMS = Path(__file__).parent / "programs"
WORKALIKE = [str(Path(sys.executable).with_name("workalike"))]
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
}


@pytest.fixture(scope="session")
def library() -> Path:
    try:
        return find_library()
    except WorkalikeError:
        pytest.skip("the capture library is not built (make build)")


@functools.cache
def works(compiler: str) -> bool:
    """MPI's wrappers are there also where the compiler that they call is not."""
    return subprocess.run([compiler, "--version"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles `programs/NAME` once; further arguments go to the compiler."""
    folder = tmp_path_factory.mktemp("programs")
    done: dict[tuple[str, ...], Path] = {}

    def compile_program(name: str, *options: str, compiler: str = "cc") -> Path:
        if shutil.which(compiler) is None or not works(compiler):
            pytest.skip(f"no {compiler}, or it starts nothing")
        key = (compiler, name, *options)
        if key not in done:
            target = folder / f"{len(done)}" / Path(name).stem
            target.parent.mkdir(exist_ok=True)  # of one that did not compile
            # What a program does is asked for in its source; the optimizer must not merge its calls.
            flags = [] if name.endswith((".f90", ".F90")) else ["-D_GNU_SOURCE", "-fno-builtin"]
            command = [compiler, "-O1", *flags, str(PROGRAMS / name), *options, "-o", str(target)]
            built = subprocess.run(command, capture_output=True, text=True, check=False)
            if built.returncode:
                pytest.fail(f"{name} does not compile:\n{built.stderr}")
            done[key] = target
        return done[key]

    return compile_program


@dataclass
class Run:
    """A captured run: its exit code, its streams, its logs, and the folder it ran in."""

    code: int
    stdout: str
    stderr: str
    logs: list[Path]
    folder: Path

    @property
    def log(self) -> Log:
        assert len(self.logs) >= 1, self.stderr
        return open_log(self.logs[0])

    @property
    def paths(self) -> list[str]:
        """Names of files in the log."""
        return [name for name in self.log.names.values() if name.startswith("/")]

    def record(self, module: str, name: str, rank: int | None = None) -> dict[str, float]:
        """The counters of one record, those that are not zero, as workalike's reader reads them."""
        found = self.records(module, name)
        if rank is not None:
            found = [entry for entry in found if entry["rank"] == rank]
        assert len(found) == 1, f"{len(found)} records of {module} {name}: {sorted(self.log.names.values())}"
        return found[0]

    def records(self, module: str, name: str) -> list[dict[str, float]]:
        log = self.log
        if module not in log.modules:
            return []
        table = log.records(module)
        full = name if name.startswith("<") else f"{self.folder}/{name}"  # a Path would lose "//"
        rows = []
        for row, (number, rank) in enumerate(zip(table.ids.tolist(), table.ranks.tolist(), strict=True)):
            if log.names.get(number) == full:
                values: dict[str, float] = {"rank": rank}
                for key in (*table.counter_names, *table.fcounter_names):
                    values[key] = table[key][row].item()
                rows.append(values)
        return rows


class Profile:
    """Runs commands under `workalike profile` in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "data"
        self.folder.mkdir()
        self.logs = folder / "logs"
        self.runs = 0

    def __call__(
        self,
        *command: Path | str,
        options: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        check: bool = True,
        timeout: float = 120,
        stdin: str = "",
    ) -> Run:
        self.runs += 1
        logs = self.logs / str(self.runs)
        done = subprocess.run(
            [*WORKALIKE, "profile", "-o", f"{logs}/app.darshan", *options, "--", *map(str, command)],
            cwd=self.folder,
            env={**os.environ, **MPI_ENVIRONMENT, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            input=stdin,
        )
        if check:
            assert done.returncode == 0, done.stderr
        found = [path for path in logs.glob("app.darshan*") if path.suffix != ".json"]
        found.sort(key=lambda path: (len(path.name), path.name))
        return Run(done.returncode, done.stdout, done.stderr, found, self.folder)


@pytest.fixture
def profile(library: Path, tmp_path: Path) -> Profile:
    return Profile(tmp_path)


@pytest.fixture
def same_for_pydarshan(tmp_path: Path) -> Callable[[Path], dict[str, Any]]:
    """Checks that PyDarshan and workalike's reader agree on every field of a log; returns PyDarshan's answer."""

    def check(path: Path) -> dict[str, Any]:
        answer = darshan_oracle.ask([path], tmp_path)[path]
        assert answer is not None, "PyDarshan dies on the log"
        assert "error" not in answer, answer
        log = open_log(path)
        assert answer["exe"] == log.job.exe
        assert answer["job"]["nprocs"] == log.job.nprocs
        assert set(answer["modules"]) == set(log.modules)
        for module in darshan_oracle.FIXED:
            if module not in log.modules:
                continue
            table, theirs = log.records(module), answer[module]
            assert theirs["ids"].tolist() == table.ids.tolist()
            assert theirs["ranks"].tolist() == table.ranks.tolist()
            assert (theirs["counters"] == table.counters).all()
            assert (theirs["fcounters"] == table.fcounters).all()
        for number, name in answer["names"].items():
            assert log.names[number] == name
        assert len(log.warnings) == sum(entry.partial for entry in log.modules.values())
        return answer

    return check
