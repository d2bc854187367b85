"""Metadata takes much of the I/O time."""

from __future__ import annotations

from pydantic import Field

from workalike.diagnose.costs import META, READ, WRITE, explained, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import percent_text, seconds_text


class Limits(Parameters):
    share: float = Field(0.25, gt=0, description="Share of the I/O time.")
    ranks: int = Field(192, ge=0, description="Ranks of the job.")
    seconds: float = Field(30.0, gt=0, description="Metadata seconds per rank.")


def find(job: Job, limits: Limits) -> Found:
    """The job's metadata time against its I/O time."""
    meta = float(seconds(job, META)[job.on_shared].sum())
    every = float(seconds(job, META, READ, WRITE)[job.on_shared].sum())
    if job.nprocs < limits.ranks or meta < limits.share * every or meta < limits.seconds * job.nprocs:
        return []
    cost = explained(job, job.on_shared, (META,), "metadata time")
    heavy = job.on_shared & (seconds(job, META) >= 0.01 * meta)
    return [
        Seen(
            f"{percent_text(100 * meta / every)} of the I/O time, {seconds_text(meta / job.nprocs)} on each rank, is metadata",
            cost,
            job.families_of(heavy),
            {"share": meta / every, "seconds_per_rank": meta / job.nprocs},
        )
    ]


RULE = Rule(
    id="metadata-share",
    find=find,
    parameters=Limits,
    title="metadata takes much of the I/O time",
    seen_as="Opens, closes, stats and seeks take a large share of the I/O time, on many ranks.",
    costs="Metadata time of all files.",
    advice="Open fewer files, by fewer ranks; share files, or let one rank open and pass on.",
    shared_storage=True,
    any_of=("POSIX", "STDIO", "MPI-IO"),
    explained_by=(
        "close-flushes",
        "stat-storm",
        "reopened-often",
        "tiny-files",
        "useless-seeks",
        "crowded-folder",
        "file-per-process",
        "too-many-stripes",
    ),
    source="the Cray XE6 paper.",
)
