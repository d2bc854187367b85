"""One case: a program is compiled, captured and replicated, and its replicas are measured.

There are two replicas at full scale. The first has all that the capture recorded, with the trace of every read and
write (`trace`). The second has the counters alone, of a second run of the program (`counters`).
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import measures, system_calls
from .commands import WORKALIKE, Done, perform
from .preludes import full_source
from .program import Kind, Program

GREEN = ("exact", "faithful")
REPLICAS = ("trace", "counters")
PYTHON = "/usr/bin/python3"
"""Debian's Python: its h5py and netCDF4 use the HDF5 that the engine uses."""
PROGRAM_S, REPLICA_S = 60.0, 240.0


class CannotRun(Exception):
    """The program itself does not run here: that says nothing about its replica."""


@dataclass
class Replica:
    """What became of one replica."""

    code: int
    grade: str = ""
    message: str = ""
    storage: dict[str, Any] = field(default_factory=dict)
    """The verdict on storage, as `fidelity.json` has it."""
    reasons: list[str] = field(default_factory=list)
    """What the verdict holds against the replica."""
    off: list[measures.Comparison] = field(default_factory=list)
    measured: int = 0
    crash: str = ""
    seconds: float = 0.0

    @property
    def true(self) -> bool:
        """Whether it was measured, and nothing is off."""
        return self.measured > 0 and not self.off

    @property
    def false_green(self) -> bool:
        """Whether the verdict is good although a measure is off."""
        return self.grade in GREEN and bool(self.off)

    @property
    def failed(self) -> bool:
        """Whether what workalike made of the log did not run: neither log nor user is to blame."""
        return bool(self.crash) or self.code == 1

    @property
    def refused(self) -> bool:
        """Whether nothing was replicated, with a message that says why."""
        return self.code == 2


@dataclass
class Outcome:
    """What became of one case."""

    kind: str
    group: str
    seed: int
    parameters: dict[str, int | str]
    broken: str = ""
    """Why the program itself did not run."""
    unsteady: list[str] = field(default_factory=list)
    """Measures by which two runs of the program differ: they are not held against a replica."""
    original: dict[str, float] = field(default_factory=dict)
    replicas: dict[str, Replica] = field(default_factory=dict)
    calls: dict[str, Any] = field(default_factory=dict)
    """The witness of system calls, for some of the cases."""

    @property
    def name(self) -> str:
        """What makes it again."""
        return f"--kind {self.kind} --seed {self.seed}"


class Bench:
    """The folders of one case, and its program in them."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.code = folder / "code"
        self.data = folder / "data"
        self.code.mkdir(parents=True)

    def build(self) -> None:
        """Write and compile the program."""
        program = self.program
        if program.prepare:
            (self.code / "prepare.py").write_text(full_source("python", program.prepare))
        text = full_source(program.compiler, program.source)
        if program.compiler == "python":
            (self.code / "program.py").write_text(text)
            return
        fortran = program.compiler == "gfortran"
        source = "program.f90" if fortran else "program.c"
        (self.code / source).write_text(text)
        # The optimizer must not merge the calls that a source asks for.
        flags = ["-O1"] if fortran else ["-O1", "-fno-builtin", "-D_GNU_SOURCE", "-w"]
        libraries = [f"-l{name}" for name in (*program.libraries, "m")]
        self.must([program.compiler, *flags, source, "-o", "program", *libraries], self.code)

    def arguments(self) -> list[str]:
        """The program's parameters."""
        return [f"{name}={value}" for name, value in self.program.parameters.items()]

    def command(self) -> list[str]:
        """What starts the program."""
        python = self.program.compiler == "python"
        program = [PYTHON, f"{self.code}/program.py"] if python else [f"{self.code}/program"]
        launcher = ["mpiexec", "-n", str(self.program.ranks)] if self.program.ranks else []
        return [*launcher, *program, *self.arguments()]

    def prepare(self) -> None:
        """Make the folder of the data anew, with the files that exist beforehand."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir()
        if self.program.prepare:
            self.must([PYTHON, f"{self.code}/prepare.py", *self.arguments()], self.data)

    def capture(self, logs: Path, *options: str) -> list[Path]:
        """Run the program under capture; returns its logs."""
        self.prepare()
        # What belongs to the start of Python and MPI says nothing about the program: they look at these folders.
        exclude = ["--exclude", f"^({self.code}(/.*)?|{tempfile.gettempdir()})$"]
        self.must(
            [WORKALIKE, "profile", *options, *exclude, "-o", f"{logs}/", "--", *self.command()], self.data
        )
        found = sorted(logs.glob("*.darshan"))
        if not found:
            raise CannotRun("the capture left no log")
        return found

    def must(self, command: Sequence[str], folder: Path) -> Done:
        """Run a command that belongs to the program."""
        done = perform(command, folder, PROGRAM_S)
        if done.code or done.timed_out:
            raise CannotRun(f"{command[0]} ended with {done.code}: {done.last_words}")
        return done


@functools.cache
def has_module(name: str) -> bool:
    """Whether Debian's Python has a module."""
    return not subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode


