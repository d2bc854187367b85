"""One rank or node is slow."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, READ, WRITE, of_one_rank, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import seconds_text


class Limits(Parameters):
    ratio: float = Field(3.0, gt=0, description="Slowest rank's time / mean time.")
    bytes: float = Field(0.1, gt=0, description="Difference of its bytes from the mean, as a share.")


def find(job: Job, limits: Limits) -> Found:
    """The slowest rank takes far longer than the mean, for the same bytes."""
    out: list[Seen] = []
    if job.nprocs < 4:
        return out
    times = counts.by_rank(job, "POSIX", ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"))
    moved = counts.by_rank(job, "POSIX", ("BYTES_READ", "BYTES_WRITTEN"))
    for family, seconds_of in times.items():
        sizes = moved[family]
        active = sizes > 0
        if active.sum() < 4:
            continue
        slowest = int(np.argmax(seconds_of))
        mean, even = float(seconds_of[active].mean()), float(sizes[active].mean())
        if (
            seconds_of[slowest] >= limits.ratio * mean > 0
            and abs(sizes[slowest] - even) <= limits.bytes * even
        ):
            out.append(_seen(job, (family,), slowest, float(seconds_of[slowest]), mean))
    reduced = counts.slowest_of(job)
    for row, rank, slowest_s, size in reduced:
        mean = float(seconds(job, READ, WRITE, META)[row]) / job.nprocs
        even = float(counts.bytes_of(job, "READ")[row] + counts.bytes_of(job, "WRITE")[row]) / job.nprocs
        if job.own[row] and slowest_s >= limits.ratio * mean > 0 and abs(size - even) <= limits.bytes * even:
            out.append(_seen(job, (int(job.family[row]),), rank, slowest_s, mean))
    return out


def _seen(job: Job, families: tuple[int, ...], rank: int, slowest: float, mean: float) -> Seen:
    formula = "slowest rank's time - mean time"
    which = np.isin(job.family, families)
    cost = of_one_rank(job, which, slowest - mean, formula, slowest_s=slowest, mean_s=mean)
    text = f"rank {rank} takes {seconds_text(slowest)}, the mean is {seconds_text(mean)}, for the same bytes"
    return Seen(text, cost, families, {"rank": rank, "slowest_s": slowest, "mean_s": mean})


RULE = Rule(
    id="slow-rank",
    find=find,
    parameters=Limits,
    title="one rank or node is slow",
    seen_as="The slowest rank takes a multiple of the mean time for the same bytes.",
    costs="Slowest rank's time less the mean: the others wait for it.",
    advice="Look at the rank's node: the same rank in several runs says node, changing ranks say storage.",
    needs=("POSIX",),
    explained_by=("slow-target",),
)
