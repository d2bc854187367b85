"""Bulk data through STDIO."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import WITHOUT_STDIO
from workalike.diagnose.costs import READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.text import percent_text, size_text


class Limits(Parameters):
    share: float = Field(0.1, gt=0, description="Share of all bytes.")
    time: float = Field(0.01, gt=0, description="Share of ranks x run time.")


def find(job: Job, limits: Limits) -> Found:
    """Bytes and time of STDIO against those of the job."""
    through = job.total("STDIO", "BYTES_READ", "BYTES_WRITTEN")
    every = counts.bytes_of(job, "READ") + counts.bytes_of(job, "WRITE")
    here = job.own & (through > 0)
    moved, total = float(through[here].sum()), float(every[job.own].sum())
    if not moved or moved <= limits.share * total:
        return []
    only = np.where(here, counts.ratio(through, every), 0)
    cost = explained(job, only, (READ, WRITE), "read and write time of STDIO", bytes=moved)
    if cost.rank_seconds < limits.time * job.rank_time:
        return []
    return [
        Seen(
            f"{size_text(moved)} ({percent_text(100 * moved / total)} of all bytes) pass through STDIO",
            cost,
            job.families_of(here),
            {"bytes": moved, "share": moved / total},
            Sure.CERTAIN,
        )
    ]


RULE = Rule(
    id="bulk-stdio",
    find=find,
    parameters=Limits,
    title="bulk data through STDIO",
    seen_as="fread, fwrite and fprintf move much of the data.",
    costs="Read and write time of STDIO.",
    advice="Use read and write or a library; or a larger buffer.",
    snippet="setvbuf(file, NULL, _IOFBF, 4 << 20);",
    language="c",
    other_snippets={
        "python": 'file = open(name, "wb", buffering=4 << 20)',
    },
    needs=("STDIO",),
    changes=(WITHOUT_STDIO,),
    explained_by=("sync-each-write", "one-writer", "all-ranks-read-all"),
)
