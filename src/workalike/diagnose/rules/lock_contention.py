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
from workalike.facts.records import BoolArray, FloatArray
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


def find(job: Job, limits: Limits) -> Found:
    """Shared files whose interleaved independent blocks, no multiple of the stripe, several ranks write at once."""
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
    trace = contended_writes(job, here)
    met = np.zeros(len(job)) if trace is None else counts.ratio(trace.contended, trace.writes)
    traced = np.zeros(len(job), dtype=bool) if trace is None else trace.traced
    open_question = here & ~traced & ~known.proven & ~known.refuted
    here &= np.where(traced, met >= limits.contended, known.proven)
    total = float(made[here].sum())
    if total >= limits.writes:
        return [_seen(job, here, made, mean, None if trace is None or not traced[here].any() else trace)]
    if float(made[open_question].sum()) >= limits.writes:
        return CannotTell(
            "interleaved writes share stripes; whether ranks were at it at once takes a trace (DXT)"
        )
    return []


def _seen(job: Job, here: BoolArray, made: FloatArray, mean: FloatArray, trace: Contended | None) -> Seen:
    total, stripe = float(made[here].sum()), float(job.facts.stripe_size[here].max())
    cost = explained(job, here, (WRITE,), "write time of these files", writes=total)
    text = (
        f"{count_text(total)} interleaved writes of {size_text(float(mean[here].max()))} by several ranks at once "
        f"share stripes of {size_text(stripe)}"
    )
    evidence = {"writes": total, "mean_bytes": float(mean[here].max()), "stripe": stripe}
    if trace is None:
        return Seen(text, cost, job.families_of(here), evidence, Sure.POSSIBLE)
    evidence["contended_writes"] = float(trace.contended[here].sum())
    text += f"; by the trace, {count_text(evidence['contended_writes'])} met another rank in a stripe"
    return Seen(text, cost, job.families_of(here), evidence, Sure.LIKELY)


RULE = Rule(
    id="lock-contention",
    find=find,
    parameters=Limits,
    title="several writers in one stripe",
    seen_as="At least two ranks write interleaved blocks, no multiple of the stripe, to a shared file at the same time: by the trace, in one stripe; without it, by the spans in which ranks write, or because their write times add up to more than the span of all.",
    costs="Write time of these files.",
    advice="Write collectively, or make blocks whole stripes: one writer for each stripe.",
    snippet='MPI_Info_set(info, "striping_unit", "4194304");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "striping_unit", "4194304", ierror)',
        "python": 'info.Set("striping_unit", "4194304")',
    },
    needs=("POSIX", "LUSTRE"),
    uses=("DXT_POSIX",),
    explained_by=("sync-each-write", "independent-access"),
    not_this="ranks that write one after the other: their locks move once each.",
    changes=(COLLECTIVE, ALIGNED),
)
