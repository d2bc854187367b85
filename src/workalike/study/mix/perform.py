"""Runs the workloads of a mix in rounds: each alone, and all copies side by side, each in a process of its own.

A copy is a `workalike run` of a plan, which launches the engine, and removes its data when it ends or is stopped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_data_folder, make_folder
from workalike.launch.directories import Directories
from workalike.launch.engines import find_engine
from workalike.launch.processes import end_with_parent, signals_held
from workalike.plan.choices import Backend, only_counts
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record, read_record
from workalike.study.mix.cost import cost_of
from workalike.study.mix.document import Mix, Part
from workalike.study.mix.measure import CopyResult, copy_result
from workalike.study.statistics.extra import scipy_stats
from workalike.text import plural, seconds_text
from workalike.workload.what_if import changed, parse_what_if
from workalike.workload.workload_file import read_workload

LOOK_SECONDS = 0.02
LINES_BEFORE = 5
STOPPING_SECONDS = 30.0
"""How long a copy has to stop its engine and remove its data before it is killed."""
_UNBOUND = {
    "OMPI_MCA_hwloc_base_binding_policy": "none",  # Open MPI 4
    "PRTE_MCA_hwloc_default_binding_policy": "none",  # Open MPI 5
    "HYDRA_BINDING": "none",  # MPICH
}
"""Each launcher would bind its ranks to the first cores, as if it were alone on the node."""


@dataclass(frozen=True)
class MixOptions:
    """Where a mix runs.

    Attributes:
        data: folders on the file systems under test.
        out: folder of records and results.
        backend: performs every family; None: each has its own.
        launcher: as in `RunOptions`.
        theirs: folders of runs in `data` that were there before, and stay.
    """

    data: Directories
    out: Path
    backend: Backend | None = None
    launcher: str | None = None
    theirs: frozenset[Path] = frozenset()


@dataclass
class _Copy:
    """One run to start `start` seconds after the others' beginning."""

    part: Part
    number: int
    start: float
    plan: Path
    data: Directories
    out: Path
    ours: tuple[Path, ...]
    """The folders of its data that are made by the run, which then removes them."""
    process: subprocess.Popen[bytes] | None = None
    started_s: float = 0.0

    @property
    def label(self) -> str:
        return f"{self.part.name} {self.number}"


def plans_of(mix: Mix, folder: Path) -> list[Plan]:
    """The plan of each workload of a mix, whose files are relative to a folder.

    Raises:
        WorkalikeError: a workload is missing or bad, or cannot have so many ranks.
    """
    out = []
    for part in mix.workloads:
        what_if = parse_what_if(part.what_if)
        workload = changed(read_workload(folder / part.file), what_if)
        out.append(
            resolve(
                workload,
                Options(
                    ranks=part.ranks or what_if.ranks,
                    bytes_scale=Fraction(mix.bytes_scale).limit_denominator(10**12),
                    time_scale=mix.time_scale,
                ),
            )
        )
    return out


def run_mix(
    mix: Mix,
    folder: Path,
    options: MixOptions,
    announce: Callable[[str], None] = lambda _: None,
    keep: Callable[[list[list[CopyResult]]], None] = lambda _: None,
) -> list[list[CopyResult]]:
    """Run the rounds of a mix: in each every workload alone, and all copies side by side.

    Every second round runs the copies side by side first, so that warm caches and a drift of the system do not favour
    the same of both each time. `options.out` gets `plans/`, and in `round-N/` the records: `alone/NAME/` and
    `together/NAME-COPY/`.

    Args:
        mix: what to run.
        folder: what its files are relative to.
        options: where.
        announce: called with a line before each run.
        keep: called after each round with the results of all so far.

    Returns:
        The results of each round.

    Raises:
        WorkalikeError: as `plans_of`; NOT_INSTALLED without scipy, unless there is one round; RUN_FAILED if a run fails,
            after all others were stopped.
    """
    if only_counts(options.backend):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--backend {options.backend} performs nothing that could be slowed down",
            hint="leave it out, or choose one that moves data",
        )
    find_engine()
    if mix.repeats > 1:
        scipy_stats()  # intervals need it: it is asked for before hours of runs, not after them
    plans = plans_of(mix, folder)
    make_folder(options.out / "plans")
    for plan in plans:
        options.data.of_plan(plan, options.backend)
    for data in options.data.all():
        make_data_folder(data)
    theirs = frozenset(path for part in mix.workloads for path in _data_of(part, options) if path.exists())
    options = replace(options, theirs=theirs)
    for part, plan in zip(mix.workloads, plans, strict=True):
        write_plan(plan, _plan_path(options, part))
    announce(cost_of(mix, plans).text())
    rounds: list[list[CopyResult]] = []
    try:
        for number in range(1, mix.repeats + 1):
            begun = time.monotonic()
            rounds.append(_round(mix, number, options, announce))
            keep(rounds)
            announce(_after_round(number, mix.repeats, time.monotonic() - begun))
    except BaseException:
        # Ctrl-C may have come while a finished run was being tidied up.
        _remove_empty(
            path for part in mix.workloads for path in _data_of(part, options) if path not in theirs
        )
        if rounds:
            announce(
                f"what {plural(len(rounds), 'round')} of {mix.repeats} measured is kept in {options.out}"
            )
        raise
    return rounds


