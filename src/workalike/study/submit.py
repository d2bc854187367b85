"""A study as a job of a batch system: its driver runs in one allocation, in which all trials start.

The results have all that is needed to go on, so the same command waits for a job that it has submitted before, or
submits another one for what is left.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in, make_folder
from workalike.launch.batch.base import BatchSystem, Job, Phase, State
from workalike.launch.batch.jobs import OUTPUT, refuse_bad_options, submit, submitted_before, wait
from workalike.study.driver import (
    DECIDED,
    DriverOptions,
    Loaded,
    Outcome,
    load,
    refuse_small_budget,
    with_blocks,
)
from workalike.study.journal import BATCH, MANIFEST, read_finished, read_manifest, refuse_foreign
from workalike.study.known_times import Known, known_of
from workalike.study.study_file import StudyFile, bad

SLACK, LEAST_SECONDS = 2.0, 600
"""The time limit is twice the estimate and ten minutes; a job that ends before is resumed."""
RAN = (0, 1, 3)
"""Exit codes of a driver whose study ended by itself."""
ENDS = ("done", DECIDED, "budget", "failing")


@dataclass(frozen=True)
class Submission:
    """How to submit: `options` are directives of the site, `arguments` those of `workalike study run`."""

    system: BatchSystem
    arguments: Sequence[str]
    options: tuple[str, ...] = ()


def submit_study(file: StudyFile, options: DriverOptions, submission: Submission) -> Outcome:
    """Submit a study, or what is left of it, and wait for its job.

    Raises:
        WorkalikeError: the study cannot run, the job was refused, or it ended before the study did.
    """
    refuse_bad_options(submission.options)
    if file.study.search is not None:
        raise bad(
            file.path, "a search is not submitted", "search", "run it without --submit, inside an allocation"
        )
    loaded = load(with_blocks(file, options.blocks))
    refuse_small_budget(loaded, options)
    make_folder(options.out)
    refuse_foreign(options.out, loaded.file.identity)
    folder = options.out / BATCH
    make_folder(folder)
    with alone_in(folder, "another command has submitted this study, and waits for it"):
        job_id = submitted_before(submission.system, folder)
        if job_id is None:
            known = known_of(loaded.file, options.out, options.directory)
            job = _job(loaded, folder, submission, known)
            job_id = submit(submission.system, job, folder)
        cancel = " ".join(submission.system.cancel(job_id))
        try:
            state = wait(submission.system, job_id, _counting(options))
        except KeyboardInterrupt:
            options.report(f"job {job_id} goes on; the same command waits for it again, {cancel} ends it")
            raise
    return _collect(loaded, options, state, job_id, folder / OUTPUT)


def _counting(options: DriverOptions) -> Callable[[str], None]:
    def report(line: str) -> None:
        finished = len(read_finished(options.out))
        options.report(f"{line}; {finished} trials have finished" if finished else line)

    return report


def _job(loaded: Loaded, folder: Path, submission: Submission, known: Known | None = None) -> Job:
    nodes, per_node, ranks = _room(loaded)
    return Job(
        command=[sys.executable, "-m", "workalike", "study", "run", *submission.arguments],
        directory=Path.cwd(),
        output=(folder / OUTPUT).absolute(),
        ranks=ranks,
        nodes=nodes,
        ranks_per_node=per_node,
        seconds=int(SLACK * loaded.estimate(known).seconds) + LEAST_SECONDS,
        options=submission.options,
    )


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
            f"job {job_id} {ended}{code} before the study: {len(finished)} trials have finished and are kept",
            file=output,
            place=_last_words(output),
            hint="the same command submits another job, which goes on",
        )
    estimated = loaded.estimate()
    return Outcome(str(study_state), finished, estimated.trials, stopping=loaded.stopping)


def _last_words(output: Path) -> str | None:
    """The last line of a job's output."""
    try:
        lines = output.read_text(errors="replace")[-10_000:].strip().splitlines()
    except OSError:
        return None
    return "".join(c for c in lines[-1] if c.isprintable())[:200] if lines else None
