"""A large shared file on few targets."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import STRIPED
from workalike.diagnose.costs import READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.text import count_text, size_text


class Limits(Parameters):
    bytes: float = Field(100000000000.0, gt=0, description="Bytes on one stripe.")


def find(job: Job, limits: Limits) -> Found:
    """Shared files with too many bytes on each stripe."""
    stripes = job.facts.stripe_count.astype(np.float64)
    if not (stripes > 0).any():
        return CannotTell("the log does not know the stripes of files (no LUSTRE record)")
    moved = counts.bytes_of(job, "READ") + counts.bytes_of(job, "WRITE")
    each = counts.ratio(moved, stripes)
    here = job.own & job.shared & (each > limits.bytes)
    if not here.any():
        return []
    cost = explained(job, here, (READ, WRITE), "read and write time of these files")
    return [
        Seen(
            f"{size_text(float(each[here].max()))} pass through each of {count_text(float(stripes[here].min()))} stripes",
            cost,
            job.families_of(here),
            {"bytes_per_stripe": float(each[here].max()), "stripes": float(stripes[here].min())},
        )
    ]


RULE = Rule(
    id="too-few-stripes",
    find=find,
    parameters=Limits,
    title="a large shared file on few targets",
    seen_as="A shared file moves very many bytes for each of its stripes.",
    costs="Read and write time of these files.",
    advice="Give the folder more stripes before the file is made.",
    snippet="lfs setstripe -c 32 FOLDER",
    language="sh",
    needs=("LUSTRE",),
    uses=("POSIX", "STDIO"),
    changes=(STRIPED,),
)
