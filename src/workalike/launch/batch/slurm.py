"""Slurm: `sbatch`, `scontrol`, `scancel`. In the job, trials start with `srun`."""

from __future__ import annotations

import math
import re
from pathlib import Path

from workalike.launch.batch.base import Job, Phase, State, script_of

WAITING = (
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "SPECIAL_EXIT",
    "RESV_DEL_HOLD",
)
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING")


class Slurm:
    """Slurm. `scontrol` forgets a job some minutes after its end; no accounting database is needed."""

    name = "slurm"
    program = "sbatch"
    tested_on = "Slurm 22.05 with three nodes"
    task_variable: str | None = "SLURM_ARRAY_TASK_ID"

    def script(self, job: Job) -> str:
        directives = [
            f"--job-name={job.name}",
            f'--output="{job.output}"',
            "--open-mode=append",
            f"--ntasks={job.ranks}",
            *([f"--nodes={job.nodes}"] if job.nodes else []),
            *([f"--ntasks-per-node={job.ranks_per_node}"] if job.ranks_per_node else []),
            *([f"--cpus-per-task={job.cores}"] if job.cores > 1 else []),
            *([f"--array=0-{job.array.tasks - 1}"] if job.array else []),
            *([f"--time={job.minutes}"] if job.minutes else []),
            *([f"--begin=now+{job.delay_s}"] if job.delay_s else []),
        ]
        return script_of("#SBATCH", directives, job, self.task_variable)

    def submit(self, script: Path) -> list[str]:
        return [self.program, "--parsable", str(script)]

    def id_in(self, output: str) -> str | None:
        # `17`, or `17;cluster`; warnings may come before.
        found = re.search(r"^(\d+)(?:;\S+)?$", output, re.MULTILINE)
        return found[1] if found else None

    def ask(self, job_id: str) -> list[str]:
        return ["scontrol", "--oneliner", "show", "job", job_id]

    def state_in(self, exit_code: int, output: str) -> State | None:
        if exit_code:
            return State(Phase.GONE) if "Invalid job id" in output else None
        # A line for a job, and for an array one for each task that has begun and one for the others.
        states = [state for line in output.splitlines() if (state := self._state_of_line(line)) is not None]
        if not states:
            return None
        for phase in (Phase.RUNNING, Phase.WAITING):
            if found := [state for state in states if state.phase is phase]:
                return found[0]
        return max(states, key=lambda state: math.inf if state.exit_code is None else state.exit_code)

    def _state_of_line(self, line: str) -> State | None:
        fields = dict(re.findall(r"(JobState|Reason|ExitCode)=(\S+)", line))
        word = fields.get("JobState")
        if word is None:
            return None
        if word in WAITING:
            return State(Phase.WAITING, fields.get("Reason", "").removeprefix("None"))
        if word in RUNNING:
            return State(Phase.RUNNING)
        code, _, signal = fields.get("ExitCode", "").partition(":")
        known = code.isdigit() and signal == "0" and word in ("COMPLETED", "FAILED")
        return State(Phase.ENDED, word, int(code) if known else None)

    def cancel(self, job_id: str) -> list[str]:
        return ["scancel", job_id]
