"""Flux: `flux batch`, `flux jobs`, `flux cancel`. In the job, trials start with `flux run`."""

from __future__ import annotations

import re
from pathlib import Path

from workalike.launch.batch.base import Job, Phase, State, script_of


class Flux:
    """Flux, by its documentation."""

    name = "flux"
    program = "flux"
    tested_on = "texts of the documented form only, never a Flux"
    task_variable: str | None = None

    def script(self, job: Job) -> str:
        directives = [
            f"--job-name={job.name}",
            f"--output={job.output}",
            f"--nslots={job.ranks}",
            *([f"--nodes={job.nodes}"] if job.nodes else []),
            *([f"--cores-per-slot={job.cores}"] if job.cores > 1 else []),
            *([f"--time-limit={job.minutes}m"] if job.minutes else []),
            *([f"--begin-time=+{job.delay_s}s"] if job.delay_s else []),
        ]
        return script_of("# flux:", directives, job)

    def submit(self, script: Path) -> list[str]:
        return [self.program, "batch", str(script)]

    def id_in(self, output: str) -> str | None:
        found = re.search(r"^(ƒ?\w+)$", output.strip(), re.MULTILINE)
        return found[1] if found else None

    def ask(self, job_id: str) -> list[str]:
        return [self.program, "jobs", "--no-header", "--format={state} {result} {returncode}", job_id]

    def state_in(self, exit_code: int, output: str) -> State | None:
        if exit_code:
            return State(Phase.GONE) if "unknown" in output.lower() else None
        words = output.split()
        if not words:
            return None
        if words[0] in ("DEPEND", "PRIORITY", "SCHED"):
            return State(Phase.WAITING)
        if words[0] in ("RUN", "CLEANUP"):
            return State(Phase.RUNNING)
        code = words[-1] if words[-1].isdigit() else None
        return State(Phase.ENDED, words[1] if len(words) > 1 else words[0], int(code) if code else None)

    def cancel(self, job_id: str) -> list[str]:
        return [self.program, "cancel", job_id]
