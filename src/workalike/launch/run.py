"""One run of the engine: the checks before it, the launch, the record, and the removal of what it leaves."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from workalike import _core
from workalike.capture.session import CaptureOptions, Session, place_logs
from workalike.errors import ErrorKind, Refusal, WorkalikeError
from workalike.files import alone_in, make_data_folder, make_folder, path_for_core
from workalike.launch.data_files import data_files, refuse_existing, remove_data, remove_kept
from workalike.launch.directories import PLAIN, Directories, each_once
from workalike.launch.engines import find_engine, refuse_wrong_pair
from workalike.launch.launchers import Shape, choose
from workalike.launch.possible import refuse_impossible
from workalike.launch.processes import run_to_its_end
from workalike.leftovers import scratch_folder
from workalike.plan.choices import TRAITS, only_counts
from workalike.plan.core import core_plan
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan
from workalike.record.counted import record_lines, write_lines
from workalike.record.run_record import Record, assemble, write_record

ENGINE_REFUSED = 2
REPLICA_LOG = "replica.darshan"


@dataclass(frozen=True)
class RunOptions:
    """How to run a plan: `data` is a folder on the file system under test, `out` the folder of the record.

    `named` are the folders of families that name a directory. `data` may be None where all do.

    With `capture`, the engine runs under the capture library, and `out` also gets a log of its data files; with `traces`
    this log has every read and write (DXT).
    """

    data: Path | None
    out: Path = field(default_factory=Path)
    named: Mapping[str, Path] = field(default_factory=dict)
    backend: str | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    launcher: str | None = None
    keep: bool = False
    verify: bool = False
    quiet: bool = False
    per_rank: Path | None = None
    plan_path: Path | None = None  # from which the plan was read, with operation tables beside it
    source: Path | None = None  # the user's file, a workload or a plan, which errors name
    capture: bool = False
    traces: bool = False
    silent: bool = False  # what the engine and the launcher say is dropped
    engine: Path | None = None  # by default the one that is found
    limit_s: float | None = None  # a run that takes longer is ended
    examine: Callable[[list[Path]], None] | None = None  # called with the data files before they are removed

    @property
    def directories(self) -> Directories:
        """Where the data goes."""
        return Directories(self.data, self.named)


def require_engine(backend: str | None) -> None:
    """Refuse early a run that needs the engine where it was not built.

    Raises:
        WorkalikeError: NOT_INSTALLED, with what to do.
    """
    if not only_counts(backend):
        find_engine()


def counts_only(plan: Plan, backend: str | None) -> bool:
    """Whether the plan performs no I/O, so that the core counts it without the engine."""
    backends = {backend} if backend else {family.backend for family in plan.families}
    return all(only_counts(name) for name in backends)


def run_plan(plan: Plan, options: RunOptions) -> Record:
    """Perform a plan; `options.out` gets `run.jsonl` and `run.json`, with `capture` also `replica.darshan`.

    Raises:
        WorkalikeError: NOT_INSTALLED without the engine; CANNOT_WRITE; USAGE; RUN_FAILED, where the record holds the dumps
            that were finished.
        TimeoutError: it took longer than `limit_s`.
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
        with alone_in(options.out, "another run is writing its record there"):
            return _count(plan, core, options)
    engine = options.engine or find_engine()
    used = options.directories.of_plan(plan, options.backend)
    refuse_impossible(engine, plan, options.source, options.plan_path, options.backend)
    make_folder(options.out)
    with alone_in(options.out, "another run is writing its record there"):
        return _run_alone(engine, plan, options, Directories(used.pop(PLAIN, None), used))


def _remove_earlier_results(out: Path) -> None:
    for name in ("run.jsonl", "run.json", "operations.txt", REPLICA_LOG):
        (out / name).unlink(missing_ok=True)


def _count(plan: Plan, core: _core.Plan, options: RunOptions) -> Record:
    """The record of a plan whose backends perform nothing."""
    _remove_earlier_results(options.out)
    backend = options.backend or plan.families[0].backend
    lines = options.out / "run.jsonl"
    if TRAITS[backend]["writes_operations"]:
        core.write_operations(path_for_core(options.out / "operations.txt"))
    write_lines(record_lines(plan, core, backend), lines)
    record = _finish_record(lines, 0)
    assert record is not None  # with code 0, a missing record raises
    return record


