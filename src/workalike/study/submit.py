"""A study as a job of a batch system: its driver runs in one allocation, in which all trials start; a search, too.

As a job array, each task has an allocation of its own, and runs its share of the blocks. Where blocks are spread over
time, each has a job of its own, which is submitted after the one before and begins when the block is due.

The results have all that is needed to go on, so the same command waits for a job that it has submitted before, or
submits another one for what is left.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in, make_folder
from workalike.launch.batch.base import Array, BatchSystem, Job, Phase, State
from workalike.launch.batch.jobs import OUTPUT, refuse_bad_options, submit, submitted_before, wait
from workalike.study.driver import (
    DECIDED,
    WAITING,
    DriverOptions,
    Loaded,
    Outcome,
    about,
    load,
    refuse_small_budget,
    with_blocks,
)
from workalike.study.halving import estimates_of
from workalike.study.journal import (
    BATCH,
    MANIFEST,
    SEARCH,
    SHARES,
    read_finished,
    read_manifest,
    refuse_foreign,
)
from workalike.study.known_times import Known, known_of
from workalike.study.shares import core_hours, finished_in_shares, join_shares, refuse_dependent_blocks
from workalike.study.spread import due_at, seconds_until, when_text
from workalike.study.study_file import StudyFile, bad

SLACK, LEAST_SECONDS = 2.0, 600
"""The time limit is twice the estimate and ten minutes; a job that ends before is resumed."""
RAN = (0, 1, 3)
"""Exit codes of a driver whose study ended by itself."""
ENDS = ("done", DECIDED, "budget", "failing", WAITING)


@dataclass(frozen=True)
class Submission:
    """How to submit: `options` are directives of the site, `arguments` those of `workalike study run`.

    With `tasks`, the job is an array of so many tasks. `arguments` have no budget: what is left of it is not known yet.
    """

    system: BatchSystem
    arguments: Sequence[str]
    options: tuple[str, ...] = ()
    tasks: int | None = None


def submit_study(file: StudyFile, options: DriverOptions, submission: Submission) -> Outcome:
    """Submit a study, or what is left of it, and wait for its job.

    Raises:
        WorkalikeError: the study cannot run, the job was refused, or it ended before the study did.
    """
    refuse_bad_options(submission.options)
    if submission.tasks == 1:  # PBS refuses an array of one, and it would be the same as a job
        submission = replace(submission, tasks=None)
    loaded = load(with_blocks(file, options.blocks), options.tracked)
    if submission.tasks is not None:
        _refuse_array(file, submission.system)
    if file.study.search is None:
        share = None if options.budget is None else options.budget / (submission.tasks or 1)
        refuse_small_budget(loaded, replace(options, budget=share))
    make_folder(options.out)
    if (
        file.study.search is None or not (options.out / MANIFEST).exists()
    ):  # its last stage is of other settings
        refuse_foreign(options.out, loaded.file.identities)
    folder = options.out / BATCH
    make_folder(folder)
    with alone_in(folder, "another command has submitted this study, and waits for it"):
        while True:
            state, job_id = _run_job(loaded, options, submission, folder)
            if submission.tasks is not None:
                _join(loaded, options, submission.tasks)
            outcome = _collect(loaded, options, state, job_id, _newest(folder / OUTPUT))
            if outcome.state != WAITING or not options.wait:  # else the next block has a job of its own
                return outcome


def _run_job(
    loaded: Loaded, options: DriverOptions, submission: Submission, folder: Path
) -> tuple[State, str]:
    """Submit the study's next job, or find the one that was submitted before, and wait: (how it ended, its id)."""
    job_id = submitted_before(submission.system, folder)
    if job_id is None:
        _join(loaded, options, submission.tasks or 1)
        known = known_of(loaded.file, options.out, options.directory)
        budget = _budget_of_a_task(options, submission.tasks)
        job = _job(loaded, folder, submission, known, budget)
        if (due := _due(loaded, options.out)) is not None:
            options.report(f"the job of the next block begins {when_text(due)}")
            job = replace(job, delay_s=math.ceil(seconds_until(due)))
        job_id = submit(submission.system, job, folder)
    cancel = " ".join(submission.system.cancel(job_id))
    try:
        return wait(submission.system, job_id, _counting(options)), job_id
    except KeyboardInterrupt:
        options.report(f"job {job_id} goes on; the same command waits for it again, {cancel} ends it")
        raise


def _due(loaded: Loaded, out: Path) -> datetime | None:
    """When the job of a spread study may begin; None if at once, as for the rest of an interrupted block."""
    every = loaded.file.study.blocks.every
    if every is None or not (out / MANIFEST).exists() or read_manifest(out).get("state") != WAITING:
        return None
    return due_at(read_finished(out), every)


def _refuse_array(file: StudyFile, system: BatchSystem) -> None:
    refuse_dependent_blocks(file)
    if file.study.blocks.every is not None:
        raise bad(
            file.path,
            "its blocks are spread over time, and the tasks of an array are not",
            "blocks",
            "leave out --array: each block is a job of its own then",
        )
    if system.task_variable is None:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{system.name} has no job arrays here", hint="leave out --array"
        )


