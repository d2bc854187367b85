"""Ranks may overlap in a shared file."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import no_cost
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.text import count_text


class Limits(Parameters):
    ratio: float = Field(1.1, gt=0, description="Bytes written / extent.")


def find(job: Job, limits: Limits) -> Found:
    """Files that several ranks write, with more bytes than they hold."""
    written = job.total("POSIX", "BYTES_WRITTEN")
    extent = (job.largest("POSIX", "MAX_BYTE_WRITTEN") + 1) * np.maximum(counts.opens_per_rank(job), 1)
    here = job.own & job.shared & (written >= limits.ratio * extent) & (written > 0)
    here &= job.total("MPI-IO", "COLL_WRITES", "SPLIT_WRITES") == 0
    if not here.any():
        return []
    text = f"{count_text(int(here.sum()))} shared files are written {float(counts.ratio(written, extent)[here].max()):.3g} times over: ranks may overlap"
    return [
        Seen(
            text,
            no_cost(job, "a risk, not time"),
            job.families_of(here),
            {"files": float(here.sum())},
            Sure.POSSIBLE,
        )
    ]


RULE = Rule(
    id="possible-conflict",
    find=find,
    parameters=Limits,
    title="ranks may overlap in a shared file",
    seen_as="Several ranks write a file, more bytes than it holds. Counters do not tell who wrote what: this is never more than possible.",
    costs="None: it is a question of correctness.",
    advice="Check that ranks write disjoint ranges, or sync and barrier between them.",
    needs=("POSIX",),
)
