"""Every rank reads the whole file."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import ONE_READER
from workalike.diagnose.costs import READ, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import count_text, size_text


class Limits(Parameters):
    share: float = Field(0.5, gt=0, description="Bytes read / extent, as a share of the ranks.")
    ranks: int = Field(4, ge=0, description="Ranks of the file.")


def find(job: Job, limits: Limits) -> Found:
    """Files that are only read, and of which as many copies were read as there are ranks."""
    read = counts.bytes_of(job, "READ")
    copies = counts.ratio(read, job.extent) / np.maximum(counts.opens_per_rank(job), 1)
    here = job.own & (counts.bytes_of(job, "WRITE") == 0) & (read > 0) & (job.ranks >= limits.ranks)
    here &= copies >= limits.share * job.ranks
    if not here.any():
        return []
    share = np.where(here, 1 - counts.ratio(np.ones(len(job)), copies), 0)
    most = float(copies[here].max())
    cost = explained(job, share, (READ,), "read time x (1 - extent / bytes read)", copies=most)
    text = (
        f"{count_text(round(most))} copies were read of a file; {size_text(float(read[here].sum()))} in all"
    )
    return [Seen(text, cost, job.families_of(here), {"copies": most, "bytes_read": float(read[here].sum())})]


RULE = Rule(
    id="all-ranks-read-all",
    find=find,
    parameters=Limits,
    title="every rank reads the whole file",
    seen_as="The bytes read of a file are about its extent times the number of ranks.",
    costs="Read time x (1 - extent / bytes read).",
    advice="Read on one rank, or on one rank of each node, and broadcast.",
    snippet="if (rank == 0) read(fd, data, size);\nMPI_Bcast(data, size, MPI_BYTE, 0, MPI_COMM_WORLD);",
    language="c",
    other_snippets={
        "fortran": "if (rank == 0) read(unit) values\ncall MPI_Bcast(values, n, MPI_REAL8, 0, MPI_COMM_WORLD, ierror)",
        "python": 'data = open(name, "rb").read() if comm.rank == 0 else None\ndata = comm.bcast(data, root=0)',
    },
    any_of=("POSIX", "STDIO"),
    changes=(ONE_READER,),
)
