"""The checkpoint interval against the rate of failures."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, WRITE, explained, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.facts.records import BoolArray
from workalike.text import seconds_text


class Limits(Parameters):
    mean_time_between_failures_s: float = Field(
        0.0, ge=0, description="Seconds between failures of a job; 0: not known."
    )
    factor: float = Field(2.0, gt=0, description="Times longer or shorter than the optimum.")


def find(job: Job, limits: Limits) -> Found:
    """Young's interval, from the mean time of a checkpoint and that between failures."""
    from workalike.workload.words import Role

    if not limits.mean_time_between_failures_s:
        return CannotTell("the failure rate is not known: set mean_time_between_failures_s in the site file")
    out: list[Seen] = []
    for family in job.families:
        rows = (job.family == family.number) & job.own
        if family.role is not Role.CHECKPOINT or family.files < 2:
            continue
        count = _checkpoints(job, rows)
        if count < 2:
            continue
        each = float(seconds(job, WRITE, META)[rows].sum()) / count / job.nprocs
        have = job.run_time / count
        best = float(np.sqrt(2 * each * limits.mean_time_between_failures_s))
        if best and not 1 / limits.factor <= have / best <= limits.factor:
            out.append(_seen(job, rows, family.number, (have, best, each)))
    return out


def _checkpoints(job: Job, rows: BoolArray) -> float:
    """Checkpoints of a family: its files, or those of one rank where each rank has files of its own."""
    files, users = int(rows.sum()), job.ranks[rows]
    if not files or (users > 1).any():
        return float(files)
    return files / counts.ranks_writing(job, rows)


def _seen(job: Job, rows: BoolArray, family: int, times: tuple[float, float, float]) -> Seen:
    have, best, each = times
    text = (
        f"a checkpoint each {seconds_text(have)}; {seconds_text(best)} is the optimum (Young) "
        f"for {seconds_text(each)} each"
    )
    share = max(0.0, 1 - have / best)
    formula = "write and metadata time x (1 - interval / optimum), none where checkpoints are too rare"
    evidence = {"interval_s": have, "optimum_s": best}
    cost = explained(job, np.where(rows, share, 0), (WRITE, META), formula, **evidence)
    return Seen(text, cost, (family,), evidence)


RULE = Rule(
    id="checkpoint-interval",
    find=find,
    parameters=Limits,
    title="the checkpoint interval does not fit the failure rate",
    seen_as="The interval of checkpoints differs from Young's optimum, sqrt(2 x time of a checkpoint x time between failures). A checkpoint is a shared file, or one file of each rank.",
    costs="Write and metadata time x (1 - interval / optimum), where checkpoints are too frequent.",
    advice="Write a checkpoint at the optimal interval.",
    any_of=("POSIX", "STDIO", "MPI-IO"),
)
