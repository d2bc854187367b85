"""Runs the tests of a package in forked processes, once under coverage and then once for each mutant.

A process that has imported pytest and the libraries, but nothing of what is judged, forks a child for each run. So no
run pays for these imports, and none sees another's modules. The run under coverage says which tests execute a line and
how long each takes. A mutant's run begins with the tests that execute its line, the fastest first, and ends at the
first failure. The other tests follow, since what a cache keeps, or what another process executes, is not seen by
coverage. So the order decides how long a verdict takes, and never the verdict.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import resource
import runpy
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

HOOK = Path(__file__).parent / "hook"
MEMORY = 8 * 2**30
"""Bytes of address space: a mutant that fills the memory ends itself, not the machine."""
LEAST_SECONDS = 20.0
SLOWER = 2
"""A test hangs that needs more CPU time than so many times what it took without a mutant, and than the least."""
IDLE = 6
"""A test that waits is ended after so many times the CPU time that it may have: the machine may be busy."""
TIME_LIMIT = "a time limit"
LIBRARIES = (
    "numpy",
    "pydantic.main",
    "yaml",
    "h5py",
    "typer",
    "rich.console",
    "hypothesis",
    "pyarrow.parquet",
    "darshan",
)
SELECTED = "not system and not long"


@dataclass
class Learned:
    """What one run without a mutant says."""

    seconds: dict[str, float]
    """Of each test, with its fixtures."""
    tests: dict[str, dict[int, list[str]]]
    """The tests that execute a line, by file and line."""

    def order(self, file: Path, line: int, folders: Sequence[str]) -> list[str]:
        """The tests of some folders that may notice a change of a line: those that execute it come first.

        Left out are tests that execute sources, but are in a file without a test that executes the line. Tests share
        fixtures within a file, and what a test does in another process is not known.
        """
        lines = self.tests.get(str(file), {})
        beside = {test for tests in lines.values() for test in tests}
        own = [test for test in self.seconds if test.startswith(tuple(f"{folder}/" for folder in folders))]
        near = set(lines.get(line, [])) & set(own)
        if near:
            files = {file_of(test) for test in near}
            inside = {test for of_file in self.tests.values() for tests in of_file.values() for test in tests}
            own = [test for test in own if file_of(test) in files or test not in inside]
        return sorted(own, key=lambda t: (t not in near, t not in beside, self.seconds[t], t))

    def limits(self) -> dict[str, float]:
        """The CPU time in seconds that each test may take with a mutant."""
        return {test: max(LEAST_SECONDS, SLOWER * seconds) for test, seconds in self.seconds.items()}


def file_of(test: str) -> str:
    return test.partition("::")[0]


@dataclass
class End:
    """How a run ended: the test that failed, or what else ended it; None if all passed."""

    failed: str | None
    seconds: float
    output: str = ""
    learned: Learned | None = None


@dataclass
class Suite:
    """Tests, and the modules that they judge.

    Args:
        root: of the repository, where the tests run.
        sources: the folder whose modules are mutated.
        folders: of the tests, relative to the root.
    """

    root: Path
    sources: Path
    folders: list[str]

    def learn(self, scratch: Path) -> End:
        """Run them without a mutant; `learned` is None where one fails."""
        return start(scratch, lambda folder: _learn(self, folder)).wait()

    def start(
        self, scratch: Path, module: str, mutant: Path, order: list[str], limits: Mapping[str, float]
    ) -> Run:
        """Begin a run of them with one module taken from another file.

        Args:
            limits: the CPU time in seconds that each test may take; `LEAST_SECONDS` for one that is not named.
        """
        return start(scratch, lambda folder: _judge(self, folder, f"{module}={mutant}", order, limits))


@dataclass
class Run:
    """A forked process and its folder."""

    folder: Path
    pid: int
    began: float = field(default_factory=time.monotonic)

    def wait(self) -> End:
        """Wait for its end."""
        while (end := self.poll()) is None:
            time.sleep(0.01)
        return end

    def poll(self) -> End | None:
        """Its end, if it has ended."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            return None
        seconds = time.monotonic() - self.began
        self._kill()  # what its tests have left running
        output = (self.folder / "output").read_text(errors="replace")
        try:
            said = json.loads((self.folder / "end.json").read_text())
        except (OSError, ValueError):
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM):
                return End(TIME_LIMIT, seconds, output)
            return End(f"the tests ended with status {os.waitstatus_to_exitcode(status)}", seconds, output)
        learned = said["learned"] and Learned(
            said["learned"]["seconds"],
            {f: {int(n): t for n, t in lines.items()} for f, lines in said["learned"]["tests"].items()},
        )
        return End(said["failed"], seconds, output, learned)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def preload() -> None:
    """Import what all runs need, before the first of them."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def start(folder: Path, work: Callable[[Path], dict[str, Any]]) -> Run:
    """Fork a process that does the work, in a process group of its own, and writes what it returns."""
    folder.mkdir()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _work(folder, work)
    with contextlib.suppress(OSError):  # both set it: whoever is first
        os.setpgid(pid, pid)
    return Run(folder, pid)


def _work(folder: Path, work: Callable[[Path], dict[str, Any]]) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        said = work(folder)
        (folder / "end.json").write_text(json.dumps(said))
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _learn(suite: Suite, scratch: Path) -> dict[str, Any]:
    import coverage  # only here: no other run is traced

    tracer = coverage.Coverage(data_file=None, config_file=False, include=[f"{suite.sources}/*"])
    tracer.start()
    plugin = _Learning(tracer)
    failed = _run(suite, scratch, plugin)
    tracer.stop()
    data = tracer.get_data()
    tests = {
        file: {line: [c for c in contexts if c] for line, contexts in data.contexts_by_lineno(file).items()}
        for file in data.measured_files()
    }
    return {"failed": failed, "learned": None if failed else {"seconds": plugin.seconds, "tests": tests}}


def _judge(
    suite: Suite, scratch: Path, mutant: str, order: list[str], limits: Mapping[str, float]
) -> dict[str, Any]:
    os.environ["WORKALIKE_MUTANT"] = mutant
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH")]))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    runpy.run_path(str(HOOK / "sitecustomize.py"))
    return {"failed": _run(suite, scratch, _Ordered(order, limits)), "learned": None}


def _run(suite: Suite, scratch: Path, plugin: _Failures) -> str | None:
    """Run the tests in this process, up to the first failure; which one that was."""
    os.chdir(suite.root)
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={scratch / 'tmp'}", "-m", SELECTED]
    code = pytest.main([*options, *suite.folders], plugins=[plugin])
    if code == pytest.ExitCode.OK:
        return None
    return plugin.failed or "the tests did not start"


class _Failures:
    """Notes the first failure. Property tests do not look for the smallest example: any is a failure."""

    failed: str | None = None

    def pytest_collection(self) -> None:
        with contextlib.suppress(ImportError):
            from hypothesis import Phase, settings

            settings.register_profile("judging", settings.default, phases=(Phase.explicit, Phase.generate))
            settings.load_profile("judging")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or f"collecting {report.nodeid}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


class _Learning(_Failures):
    """Notes how long each test takes, and tells coverage which one runs."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.tracer.switch_context(item.nodeid)
        began = time.monotonic()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.monotonic() - began
            self.tracer.switch_context("")


class _Ordered(_Failures):
    """Runs the tests in a given order, those that are new last, and ends the process when one of them hangs."""

    def __init__(self, order: list[str], limits: Mapping[str, float]) -> None:
        self.places = {test: place for place, test in enumerate(order)}
        self.limits = limits
        end_after(LEAST_SECONDS)  # what importing and collecting may take

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.places.get(item.nodeid, len(self.places)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        end_after(self.limits.get(item.nodeid, LEAST_SECONDS))
        return (yield)


def end_after(seconds: float) -> None:
    """A signal ends this process after so many further seconds of CPU time, or `IDLE` times as long of real time."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))
    signal.setitimer(signal.ITIMER_REAL, IDLE * seconds)
