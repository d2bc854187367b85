"""Independent accesses where collective ones would serve."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import COLLECTIVE
from workalike.diagnose.costs import READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import count_text, size_text


class Limits(Parameters):
    ranks: float = Field(0.5, gt=0, description="Share of the job's ranks that use the file.")
    calls: int = Field(1000, ge=0, description="Independent calls of the job.")
    collective: float = Field(
        0.01, ge=0, lt=1, description="Collective calls, at most, for each independent one."
    )
    size: int = Field(
        1048576,
        ge=0,
        description="Bytes of a call where the stripe is not known; smaller calls need aggregation.",
    )


def find(job: Job, limits: Limits) -> Found:
    """Shared MPI-IO files with (almost) independent calls alone, that are small or interleaved."""
    out: list[Seen] = []
    if job.nprocs < 2:
        return out
    stripe = np.where(job.facts.stripe_size > 0, job.facts.stripe_size, limits.size)
    for kind, name in ((WRITE, "BYTES_WRITTEN"), (READ, "BYTES_READ")):
        alone, together = (
            job.total("MPI-IO", f"INDEP_{kind}S"),
            job.total("MPI-IO", f"COLL_{kind}S", f"SPLIT_{kind}S"),
        )
        mean = counts.ratio(job.total("MPI-IO", name), alone)
        made = job.total("POSIX", f"{kind}S")
        jumps = counts.ratio(made - job.total("POSIX", f"CONSEC_{kind}S") - job.ranks, made) >= 0.5
        here = (
            job.own
            & (job.ranks_in("MPI-IO") >= max(2.0, limits.ranks * job.nprocs))
            & (alone > 0)
            & (together <= limits.collective * alone)
        )
        here &= (mean < stripe) | (jumps & (mean < 4 * stripe))
        total = float(alone[here].sum())
        if total < limits.calls:
            continue
        cost = explained(job, here, (kind,), f"{kind.lower()} time of these files", calls=total)
        text = f"{count_text(total)} independent {kind.lower()}s of {size_text(float(job.total('MPI-IO', name)[here].sum()) / total)} on shared files, {'none' if not together[here].any() else 'hardly any'} collective"
        out.append(Seen(text, cost, job.families_of(here), {f"{kind.lower()}s": total}))
    return out


RULE = Rule(
    id="independent-access",
    find=find,
    parameters=Limits,
    title="independent accesses where collective ones would serve",
    seen_as="Most ranks use a shared file by independent MPI-IO calls that are smaller than a stripe, or interleaved.",
    costs="Read or write time of these files.",
    advice="Use the collective calls; in HDF5, a collective transfer property.",
    snippet="H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);",
    language="c",
    other_snippets={
        "fortran": "call h5pset_dxpl_mpio_f(dxpl, H5FD_MPIO_COLLECTIVE_F, hdferr)",
        "python": "with dataset.collective:\n    dataset[first:last] = part",
    },
    needs=("MPI-IO",),
    uses=("POSIX",),
    explained_by=("sync-each-write", "library-metadata"),
    changes=(COLLECTIVE,),
)