def _budget_of_a_task(options: DriverOptions, tasks: int | None) -> float | None:
    """The `--budget` of the job, or of each task: its equal part of what finished trials have left."""
    if options.budget is None or tasks is None:  # one driver counts all trials of its journal
        return options.budget
    return max(0.0, options.budget - core_hours(read_finished(options.out))) / tasks


def _join(loaded: Loaded, options: DriverOptions, tasks: int) -> None:
    """Add what tasks of an array have finished to the results."""
    if (options.out / SHARES).is_dir():
        trials = loaded.estimate().trials
        join_shares(loaded.file, options.out, about(loaded), trials, tasks)


def _finished_so_far(out: Path) -> int:
    """Trials that have finished: of the study, of shares that are not joined yet, and of the rungs of a search."""
    keys = {each.key for each in (*read_finished(out), *finished_in_shares(out))}
    return len(keys) + sum(len(read_finished(rung)) for rung in (out / SEARCH).glob("rung-*"))


def _counting(options: DriverOptions) -> Callable[[str], None]:
    def report(line: str) -> None:
        finished = _finished_so_far(options.out)
        options.report(f"{line}; {finished} trials have finished" if finished else line)

    return report


def _job(
    loaded: Loaded,
    folder: Path,
    submission: Submission,
    known: Known | None = None,
    budget: float | None = None,
) -> Job:
    nodes, per_node, ranks = _room(loaded)
    tasks = submission.tasks
    command = [sys.executable, "-m", "workalike", "study", "run", *submission.arguments]
    if budget is not None:
        command.append(f"--budget={budget}")
    if tasks is not None:
        command.append("--json")
    if loaded.file.study.blocks.every is not None:
        command.append("--no-wait")
    return Job(
        command=command,
        directory=Path.cwd(),
        output=(folder / OUTPUT).absolute(),
        ranks=ranks,
        nodes=nodes,
        ranks_per_node=per_node,
        seconds=int(SLACK * _seconds(loaded, known, tasks)) + LEAST_SECONDS,
        options=submission.options,
        array=None if tasks is None else Array(tasks, "--share", folder.absolute()),
    )


def _seconds(loaded: Loaded, known: Known | None, tasks: int | None) -> float:
    """The estimate of the job, or of the task with the most blocks; of a search, that of all its rungs."""
    if loaded.file.study.search is not None:
        return sum(stage.seconds for stage in estimates_of(loaded.file, known))
    whole, every = loaded.estimate(known), loaded.file.study.blocks.every
    block = whole.seconds / whole.blocks
    if tasks is not None:
        return block * -(-whole.blocks // tasks)
    # Blocks that take longer than the time between two of them follow each other in one job.
    return block if every is not None and SLACK * block < every else whole.seconds


def _room(loaded: Loaded) -> tuple[int | None, int | None, int]:
    """Nodes, ranks per node, and ranks of an allocation in which every setting has room, also one on fewer nodes."""
    asked = [(prepared.plan.ranks, prepared.wanted) for prepared in loaded.settings]
    ranks = max(count for count, _ in asked)
    nodes = max((wanted.nodes for _, wanted in asked if wanted.nodes), default=None)
    if nodes is None:
        each = {wanted.ranks_per_node for _, wanted in asked}
        return None, each.pop() if len(each) == 1 else None, ranks
    per_node = max(wanted.ranks_per_node or -(-count // (wanted.nodes or nodes)) for count, wanted in asked)
    return nodes, per_node, nodes * per_node


def _collect(loaded: Loaded, options: DriverOptions, state: State, job_id: str, output: Path) -> Outcome:
    """What came of the study, from its results.

    Raises:
        WorkalikeError: RUN_FAILED if the job ended before the study.
    """
    finished = read_finished(options.out)
    study_state = (
        read_manifest(options.out).get("state") if (options.out / MANIFEST).exists() else "not begun"
    )
    ran = state.exit_code in RAN or state.phase is Phase.GONE
    if not ran or study_state not in ENDS:
        ended = f"ended as {state.word}" if state.word else "has ended"
        code = f" with exit code {state.exit_code}" if state.exit_code is not None else ""
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"job {job_id} {ended}{code} before the study: {_finished_so_far(options.out)} trials "
            "have finished and are kept",
            file=output,
            place=_last_words(output),
            hint="the same command submits another job, which goes on",
        )
    if loaded.file.study.search is not None:
        return Outcome(str(study_state), finished, len(finished))
    return Outcome(str(study_state), finished, loaded.estimate().trials, stopping=loaded.stopping)


def _newest(output: Path) -> Path:
    """A job's output, or that of the task of an array which wrote last."""
    found = [path for path in output.parent.glob(f"{output.name}*") if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=output)


def _last_words(output: Path) -> str | None:
    """The last line of a job's output."""
    try:
        lines = output.read_text(encoding="utf-8", errors="replace")[-10_000:].strip().splitlines()
    except OSError:
        return None
    return "".join(c for c in lines[-1] if c.isprintable())[:200] if lines else None
