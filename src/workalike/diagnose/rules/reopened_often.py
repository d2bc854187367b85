"""Files are opened and closed again and again."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import OPENED_ONCE
from workalike.diagnose.costs import META, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import count_text


class Limits(Parameters):
    opens: float = Field(10.0, gt=0, description="Opens per rank and file.")
    time: float = Field(
        0.01, gt=0, description="Metadata time of these files, as a share of ranks x run time."
    )


def find(job: Job, limits: Limits) -> Found:
    """Files that each rank opens many times."""
    times = counts.opens_per_rank(job)
    here = job.own & (times >= limits.opens)
    if not here.any():
        return []
    opened = counts.opens(job)
    calls = opened + job.total("POSIX", "STATS", "SEEKS") + job.total("STDIO", "SEEKS")
    cost = explained(
        job,
        np.where(here, counts.ratio(opened, calls), 0),
        (META,),
        "metadata time x opens / metadata calls",
        opens=float(opened[here].sum()),
    )
    if cost.rank_seconds < limits.time * job.rank_time:
        return []
    return [
        Seen(
            f"each rank opens a file {float(np.median(times[here])):.3g} times, {count_text(float(opened[here].sum()))} opens in all",
            cost,
            job.families_of(here),
            {"opens_per_rank": float(np.median(times[here])), "opens": float(opened[here].sum())},
        )
    ]


RULE = Rule(
    id="reopened-often",
    find=find,
    parameters=Limits,
    title="files are opened and closed again and again",
    seen_as="A rank opens the same file many times.",
    costs="Metadata time x opens / (opens + stats + seeks).",
    advice="Open the file once and keep it open.",
    snippet="""FILE *file = fopen(name, "a");  /* once, before the loop */
for (int step = 0; step < steps; step++) fprintf(file, ...);
fclose(file);""",
    language="c",
    other_snippets={
        "fortran": """open (newunit=unit, file=name, position="append")  ! once
do step = 1, steps; write (unit, *) values; end do
close (unit)""",
        "python": """with open(name, "a") as file:  # once, around the loop
    for step in steps:
        file.write(line(step))""",
    },
    any_of=("POSIX", "STDIO"),
    changes=(OPENED_ONCE,),
)
