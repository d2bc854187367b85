"""Small writes that nothing aggregates."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import AGGREGATED, COLLECTIVE
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Picture, Rule, Seen
from workalike.text import count_text

NOT_AGGREGATED = (
    "Calls are collective, and still small pieces reach the file: switch collective buffering on "
    "(romio_cb_write=enable), use more aggregators, or write larger pieces."
)


class Limits(Parameters):
    writes: int = Field(1000, ge=0, description="Small writes of the job.")
    share: float = Field(0.1, gt=0, description="Share of a file's writes that are small and not aggregated.")


def find(job: Job, limits: Limits) -> Found:
    """Writes below 1 MiB that are not consecutive, or on files of several ranks."""
    made, little = job.total("POSIX", "WRITES"), counts.small(job, "WRITE")
    apart = (made - job.total("POSIX", "CONSEC_WRITES") - counts.opens(job)).clip(0)
    loose = np.where(job.own, np.where(job.shared, little, np.minimum(little, apart)), 0)
    loose = np.where(loose >= limits.share * made, loose, 0)
    total, every = float(loose.sum()), float(made[job.own].sum())
    if total < limits.writes:
        return []
    cost = explained(
        job,
        counts.ratio(loose, made),
        (WRITE,),
        "write time x small writes / writes",
        small_writes=total,
        writes=every,
    )
    text = f"{count_text(total)} of {count_text(every)} writes are below 1 MiB and not consecutive, or on shared files"
    together = job.total("MPI-IO", "COLL_WRITES")[loose > 0].any()
    advice = NOT_AGGREGATED if together else ""
    evidence = {"small_writes": total, "writes": every}
    return [Seen(text, cost, job.families_of(loose > 0), evidence, advice=advice)]


RULE = Rule(
    id="small-writes",
    find=find,
    parameters=Limits,
    title="small writes that nothing aggregates",
    seen_as="Writes below 1 MiB (exactly 1 MiB is not) do not follow each other, or go to files of several ranks.",
    costs="Write time x small writes / writes.",
    advice="Collect the data in a buffer of some MiB, or write collectively so that the library does.",
    snippet="MPI_File_write_at_all(file, offset, data, count, type, &status);",
    language="c",
    other_snippets={
        "fortran": "call MPI_File_write_at_all(file, offset, part, n, MPI_REAL8, status, err)",
        "python": "file.Write_at_all(offset, part)",
    },
    needs=("POSIX",),
    explained_by=(
        "sync-each-write",
        "library-metadata",
        "independent-access",
        "lock-contention",
        "write-amplification",
    ),
    not_this="small writes that follow each other in a file of one rank: the client buffers them.",
    changes=(COLLECTIVE, AGGREGATED),
    picture=Picture.SIZES,
)
