"""An ingestion as a job array of a batch system: each task takes its share of the logs.

The folder of the job has paths of logs. Where the database has a key, only its owner can read it, and it is removed when
all tasks have ended. The tasks need no server. They write parts of the same database, on a file system that all nodes share. A task that dies
leaves the database as an interrupted ingestion does, so the same command reads what is left.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in, make_folder, make_private
from workalike.fleet.ingest import Outcome
from workalike.fleet.store import Store
from workalike.launch.batch.base import Array, BatchSystem, Job
from workalike.launch.batch.jobs import OUTPUT, refuse_bad_options, submit, submitted_before, wait

FOLDER = "array"


@dataclass(frozen=True)
class ArrayOptions:
    """How to submit: `tasks` of `workers` processes each, `options` are directives of the site."""

    system: BatchSystem
    tasks: int
    workers: int = 1
    options: tuple[str, ...] = ()


def ingest_as_array(
    store: Store,
    arguments: Sequence[str],
    array: ArrayOptions,
    report: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Submit the ingestion, or find the job of an earlier command, and wait for its end.

    Args:
        arguments: of `workalike fleet ingest`, without those of the array, with absolute paths.
        report: gets a line when the job's phase changes.

    Returns:
        The sums of all tasks, and the time of the longest.

    Raises:
        WorkalikeError: USAGE for a system without arrays, RUN_FAILED if the job was refused or a task did not end.
    """
    refuse_bad_options(array.options)
    if array.system.task_variable is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{array.system.name} has no job arrays",
            hint="submit jobs with --share 0/4 to 3/4",
        )
    folder = (store.folder / FOLDER / str(array.tasks)).absolute()
    make_folder(folder)
    if store.hides:
        make_private(folder.parent)
    with alone_in(folder, "another command has submitted this ingestion, and waits for it"):
        job_id = submitted_before(array.system, folder)
        if job_id is None:
            for task in range(array.tasks):
                _result(folder, task).unlink(missing_ok=True)
            job_id = submit(array.system, _job(folder, arguments, array), folder)
        cancel = " ".join(array.system.cancel(job_id))
        try:
            wait(array.system, job_id, report)
        except KeyboardInterrupt:
            report(f"job {job_id} goes on; the same command waits for it again, {cancel} ends it")
            raise
        outcomes = [_outcome(_result(folder, task)) for task in range(array.tasks)]
        store.refresh()
        total = _summed(outcomes, job_id, folder / OUTPUT)
        if store.hides:
            shutil.rmtree(folder, ignore_errors=True)
    return total


def remove_results(store: Store) -> None:
    """Remove what job arrays left beside a database, but for those that a command waits for."""
    for folder in (store.folder / FOLDER).glob("*/"):
        with contextlib.suppress(WorkalikeError), alone_in(folder, "in use"):
            shutil.rmtree(folder, ignore_errors=True)


def _job(folder: Path, arguments: Sequence[str], array: ArrayOptions) -> Job:
    command = [sys.executable, "-m", "workalike", "fleet", "ingest", *arguments]
    return Job(
        command=[*command, f"--jobs={array.workers}", "--json"],
        directory=Path.cwd(),
        output=folder / OUTPUT,
        ranks=1,
        cores=array.workers,
        seconds=None,
        options=array.options,
        name="workalike-ingest",
        array=Array(array.tasks, "--share", folder),
    )


def _result(folder: Path, task: int) -> Path:
    return folder / f"{task}.json"


def _outcome(path: Path) -> Outcome | None:
    """What a task has printed; None if it did not come to its end."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        return Outcome.from_json(document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _summed(outcomes: Sequence[Outcome | None], job_id: str, output: Path) -> Outcome:
    missing = [str(task) for task, outcome in enumerate(outcomes) if outcome is None]
    if missing:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"of job {job_id}, {len(missing)} of {len(outcomes)} tasks did not end: {', '.join(missing[:10])}",
            file=output,
            hint=f"{output.name} has their messages; the same command reads what is left",
        )
    total = Outcome()
    for outcome in outcomes:
        assert outcome is not None
        total.found += outcome.found
        total.known += outcome.known
        total.counts.update(outcome.counts)
        total.problems += outcome.problems
        total.seconds = max(total.seconds, outcome.seconds)
    return total
