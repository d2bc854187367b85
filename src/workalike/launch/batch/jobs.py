"""Jobs of a batch system: submitted once, found again by another command, waited for."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import write_text
from workalike.launch.batch.base import BatchSystem, Job, Phase, State
from workalike.launch.batch.flux import Flux
from workalike.launch.batch.pbs import Pbs
from workalike.launch.batch.slurm import Slurm
from workalike.launch.short_command import output_of

BATCH_SYSTEMS: dict[str, BatchSystem] = {system.name: system for system in (Slurm(), Flux(), Pbs())}
"""A new one is a class and a word here."""

SCRIPT, NOTE, OUTPUT = "job.sh", "job.json", "job.out"
FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.5, 15.0
LATE = 0.05
"""How late an end may be noticed, as a share of the time in the phase before."""
SILENT_SECONDS = 600.0
"""How long a batch system may fail to report the state of a job."""


def batch_system(name: str) -> BatchSystem:
    """The batch system of a name.

    Raises:
        WorkalikeError: USAGE if it is unknown or not installed.
    """
    if name not in BATCH_SYSTEMS:
        raise WorkalikeError(
            ErrorKind.USAGE, f"unknown batch system {name!r}", hint=f"use {', '.join(BATCH_SYSTEMS)}"
        )
    system = BATCH_SYSTEMS[name]
    if shutil.which(system.program) is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{system.program} is not installed",
            hint=f"give the command where jobs of {name} are submitted",
        )
    return system


def refuse_bad_options(options: tuple[str, ...]) -> None:
    """Refuse directives that are more than a line.

    Raises:
        WorkalikeError: USAGE.
    """
    for option in options:
        if not option.isprintable() or not option.startswith("-"):
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--batch-option {option!r} is not an option of a batch system",
                hint="for instance --batch-option=--partition=debug",
            )


def submit(system: BatchSystem, job: Job, folder: Path) -> str:
    """Write a job's script and submit it; the folder gets a note of the job. Returns its id.

    Raises:
        WorkalikeError: RUN_FAILED with the system's words.
    """
    script = folder / SCRIPT
    write_text(script, system.script(job))
    code, output = _ask(system.submit(script))
    job_id = system.id_in(output) if code == 0 else None
    if job_id is None:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"{system.program}: {_last_line(output)}",
            file=script,
            hint="--batch-option adds what the site wants, such as --account or --partition",
        )
    write_text(folder / NOTE, json.dumps({"system": system.name, "id": job_id}) + "\n")
    return job_id


def submitted_before(system: BatchSystem, folder: Path) -> str | None:
    """The id of a job of this folder that has not ended; None without one."""
    try:
        note = json.loads((folder / NOTE).read_text(errors="replace"))
        job_id = note["id"] if note["system"] == system.name else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(job_id, str) or system.id_in(job_id) is None:
        return None
    state = state_of(system, job_id)
    return job_id if state is None or state.phase in (Phase.WAITING, Phase.RUNNING) else None


def state_of(system: BatchSystem, job_id: str) -> State | None:
    """A job's state; None if the system does not tell now."""
    return system.state_in(*_ask(system.ask(job_id)))


def wait(system: BatchSystem, job_id: str, report: Callable[[str], None]) -> State:
    """Wait for a job's end. `report` gets a line when its phase changes, or the reason why it does not start.

    Raises:
        WorkalikeError: RUN_FAILED if the system does not tell its state for long.
    """
    shown, since, heard = "", time.monotonic(), time.monotonic()
    while True:
        state = state_of(system, job_id)
        if state is not None:
            heard = time.monotonic()
            if state.phase in (Phase.ENDED, Phase.GONE):
                return state
            line = f"job {job_id} {state.phase.value}{f' ({state.word})' if state.word else ''}"
            if line != shown:
                report(line)
                shown, since = line, time.monotonic()
        elif time.monotonic() - heard > SILENT_SECONDS:
            raise WorkalikeError(
                ErrorKind.RUN_FAILED,
                f"{system.name} has not reported the state of job {job_id} for {SILENT_SECONDS:g} s",
                hint="the job may go on; the same command waits for it again",
            )
        pause = LATE * (time.monotonic() - since)
        time.sleep(min(max(pause, FIRST_LOOK_SECONDS), LONGEST_LOOK_SECONDS))


def _ask(command: list[str]) -> tuple[int, str]:
    """(exit code, output with errors) of a short command."""
    try:
        return output_of(command)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, f"{command[0]}: {type(error).__name__}"


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["no reason given"])[-1][:200]
