"""Ranks may overlap in a shared file."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.conflicts.of_logs import JobConflicts
from workalike.diagnose.costs import no_cost
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.text import count_text, plural


class Limits(Parameters):
    ratio: float = Field(1.1, gt=0, description="Bytes written / extent.")


def find(job: Job, limits: Limits) -> Found:
    """Overlaps in the trace whose order is not known; without a trace, files with more bytes written than they hold."""
    traced = job.conflicts
    if traced is not None and (traced.found.overlaps or not traced.found.gaps):
        return [] if traced.ordered else _of_trace(job, traced)
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


def _of_trace(job: Job, traced: JobConflicts) -> list[Seen]:
    found = traced.found
    if not found.overlaps:
        return []
    first = found.examples[0]
    at_least = "at least " if found.gaps else ""
    text = (
        f"{at_least}{plural(found.overlaps, 'pair')} of accesses by two ranks touch the same bytes, one of them writing, "
        f"for example ranks {first.ranks[0]} and {first.ranks[1]} in bytes {first.offset:,} to {first.end - 1:,}"
    )
    families = sorted({job.family_of_record(traced.ids[example.file]) for example in found.examples})
    cost = no_cost(job, "a risk, not time")
    return [Seen(text, cost, tuple(families), {"pairs": float(found.overlaps)}, Sure.POSSIBLE)]


RULE = Rule(
    id="possible-conflict",
    find=find,
    parameters=Limits,
    title="ranks may overlap in a shared file",
    seen_as="Several ranks write a file, more bytes than it holds; or, by a trace (DXT), they touch the same bytes. Neither tells in which order: this is never more than possible. With `workalike profile --dxt --events` the rule conflict decides.",
    costs="None: it is a question of correctness.",
    advice="Check that ranks write disjoint ranges, or sync and barrier between them.",
    needs=("POSIX",),
)
