"""Bytes that are read more than once."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose.change import ONE_READER, READ_ONCE
from workalike.diagnose.costs import READ, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.text import percent_text, size_text


class Limits(Parameters):
    share: float = Field(0.10, gt=0, le=1, description="Share of all bytes read that must be redundant.")
    bytes: int = Field(2**30, ge=0, description="Redundant bytes of the job.")


def find(job: Job, limits: Limits) -> Found:
    """The files of which more was read than they hold; files that are written too are left out."""
    read = job.total("POSIX", "BYTES_READ") + job.total("STDIO", "BYTES_READ")
    written = job.total("POSIX", "BYTES_WRITTEN") + job.total("STDIO", "BYTES_WRITTEN")
    extent = np.maximum(job.largest("POSIX", "MAX_BYTE_READ"), job.largest("STDIO", "MAX_BYTE_READ")) + 1
    again = np.where((written == 0) & job.own, read - extent, 0).clip(0)
    total, moved = float(again.sum()), float(read[job.own].sum())
    if total < limits.bytes or total < limits.share * moved:
        return []
    share = np.divide(again, read, out=np.zeros(len(job)), where=read > 0)
    cost = explained(
        job,
        share,
        (READ,),
        "read time x redundant bytes / bytes read",
        redundant_bytes=total,
        bytes_read=moved,
    )
    text = f"{size_text(total)} of {size_text(moved)} read ({percent_text(100 * total / moved)}) were read before"
    return [
        Seen(
            text,
            cost,
            job.families_of(again > 0),
            {"redundant_bytes": total, "bytes_read": moved},
            Sure.CERTAIN,
        )
    ]


RULE = Rule(
    id="redundant-reads",
    title="the same bytes are read again",
    seen_as="The bytes read of a file exceed its last byte read, in files that are not written: the rest was read before.",
    costs="Read time x redundant bytes / bytes read, summed over the files.",
    advice="Read once, on one rank or one rank of each node, and pass the data on by MPI_Bcast; or keep it in memory.",
    snippet="if (rank == 0) read(fd, data, size);\nMPI_Bcast(data, size, MPI_BYTE, 0, MPI_COMM_WORLD);",
    language="c",
    other_snippets={
        "fortran": "if (rank == 0) read(unit) values\ncall MPI_Bcast(values, n, MPI_REAL8, 0, MPI_COMM_WORLD, ierror)",
        "python": 'data = open(name, "rb").read() if comm.rank == 0 else None\ndata = comm.bcast(data, root=0)',
    },
    find=find,
    parameters=Limits,
    any_of=("POSIX", "STDIO"),
    explained_by=("all-ranks-read-all", "read-again-each-epoch", "read-amplification"),
    source="the Cray XE6 paper asks for 1 TiB in a fleet; in one job a tenth of the bytes and 1 GiB.",
    changes=(READ_ONCE, ONE_READER),
)
