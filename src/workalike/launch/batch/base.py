"""What a batch system's class offers. It handles text only; `jobs` runs the commands."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Array:
    """A job of several tasks: task I of N gets `option=I/N`, and its standard output goes to `results`/I.json."""

    tasks: int
    option: str
    results: Path


@dataclass(frozen=True)
class Job:
    """What a job, or each task of its array, runs and needs.

    `seconds` is the time limit, None for the site's default; `cores` are those of each rank, `options` are directives
    of the site. The job begins no earlier than `delay_s` seconds after it was submitted.
    """

    command: list[str]
    directory: Path
    output: Path
    ranks: int
    nodes: int | None = None
    ranks_per_node: int | None = None
    seconds: int | None = 3600
    options: tuple[str, ...] = ()
    name: str = "workalike"
    cores: int = 1
    array: Array | None = None
    delay_s: int = 0

    @property
    def minutes(self) -> int | None:
        return None if self.seconds is None else -(-self.seconds // 60)

    def body(self, task_variable: str | None) -> str:
        """The end of a script, the same for all systems but for the variable that has the task's number."""
        command = shlex.join(self.command)
        if self.array is not None:
            assert task_variable is not None, "the system has no arrays"
            results = shlex.quote(str(self.array.results))
            task = f"${{{task_variable}}}"
            command += f' "{self.array.option}={task}/{self.array.tasks}" > {results}/"{task}.json"'
        return f"cd {shlex.quote(str(self.directory))} || exit 2\nexec {command}\n"


class Phase(Enum):
    """Where a job is. Of one that is `GONE`, the system knows nothing any more."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    GONE = "gone"


@dataclass(frozen=True)
class State:
    """A job's phase, and what the system says of it: the word for its end, or the reason why it waits.

    `exit_code` is the script's; None where it is not known.
    """

    phase: Phase
    word: str = ""
    exit_code: int | None = None


class BatchSystem(Protocol):
    """A batch system.

    `tested_on` says what its code has run against. `task_variable` has the number of a task of an array; None for a
    system without arrays.
    """

    name: str
    program: str
    tested_on: str
    task_variable: str | None

    def script(self, job: Job) -> str:
        """The text of a job's script."""

    def submit(self, script: Path) -> list[str]:
        """The command that submits it."""

    def id_in(self, output: str) -> str | None:
        """The job's id, from what that command printed."""

    def ask(self, job_id: str) -> list[str]:
        """The command that tells a job's state."""

    def state_in(self, exit_code: int, output: str) -> State | None:
        """The state, from what that command answered; None if it cannot tell now."""

    def cancel(self, job_id: str) -> list[str]:
        """The command that ends a job."""


def script_of(prefix: str, directives: list[str], job: Job, task_variable: str | None = None) -> str:
    """A shell script with directives; the site's own come last."""
    lines = [f"{prefix} {text}" for text in (*directives, *job.options)]
    return "\n".join(["#!/bin/sh", *lines, job.body(task_variable)])
