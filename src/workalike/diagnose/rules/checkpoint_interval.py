"""The checkpoint interval against the rate of failures."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose.costs import META, WRITE, explained, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
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
        if family.role is not Role.CHECKPOINT or family.files < 2 or job.shared[rows].sum() < family.files:
            continue
        each = float(seconds(job, WRITE, META)[rows].sum()) / family.files / job.nprocs
        have, best = (
            job.run_time / family.files,
            float(np.sqrt(2 * each * limits.mean_time_between_failures_s)),
        )
        if best and not 1 / limits.factor <= have / best <= limits.factor:
            text = f"a checkpoint each {seconds_text(have)}; {seconds_text(best)} is the optimum (Young) for {seconds_text(each)} each"
            share = max(0.0, 1 - have / best)
            cost = explained(
                job,
                np.where(rows, share, 0),
                (WRITE, META),
                "write and metadata time x (1 - interval / optimum)",
            )
            out.append(Seen(text, cost, (family.number,), {"interval_s": have, "optimum_s": best}))
    return out


RULE = Rule(
    id="checkpoint-interval",
    find=find,
    parameters=Limits,
    title="the checkpoint interval does not fit the failure rate",
    seen_as="The interval of checkpoints differs from Young's optimum, sqrt(2 x time of a checkpoint x time between failures).",
    costs="Write and metadata time x (1 - interval / optimum), where checkpoints are too frequent.",
    advice="Write a checkpoint at the optimal interval.",
    any_of=("POSIX", "STDIO", "MPI-IO"),
)