def _run_alone(engine: Path, plan: Plan, options: RunOptions, directories: Directories) -> Record:
    for folder in directories.all():
        make_data_folder(folder)
    folders = each_once(directories.all())
    core = core_plan(plan, options.backend, options.plan_path, options.source)
    refuse_existing(core, folders)
    _remove_earlier_results(options.out)
    shape = Shape(plan.ranks, options.nodes, options.ranks_per_node)
    launcher = choose(options.launcher, plan.ranks)
    refuse_wrong_pair(engine, launcher.name)
    record_path = options.out / "run.jsonl"
    with scratch_folder(options.out) as scratch:
        plan_path = options.plan_path or scratch / "plan.json"
        if options.plan_path is None:
            write_plan(plan, plan_path)
        command = [
            str(engine),
            "--plan",
            str(plan_path),
            *directories.arguments(),
            "--record",
            str(record_path),
            "--end-with-parent",
        ]
        if options.backend:
            command += ["--backend", options.backend]
        if options.per_rank:
            command += ["--per-rank", str(options.per_rank)]
        if sys.stderr.isatty():  # the engine cannot tell: its own stderr is the launcher's pipe
            command.append("--terminal")
        keeps = options.keep or options.examine is not None
        command += ["--verify"] * options.verify + ["--keep"] * keeps + ["--quiet"] * options.quiet
        code: int | None = None
        with ExitStack() as stack:
            session = (
                stack.enter_context(Session(options.out, _data_only(folders, options.traces)))
                if options.capture
                else None
            )
            capture_environment = session.environment() if session else {}
            try:
                code = run_to_its_end(
                    launcher.command(shape, command),
                    {**os.environ, **launcher.environment(), **capture_environment},
                    limit_s=options.limit_s,
                    silent=options.silent,
                )
                if code != 0 and _all_ranks_finished(record_path):
                    print(
                        f"workalike: the launcher ended with code {code}, but all ranks have finished: "
                        "the record is complete",
                        file=sys.stderr,
                    )
                    code = 0
            finally:
                try:
                    if code == 0 and options.examine is not None:
                        options.examine(data_files(core, folders))
                finally:
                    if not options.keep:
                        remove_data(core, folders)
                        if keeps:
                            remove_kept(core, folders)
                    record = _finish_record(record_path, code)
            if session:
                _keep_log(session, options.out / REPLICA_LOG)
    if code == ENGINE_REFUSED and record is None:
        raise Refusal(
            ErrorKind.USAGE,
            "the engine refused the plan or an option",
            file=options.plan_path,
            hint="the engine's line above names the place",
        )
    if code != 0 or record is None:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"the engine ended with code {code}",
            file=options.out / "run.json" if record is not None else None,
            hint="the lines above name rank and operation; the record holds the dumps that were finished"
            if record is not None
            else "the lines above say why",
        )
    return record


def _all_ranks_finished(lines: Path) -> bool:
    """Whether a record has its last line, which follows the work of all ranks, and says that nothing went wrong.

    Under a heavy load, Open MPI 4 at times takes a rank that has ended well for one that did not call MPI_Finalize.
    """
    try:
        record = assemble(lines)
    except WorkalikeError:
        return False
    verified = record.verified is None or record.verified.errors == 0
    return verified and not record.incomplete and not record.errors


def _data_only(folders: Sequence[Path], traces: bool) -> CaptureOptions:
    """Options to capture the engine's data files only, neither its plan nor its record."""
    places = "|".join(re.escape(str(folder.absolute())) for folder in folders)
    include = f"^({places})/" if len(folders) > 1 else f"^{places}/"
    return CaptureOptions(include=include, exclude=".*", traces=traces)


def _keep_log(session: Session, target: Path) -> None:
    """Move the log of the engine's run to `target`, in place of an earlier one."""
    logs = session.collect()
    target.unlink(missing_ok=True)
    if logs:
        place_logs(logs[:1], target)


def _finish_record(lines: Path, code: int | None) -> Record | None:
    """Write run.json from the lines of run.jsonl, also after a failure or Ctrl-C; None if there are no usable lines."""
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
