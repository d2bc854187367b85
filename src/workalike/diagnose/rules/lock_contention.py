"""Several writers in one stripe."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.at_once import Contended, contended_writes, writers_at_once
from workalike.diagnose.change import ALIGNED, COLLECTIVE
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen, Sure
from workalike.facts.records import BoolArray
from workalike.text import count_text, size_text


class Limits(Parameters):
    writes: int = Field(1000, ge=0, description="Writes of the job on such files.")
    apart: float = Field(0.5, gt=0, description="Share of the writes that do not follow the one before.")
    contended: float = Field(
        0.01,
        gt=0,
        le=1,
        description="Share of a file's traced writes that meet another rank in a stripe, at least.",
    )
    covered: float = Field(
        0.95,
        gt=0,
        le=1,
        description="Share of a file's writes that a trace must have to decide; else the spans of the ranks do.",
    )


def find(job: Job, limits: Limits) -> Found:
    """Shared files whose interleaved independent blocks, not a multiple of the stripe, several ranks write at once."""
    stripe = job.facts.stripe_size.astype(np.float64)
    made = job.total("POSIX", "WRITES")
    if not (stripe > 0).any():
        return CannotTell("the log does not know the stripes of files (no LUSTRE record)")
    apart = counts.ratio(made - job.total("POSIX", "CONSEC_WRITES") - job.ranks, made)
    mean = counts.ratio(job.total("POSIX", "BYTES_WRITTEN"), made)
    here = job.own & job.shared & (stripe > 0) & (made > 0) & (apart >= limits.apart)
    here &= np.mod(mean, np.maximum(stripe, 1)) != 0
    here &= job.total("MPI-IO", "COLL_WRITES", "SPLIT_WRITES") == 0
    if float(made[here].sum()) < limits.writes:
        return []
    known = writers_at_once(job)
    trace = contended_writes(job, here, limits.covered)
    nothing = np.zeros(len(job))
    traced = np.zeros(len(job), dtype=bool) if trace is None else trace.traced
    met = nothing if trace is None else counts.ratio(trace.contended, trace.writes)
    open_question = here & ~traced & ~known.proven & ~known.refuted
    here &= np.where(traced, met >= limits.contended, known.proven)
    total = float(made[here].sum())
    if total >= limits.writes:
        return [_seen(job, here, traced & here, trace)]
    if float(made[open_question].sum()) >= limits.writes:
        return CannotTell(
            "interleaved writes share stripes; whether ranks were at it at once takes a trace (DXT)"
        )
    return []


def _seen(job: Job, here: BoolArray, traced: BoolArray, trace: Contended | None) -> Seen:
    """What was found in some files; those that are `traced` count by the trace, others whole."""
    made = job.total("POSIX", "WRITES")
    mean = float(counts.ratio(job.total("POSIX", "BYTES_WRITTEN"), made)[here].max())
    total, stripe = float(made[here].sum()), float(job.facts.stripe_size[here].max())
    text = (
        f"{count_text(total)} interleaved writes of {size_text(mean)} by several ranks at once "
        f"share stripes of {size_text(stripe)}"
    )
    evidence = {"writes": total, "mean_bytes": mean, "stripe": stripe}
    families = job.families_of(here)
    if trace is None or not traced.any():
        cost = explained(job, here, (WRITE,), "write time of these files", writes=total)
        return Seen(text, cost, families, evidence, Sure.POSSIBLE)
    cost = explained(
        job,
        np.where(traced, trace.share, here),
        (WRITE,),
        "write time of these files x share of traced write time that met another rank",
        writes=total,
    )
    evidence["contended_writes"] = float(trace.contended[traced].sum())
    text += f"; by the trace, {count_text(evidence['contended_writes'])} met another rank in a stripe"
    sure = Sure.LIKELY if (traced == here).all() else Sure.POSSIBLE
    return Seen(text, cost, families, evidence, sure, uses=("DXT_POSIX",))


RULE = Rule(
    id="lock-contention",
    find=find,
    parameters=Limits,
    title="several writers in one stripe",
    seen_as="At least two ranks write interleaved blocks, not a multiple of the stripe, to a shared file at the same time: by the trace, in one stripe; without it, because their write times add up to more than the time between their first and last writes.",
    costs="Write time of these files; where a trace has their writes, the share of it that met another rank in a stripe.",
    advice="Write collectively, or make blocks whole stripes: one writer for each stripe.",
    snippet='MPI_Info_set(info, "striping_unit", "4194304");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "striping_unit", "4194304", ierror)',
        "python": 'info.Set("striping_unit", "4194304")',
    },
    needs=("POSIX", "LUSTRE"),
    explained_by=("sync-each-write", "independent-access"),
    not_this="ranks that write one after the other: their locks move once each.",
    changes=(COLLECTIVE, ALIGNED),
)
