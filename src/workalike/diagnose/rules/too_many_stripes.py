"""Small files on many targets."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose.change import ONE_STRIPE
from workalike.diagnose.costs import META, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.text import count_text


class Limits(Parameters):
    files: int = Field(100, ge=0, description="Such files of the job.")


def find(job: Job, limits: Limits) -> Found:
    """Files that do not fill their stripes."""
    stripes, size = job.facts.stripe_count.astype(np.float64), job.facts.stripe_size.astype(np.float64)
    if not (stripes > 0).any():
        return CannotTell("the log does not know the stripes of files (no LUSTRE record)")
    here = job.own & (stripes > 1) & (job.extent > 1) & (job.extent < stripes * size)
    if here.sum() < limits.files:
        return []
    cost = explained(job, here, (META,), "metadata time of these files")
    return [
        Seen(
            f"{count_text(int(here.sum()))} files are smaller than one round of their {count_text(float(np.median(stripes[here])))} stripes",
            cost,
            job.families_of(here),
            {"files": float(here.sum())},
        )
    ]


RULE = Rule(
    id="too-many-stripes",
    find=find,
    parameters=Limits,
    title="small files on many targets",
    seen_as="Many files are smaller than stripe count x stripe size.",
    costs="Metadata time of these files.",
    advice="One stripe for small files.",
    snippet="lfs setstripe -c 1 FOLDER",
    language="sh",
    needs=("LUSTRE",),
    uses=("POSIX", "STDIO"),
    changes=(ONE_STRIPE,),
)
