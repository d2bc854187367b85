"""What a batch system's class offers. It handles text only; `jobs` runs the commands."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Job:
    """What a job runs, and what it needs: `seconds` is its time limit, `options` are directives of the site."""

    command: list[str]
    directory: Path
    output: Path
    ranks: int
    nodes: int | None = None
    ranks_per_node: int | None = None
    seconds: int = 3600
    options: tuple[str, ...] = ()
    name: str = "workalike"

    @property
    def minutes(self) -> int:
        return -(-self.seconds // 60)

    def body(self) -> str:
        """The end of a script, the same for all systems."""
        return f"cd {shlex.quote(str(self.directory))} || exit 2\nexec {shlex.join(self.command)}\n"


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
    """A batch system. `tested_on` says what its code has run against."""

    name: str
    program: str
    tested_on: str

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


def script_of(prefix: str, directives: list[str], job: Job) -> str:
    """A shell script with directives; the site's own come last."""
    lines = [f"{prefix} {text}" for text in (*directives, *job.options)]
    return "\n".join(["#!/bin/sh", *lines, job.body()])
