"""Ranks do unequal amounts of I/O."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, READ, WRITE, of_one_rank, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Picture, Rule, Seen

EQUAL_BYTES = 1.1
"""Bytes of the busiest rank / mean, below which the data are spread evenly."""
EQUAL = (
    "The bytes are spread evenly, and the times are not: look for what slows the busiest rank down (its node, its core, "
    "its storage target, or what only it does) before the data are spread anew."
)


class Limits(Parameters):
    ratio: float = Field(2.0, gt=0, description="Largest / mean, of bytes or time.")


def find(job: Job, limits: Limits) -> Found:
    """Families whose busiest rank moves, or takes, a multiple of the mean."""
    out: list[Seen] = []
    if job.nprocs < 4:
        return out
    # Below collective calls, few ranks move the data of all on purpose.
    together = job.total("MPI-IO", "COLL_WRITES", "COLL_READS", "SPLIT_WRITES", "SPLIT_READS") > 0
    times = counts.by_rank(job, "POSIX", ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"))
    moved = counts.by_rank(job, "POSIX", ("BYTES_READ", "BYTES_WRITTEN"))
    for family, spent in times.items():
        sizes = moved[family]
        if together[job.family == family].any():
            continue
        if np.count_nonzero(sizes) < 2 or not spent.any():
            continue
        by_bytes, by_time = float(sizes.max() / sizes.mean()), float(spent.max() / spent.mean())
        if max(by_bytes, by_time) >= limits.ratio:
            out.append(_seen(job, family, float(spent.max()), float(spent.mean()), by_bytes, by_time))
    for row, _, slowest, size in counts.slowest_of(job):
        mean = float(seconds(job, READ, WRITE, META)[row]) / job.nprocs
        even = float(counts.bytes_of(job, "READ")[row] + counts.bytes_of(job, "WRITE")[row]) / job.nprocs
        if job.own[row] and not together[row] and mean > 0 and even > 0 and slowest >= limits.ratio * mean:
            out.append(_seen(job, int(job.family[row]), slowest, mean, size / even, slowest / mean))
    hidden = counts.hidden_ranks(job)
    return CannotTell(hidden) if hidden and not out else out


def _seen(job: Job, family: int, most: float, mean: float, by_bytes: float, by_time: float) -> Seen:
    formula = "busiest rank's time - mean time"
    cost = of_one_rank(job, job.family == family, most - mean, formula, slowest_s=most, mean_s=mean)
    text = f"the busiest rank takes {by_time:.3g} times the mean time, with {by_bytes:.3g} times the bytes"
    evidence = {"time_ratio": by_time, "bytes_ratio": by_bytes}
    return Seen(text, cost, (family,), evidence, advice=EQUAL if by_bytes < EQUAL_BYTES else "")


RULE = Rule(
    id="unequal-ranks",
    find=find,
    parameters=Limits,
    title="ranks do unequal amounts of I/O",
    seen_as="The busiest rank of a family moves, or takes, a multiple of the mean.",
    costs="Busiest rank's time less the mean.",
    advice="Spread the data evenly, or let collective buffering do so.",
    snippet="""MPI_Info_set(info, "romio_cb_write", "enable");
MPI_File_write_at_all(file, offset, part, count, type, &status);""",
    language="c",
    other_snippets={
        "fortran": """call MPI_Info_set(info, "romio_cb_write", "enable", err)
call MPI_File_write_at_all(file, offset, part, n, MPI_REAL8, status, err)""",
        "python": """info.Set("romio_cb_write", "enable")
file.Write_at_all(offset, part)""",
    },
    needs=("POSIX",),
    explained_by=(
        "slow-target",
        "slow-rank",
        "one-writer",
        "sync-each-write",
        "independent-access",
        "library-metadata",
        "close-flushes",
        "fill-values",
    ),
    picture=Picture.RANKS,
)
