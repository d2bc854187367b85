"""Small accesses in sequence are harmless."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Answer, Found, Parameters, Picture, Rule, Seen
from workalike.text import count_text


class Limits(Parameters):
    consecutive: float = Field(0.9, gt=0, description="Share of the operations that follow the one before.")
    operations: int = Field(1000, ge=0, description="Small operations of the job.")


def find(job: Job, limits: Limits) -> Found:
    """Small consecutive accesses of files of one rank, without syncs."""
    made = job.total("POSIX", "READS", "WRITES")
    after = job.total("POSIX", "CONSEC_READS", "CONSEC_WRITES") + counts.opens(job)
    little = counts.small(job, "READ") + counts.small(job, "WRITE")
    here = job.own & ~job.shared & (little > 0) & (after >= limits.consecutive * made)
    here &= job.total("POSIX", "FSYNCS", "FDSYNCS") == 0
    total = float(little[here].sum())
    if total < limits.operations:
        return []
    cost = explained(
        job,
        np.where(here, counts.ratio(little, made), 0),
        (READ, WRITE),
        "read and write time x small operations / operations",
    )
    return [
        Seen(
            f"{count_text(total)} small accesses follow each other: the client buffers these",
            cost,
            job.families_of(here),
            {"small": total},
        )
    ]


RULE = Rule(
    id="small-sequential",
    find=find,
    parameters=Limits,
    title="small and sequential",
    seen_as="Accesses below 1 MiB follow each other in a file of one rank that is not synced.",
    costs="Read and write time of these operations; it is not a loss.",
    advice="Nothing.",
    needs=("POSIX",),
    answer=Answer.HARMLESS,
    picture=Picture.SIZES,
)
