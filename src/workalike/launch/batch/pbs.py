"""PBS Professional and OpenPBS: `qsub`, `qstat`, `qdel`. In the job, trials start with `mpiexec`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

from workalike.launch.batch.base import Job, Phase, State, script_of


def _clock_text(delay_s: int) -> str:
    """The time of day after a delay, as `qsub -a` takes it."""
    return (datetime.now().astimezone() + timedelta(seconds=delay_s)).strftime("%Y%m%d%H%M.%S")


class Pbs:
    """PBS, by its documentation."""

    name = "pbs"
    program = "qsub"
    tested_on = "texts of the documented form only, never a PBS"
    task_variable: str | None = "PBS_ARRAY_INDEX"

    def script(self, job: Job) -> str:
        nodes = job.nodes or 1
        each = job.ranks_per_node or -(-job.ranks // nodes)
        cores = each * job.cores
        directives = [
            f"-N {job.name}",
            "-j oe",
            f"-o {job.output}{'.^array_index^' if job.array else ''}",  # else all tasks write into one file
            f"-l select={nodes}:ncpus={cores}:mpiprocs={each}",
            *([f"-l walltime={job.minutes // 60:02}:{job.minutes % 60:02}:00"] if job.minutes else []),
            *([f"-J 0-{job.array.tasks - 1}"] if job.array else []),
            *([f"-a {_clock_text(job.delay_s)}"] if job.delay_s else []),
            "-V",
        ]
        return script_of("#PBS", directives, job, self.task_variable)

    def submit(self, script: Path) -> list[str]:
        return [self.program, str(script)]

    def id_in(self, output: str) -> str | None:
        found = re.search(r"^(\d+(?:\[\])?(?:\.[\w.-]+)?)$", output.strip(), re.MULTILINE)
        return found[1] if found else None

    def ask(self, job_id: str) -> list[str]:
        return ["qstat", "-x", "-f", job_id]

    def state_in(self, exit_code: int, output: str) -> State | None:
        if exit_code:
            return State(Phase.GONE) if "Unknown Job Id" in output else None
        fields = dict(re.findall(r"^\s*(job_state|Exit_status|comment) = (.*)$", output, re.MULTILINE))
        word = fields.get("job_state", "").strip()
        if word in ("Q", "H", "W", "T"):
            return State(Phase.WAITING, fields.get("comment", "").strip())
        if word in ("R", "E", "S", "B"):
            return State(Phase.RUNNING)
        if word not in ("F", "C", "X"):
            return None
        code = fields.get("Exit_status", "").strip()
        # Above 255 it was a signal, below 0 PBS itself.
        known = code.isdigit() and int(code) < 256
        return State(Phase.ENDED, f"exit status {code}", int(code) if known else None)

    def cancel(self, job_id: str) -> list[str]:
        return ["qdel", job_id]
