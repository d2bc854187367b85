"""Several writers in one stripe."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import ALIGNED, COLLECTIVE
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen, Sure
from workalike.text import count_text, size_text


class Limits(Parameters):
    writes: int = Field(1000, ge=0, description="Writes of the job on such files.")
    apart: float = Field(0.5, gt=0, description="Share of the writes that do not follow the one before.")


def find(job: Job, limits: Limits) -> Found:
    """Shared files whose interleaved independent blocks are no multiple of the stripe."""
    stripe = job.facts.stripe_size.astype(np.float64)
    made = job.total("POSIX", "WRITES")
    if not (stripe > 0).any():
        return CannotTell("the log does not know the stripes of files (no LUSTRE record)")
    apart = counts.ratio(made - job.total("POSIX", "CONSEC_WRITES") - job.ranks, made)
    mean = counts.ratio(job.total("POSIX", "BYTES_WRITTEN"), made)
    here = job.own & job.shared & (stripe > 0) & (made > 0) & (apart >= limits.apart)
    here &= np.mod(mean, np.maximum(stripe, 1)) != 0
    here &= job.total("MPI-IO", "COLL_WRITES", "SPLIT_WRITES") == 0
    total = float(made[here].sum())
    if total < limits.writes:
        return []
    cost = explained(job, here, (WRITE,), "write time of these files", writes=total)
    return [
        Seen(
            f"{count_text(total)} interleaved writes of {size_text(float(mean[here].max()))} share stripes of {size_text(float(stripe[here].max()))}",
            cost,
            job.families_of(here),
            {"writes": total, "mean_bytes": float(mean[here].max()), "stripe": float(stripe[here].max())},
            Sure.POSSIBLE,
        )
    ]


RULE = Rule(
    id="lock-contention",
    find=find,
    parameters=Limits,
    title="several writers in one stripe",
    seen_as="Ranks write interleaved blocks, no multiple of the stripe, to a shared file.",
    costs="Write time of these files.",
    advice="Write collectively, or make blocks whole stripes: one writer for each stripe.",
    snippet='MPI_Info_set(info, "striping_unit", "4194304");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "striping_unit", "4194304", ierror)',
        "python": 'info.Set("striping_unit", "4194304")',
    },
    needs=("POSIX", "LUSTRE"),
    explained_by=("sync-each-write", "independent-access"),
    changes=(COLLECTIVE, ALIGNED),
)
