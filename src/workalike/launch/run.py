"""One run of the engine: checks before, the launch, the record after, and no litter."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from workalike import _core
from workalike.capture.session import CaptureOptions, Session, place_logs
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder
from workalike.launch.launchers import Shape, choose
from workalike.launch.possible import refuse_impossible
from workalike.launch.processes import run_to_its_end
from workalike.leftovers import scratch_folder
from workalike.plan.choices import TRAITS, only_counts
from workalike.plan.core import core_plan, refusal
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan
from workalike.record.counted import record_lines, write_lines
from workalike.record.run_record import Record, assemble, write_record

ENGINE_REFUSED = 2
NO_ENGINE = "performing a plan needs the engine, which is built where there is an MPI"
HOW_TO_GET_THE_ENGINE = (
    "install MPI, a parallel HDF5 and CLI11 (Debian: mpi-default-dev libhdf5-mpi-dev libcli11-dev), then "
    "`pip install` workalike again; --backend null only counts and needs none of them"
)
REPLICA_LOG = "replica.darshan"


@dataclass(frozen=True)
class RunOptions:
    """How to run a plan. `data` is the file system under test, `out` where records go.

    With `capture` the capture library watches the engine, and `out` gets a log of its data files beside the record.
    """

    data: Path
    out: Path = field(default_factory=Path)
    backend: str | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    launcher: str | None = None
    keep: bool = False
    verify: bool = False
    quiet: bool = False
    per_rank: Path | None = None
    plan_path: Path | None = None  # where the plan has been read from, operation tables beside it
    source: Path | None = None  # what the user gave, for errors: a workload or a plan
    capture: bool = False


def engine_if_built() -> Path | None:
    """The engine beside this Python, or on PATH; `WORKALIKE_ENGINE` beats both."""
    named = os.environ.get("WORKALIKE_ENGINE")
    places = [Path(named)] if named else []
    places += [
        Path(sys.executable).parent / "workalike-engine",
        Path(sysconfig.get_path("scripts")) / "workalike-engine",
    ]
    on_path = shutil.which("workalike-engine")
    places += [Path(on_path)] if on_path else []
    return next((place for place in places if place.is_file() and os.access(place, os.X_OK)), None)


def find_engine() -> Path:
    """The engine.

    Raises:
        WorkalikeError: MISSING with what to install.
    """
    engine = engine_if_built()
    if engine is None:
        raise WorkalikeError(
            ErrorKind.MISSING, NO_ENGINE, file="workalike-engine", hint=HOW_TO_GET_THE_ENGINE
        )
    return engine


def require_engine(backend: str | None) -> None:
    """Refuse early what no backend but a counting one can do here.

    Raises:
        WorkalikeError: MISSING with what to install.
    """
    if not only_counts(backend):
        find_engine()


def counts_only(plan: Plan, backend: str | None) -> bool:
    """Whether nothing is performed: the core then counts, without the engine."""
    backends = {backend} if backend else {family.backend for family in plan.families}
    return all(only_counts(name) for name in backends)


def run_plan(plan: Plan, options: RunOptions) -> Record:
    """Perform a plan; `run.jsonl` and `run.json` appear in `options.out`, with `capture` also `replica.darshan`.

    Raises:
        WorkalikeError: MISSING (no engine), CANNOT_WRITE, USAGE, or RUN_FAILED (the record then holds what had been done).
    """
    if counts_only(plan, options.backend):
        if options.per_rank:
            raise WorkalikeError(
                ErrorKind.USAGE,
                "--per-rank is a table of times, and a backend that only counts has none",
                hint="leave it out or choose another --backend",
            )
        core = core_plan(plan, options.backend, options.plan_path, options.source)
        make_folder(options.out)
        with _alone_in(options.out):
            return _count(plan, core, options)
    engine = find_engine()
    refuse_impossible(engine, plan, options.source, options.plan_path, options.backend)
    make_folder(options.out)
    with _alone_in(options.out):
        return _run_alone(engine, plan, options)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One run at a time writes its record into a folder; two would read each other's."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "cannot be opened",
            file=folder,
            hint="choose another -o",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE,
                "another run is writing its record there",
                file=folder,
                hint="wait for its end or choose another -o",
            ) from error
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)


def _forget_earlier_runs(out: Path) -> None:
    for name in ("run.jsonl", "run.json", "operations.txt", REPLICA_LOG):
        (out / name).unlink(missing_ok=True)


def _count(plan: Plan, core: _core.Plan, options: RunOptions) -> Record:
    """The record of a backend that performs nothing."""
    _forget_earlier_runs(options.out)
    backend = options.backend or plan.families[0].backend
    lines = options.out / "run.jsonl"
    if TRAITS[backend]["writes_operations"]:
        core.write_operations(str(options.out / "operations.txt"))
    write_lines(record_lines(plan, core, backend), lines)
    record = _finish_record(lines, 0)
    assert record is not None  # or an error was raised
    return record


def _run_alone(engine: Path, plan: Plan, options: RunOptions) -> Record:
    make_folder(options.data)
    core = core_plan(plan, options.backend, options.plan_path, options.source)
    _refuse_existing(core, options.data)
    _forget_earlier_runs(options.out)
    shape = Shape(plan.ranks, options.nodes, options.ranks_per_node)
    launcher = choose(options.launcher, plan.ranks)
    record_path = options.out / "run.jsonl"
    with scratch_folder(options.out) as scratch:
        plan_path = options.plan_path or scratch / "plan.json"
        if options.plan_path is None:
            write_plan(plan, plan_path)
        command = [
            str(engine),
            "--plan",
            str(plan_path),
            "--dir",
            str(options.data),
            "--record",
            str(record_path),
            "--end-with-parent",
        ]
        if options.backend:
            command += ["--backend", options.backend]
        if options.per_rank:
            command += ["--per-rank", str(options.per_rank)]
        if sys.stderr.isatty():  # the engine's is the launcher's pipe
            command.append("--terminal")
        command += ["--verify"] * options.verify + ["--keep"] * options.keep + ["--quiet"] * options.quiet
        code: int | None = None
        with ExitStack() as stack:
            session = (
                stack.enter_context(Session(options.out, _data_only(options.data)))
                if options.capture
                else None
            )
            watched = session.environment() if session else {}
            try:
                code = run_to_its_end(
                    launcher.command(shape, command), {**os.environ, **launcher.environment(), **watched}
                )
            finally:
                if not options.keep:
                    _remove_data(core, options.data)
                record = _finish_record(record_path, code)
            if session:
                _keep_log(session, options.out / REPLICA_LOG)
    if code == ENGINE_REFUSED and record is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "the engine refused the plan or an option",
            file=options.plan_path,
            hint="its line above names the place",
        )
    if code != 0 or record is None:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"the engine ended with code {code}",
            file=options.out / "run.json" if record is not None else None,
            hint="the lines above say which rank and operation; what had been done is in the record"
            if record is not None
            else "the lines above say why",
        )
    return record


def _data_only(data: Path) -> CaptureOptions:
    """The engine's data files, wherever they are, and nothing else: not its plan, not its record."""
    return CaptureOptions(include=f"^{re.escape(str(data.absolute()))}/", exclude=".*")