@functools.cache
def has_header(compiler: str, name: str) -> bool:
    """Whether a compiler finds the header of a library."""
    command = [compiler, "-E", "-x", "c", "-"]
    text = f"#include <{name}.h>"
    return not subprocess.run(command, input=text, text=True, capture_output=True, check=False).returncode


def missing(program: Program) -> str:
    """What a program needs that is not here; empty if nothing."""
    needed = PYTHON if program.compiler == "python" else program.compiler
    tools = [needed, "mpiexec"] if program.ranks else [needed]
    absent = [tool for tool in tools if shutil.which(tool) is None]
    absent += [name for name in program.modules if not has_module(name)]
    return ", ".join(absent + [name for name in program.libraries if not has_header(program.compiler, name)])


def run_case(kind: Kind, seed: int, folder: Path, with_calls: bool = False) -> Outcome:
    """Run one case in a folder, which it leaves as it is afterwards."""
    program = kind.program(seed)
    outcome = Outcome(kind.name, kind.group, seed, dict(program.parameters))
    bench = Bench(program, folder)
    try:
        bench.build()
        originals = {}
        for replica in REPLICAS:
            logs = folder / f"{replica}-logs"
            found = bench.capture(logs, *(["--dxt"] if replica == "trace" else []))
            originals[replica] = measures.measure(measures.records_of(found), bench.data)
            if replica == "counters":
                for side in logs.glob("*.extra.json"):
                    side.unlink()
    except CannotRun as error:
        outcome.broken = str(error)
        return outcome
    shutil.rmtree(bench.data)
    first, second = (originals[replica] for replica in REPLICAS)
    outcome.original = first.values
    outcome.unsteady = [row.measure for row in measures.off(measures.compare(first, second))]
    for replica in REPLICAS:
        outcome.replicas[replica] = replicate(folder, replica, originals[replica], outcome.unsteady)
    if with_calls:
        outcome.calls = system_calls.compare(bench, folder / "trace", folder / "calls")
    return outcome


def reason_of(reason: dict[str, Any]) -> str:
    """A reason of the verdict in a line."""
    values = f"{reason.get('expected')}→{reason.get('found')}"
    return f"{reason.get('line')}: {reason.get('family')}: {reason.get('module')} {reason.get('counter')} {values}"


def replicate(folder: Path, name: str, original: measures.Measures, unsteady: Sequence[str]) -> Replica:
    """Make one replica and measure it; its data are deleted."""
    output, data = folder / name, folder / f"{name}-data"
    data.mkdir()
    options = ["--full", "--time-scale", "0", "--dir", str(data), "--quiet"]
    done = perform(
        [WORKALIKE, "replicate", f"{folder}/{name}-logs", "-o", str(output), *options], folder, REPLICA_S
    )
    shutil.rmtree(data, ignore_errors=True)
    replica = Replica(done.code, message=done.last_words if done.code else "")
    if done.timed_out:
        replica.crash = f"more than {REPLICA_S:g} s"
    elif done.code not in (0, 1, 2, 3) or "Traceback (most recent call last)" in done.stderr:
        replica.crash = f"exit code {done.code}"
    verdict = output / "fidelity.json"
    if verdict.exists():
        graded = json.loads(verdict.read_text()).get("verdict", {})
        replica.grade = graded.get("grade", "")
        lines = graded.get("lines", {})
        replica.reasons = [reason_of(reason) for reason in graded.get("reasons", [])]
        replica.storage = lines.get("storage", {}) if isinstance(lines, dict) else {}
    log = output / "replica.darshan"
    if log.exists():
        try:
            theirs = measures.measure(measures.records_of([log]), data)
        except ValueError as error:
            replica.crash = str(error)
            return replica
        rows = measures.compare(original, theirs)
        replica.measured = len(rows)
        replica.off = [row for row in measures.off(rows) if row.measure not in unsteady]
    return replica
