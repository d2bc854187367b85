"""Seeks to where the file is already."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import NO_SEEKS
from workalike.diagnose.costs import META, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.text import count_text


class Limits(Parameters):
    share: float = Field(
        0.9, gt=0, description="Seeks / (reads + writes), and share of consecutive operations."
    )
    seeks: int = Field(1000, ge=0, description="Seeks of the job.")


def find(job: Job, limits: Limits) -> Found:
    """Files with a seek for each operation, while the operations follow each other."""
    made = job.total("POSIX", "READS", "WRITES")
    seeks = job.total("POSIX", "SEEKS")
    after = job.total("POSIX", "CONSEC_READS", "CONSEC_WRITES") + counts.opens(job)
    here = job.own & (made > 0) & (seeks >= limits.share * made) & (after >= limits.share * made)
    total = float(seeks[here].sum())
    if total < limits.seeks:
        return []
    calls = seeks + counts.opens(job) + job.total("POSIX", "STATS")
    cost = explained(
        job,
        np.where(here, counts.ratio(seeks, calls), 0),
        (META,),
        "metadata time x seeks / metadata calls",
        seeks=total,
    )
    return [
        Seen(
            f"{count_text(total)} seeks for {count_text(float(made[here].sum()))} operations that follow each other",
            cost,
            job.families_of(here),
            {"seeks": total, "operations": float(made[here].sum())},
            Sure.CERTAIN,
        )
    ]


RULE = Rule(
    id="useless-seeks",
    find=find,
    parameters=Limits,
    title="seeks to where the file is already",
    seen_as="There is a seek for nearly each operation, while nearly all operations follow the one before.",
    costs="Metadata time x seeks / (opens + stats + seeks).",
    advice="Drop the seeks, or use pread and pwrite.",
    snippet="pwrite(fd, data, size, offset);",
    language="c",
    other_snippets={
        "fortran": 'write(unit, pos=offset + 1) values  ! access="stream"',
        "python": "os.pwrite(fd, data, offset)",
    },
    needs=("POSIX",),
    changes=(NO_SEEKS,),
)