def _keep_log(session: Session, target: Path) -> None:
    """The log of the engine's run; an earlier run's goes."""
    logs = session.collect()
    target.unlink(missing_ok=True)
    if logs:
        place_logs(logs[:1], target)


def _finish_record(lines: Path, code: int | None) -> Record | None:
    """run.json of what had been done, also after a failure (its lines may then be none) or Ctrl-C."""
    try:
        record = assemble(lines)
    except WorkalikeError as error:
        if (code is not None and not lines.parent.is_dir()) or (code == 0 and not lines.exists()):
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE,
                "was removed during the run, and the record with it",
                file=lines.parent,
                hint="run again, and leave the folder alone until the run has ended",
            ) from error
        if code == 0:
            raise
        return None
    write_record(record, lines.with_suffix(".json"))
    return record


def _refuse_existing(core: _core.Plan, folder: Path) -> None:
    """A run of the plan that goes on, and files that were kept or are not ours; those of a killed run are removed."""
    try:
        core.clean(str(folder))
    except _core.PlanError as error:
        raise refusal(error, None) from error
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            f"the lock file of this plan there cannot be used: {error}",
            file=folder,
            hint="remove workalike-*.lock or choose another --dir",
        ) from error
    found = core.files_in(str(folder))
    if not found:
        return
    path = folder / found[0]
    raise WorkalikeError(
        ErrorKind.CANNOT_WRITE,
        "a data file of an earlier run is in the way"
        if path.is_file() and not path.is_symlink()
        else "is in the way: a data file is to have this name",
        file=path,
        hint="remove it or choose another --dir; a run deletes only what it made",
    )


def _remove_data(core: _core.Plan, folder: Path) -> None:
    """What the engine left, if it was killed; a folder that was removed during the run has nothing left."""
    with contextlib.suppress(OSError, _core.PlanError):
        core.clean(str(folder))