def _after_round(number: int, rounds: int, took_s: float) -> str:
    left = rounds - number
    to_go = f"; {plural(left, 'round')} to go, about {seconds_text(left * took_s)}" if left else ""
    return f"round {number} of {rounds} took {seconds_text(took_s)}{to_go}"


def _plan_path(options: MixOptions, part: Part) -> Path:
    return options.out / "plans" / f"{part.name}.json"


def _round(mix: Mix, number: int, options: MixOptions, announce: Callable[[str], None]) -> list[CopyResult]:
    """One round, in the order that its number gives."""
    out = options.out / f"round-{number}"
    together = [
        _copy(part, copy, part.start * mix.time_scale, f"{part.name}-{copy}", out / "together", options)
        for part in mix.workloads
        for copy in range(1, part.weight + 1)
    ]

    def alone() -> dict[str, Record]:
        records = {}
        for part in mix.workloads:
            announce(f"round {number}: {part.name} alone")
            records[part.name] = _perform([_copy(part, 1, 0.0, part.name, out / "alone", options)], options)[
                0
            ]
        return records

    def side_by_side() -> list[Record]:
        announce(f"round {number}: {len(together)} side by side")
        return _perform(together, options)

    if number % 2:
        before, after = alone(), side_by_side()
    else:
        after = side_by_side()
        before = alone()
    return [
        copy_result(copy.part.name, copy.number, copy.started_s, before[copy.part.name], record)
        for copy, record in zip(together, after, strict=True)
    ]


def _data_of(part: Part, options: MixOptions) -> list[Path]:
    """The folders of the data of a part's runs: alone, and of each copy."""
    names = [part.name, *(f"{part.name}-{copy}" for copy in range(1, part.weight + 1))]
    return [path for name in names for path in options.data.below(f"mix-{name}").all()]


def _copy(part: Part, number: int, start: float, name: str, out: Path, options: MixOptions) -> _Copy:
    """A run of a part; `name` is that of its folders."""
    data = options.data.below(f"mix-{name}")
    ours = tuple(path for path in data.all() if path not in options.theirs)
    return _Copy(part, number, start, _plan_path(options, part), data, out / name, ours)


def _perform(copies: Sequence[_Copy], options: MixOptions) -> list[Record]:
    """Run copies at their times; if one fails or this is interrupted, all are stopped, and their data are removed."""
    for copy in copies:
        make_folder(copy.out)
    begun = time.monotonic()
    try:
        waiting = sorted(copies, key=lambda copy: copy.start)
        while waiting or any(_is_running(copy) for copy in copies):
            now = time.monotonic() - begun
            while waiting and waiting[0].start <= now:
                _start(waiting[0], options)
                waiting[0].started_s = time.monotonic() - begun
                waiting.pop(0)
            _refuse_failed(copies)
            time.sleep(LOOK_SECONDS)
        _refuse_failed(copies)  # the last may have ended after it was looked at
        return [read_record(copy.out / "run.json") for copy in copies]
    finally:
        _stop([copy.process for copy in copies if copy.process is not None])
        _remove_empty(path for copy in copies for path in copy.ours)


def _refuse_failed(copies: Sequence[_Copy]) -> None:
    """Refuse to go on where a copy has failed.

    Raises:
        WorkalikeError: RUN_FAILED with the last line that it said.
    """
    for copy in copies:
        if copy.process is not None and copy.process.poll() not in (None, 0):
            raise _failed(copy)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):  # not empty: what is in it is not of this run
            folder.rmdir()


def _is_running(copy: _Copy) -> bool:
    return copy.process is not None and copy.process.poll() is None


def _start(copy: _Copy, options: MixOptions) -> None:
    command = [sys.executable, "-m", "workalike", "run", str(copy.plan), *copy.data.arguments()]
    command += ["-o", str(copy.out), "--quiet"]
    command += ["--backend", options.backend] if options.backend else []
    command += ["--launcher", options.launcher] if options.launcher else []
    parent = os.getpid()
    with (copy.out / "stderr.txt").open("wb") as said, signals_held():
        copy.process = subprocess.Popen(
            command,
            env={**_UNBOUND, **os.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,  # Ctrl-C comes to this process, which then stops the copy once
            preexec_fn=lambda: end_with_parent(parent),
        )


def _failed(copy: _Copy) -> WorkalikeError:
    said = (copy.out / "stderr.txt").read_text(errors="replace").strip().splitlines()
    last = said[-1].removeprefix("workalike: ") if said else "a copy ended without a word"
    return WorkalikeError(
        ErrorKind.RUN_FAILED,
        "\n".join([last, *said[:-1][-LINES_BEFORE:]]),  # the engine's own words come before the last line
        file=copy.out / "stderr.txt",
        place=copy.label,
        hint="all others were stopped",
    )


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
    until = time.monotonic() + STOPPING_SECONDS
    for process in processes:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
