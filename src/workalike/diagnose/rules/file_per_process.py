"""A file for each process, at scale."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose.change import MERGED
from workalike.diagnose.costs import META, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import count_text


class Limits(Parameters):
    ranks: int = Field(4096, ge=2, description="Ranks of the job.")
    share: float = Field(0.9, gt=0, description="Files of the family for each rank.")


def find(job: Job, limits: Limits) -> Found:
    """A family with about one file per rank, in a large job."""
    if job.nprocs < limits.ranks:
        return []
    here = np.zeros(len(job), dtype=bool)
    of_one_rank = job.on_shared & ~job.shared
    for family in job.families:
        rows = (
            of_one_rank & (job.family == family.number) if family.files >= limits.share * job.nprocs else None
        )
        if rows is not None and rows.sum() >= limits.share * job.nprocs:
            here |= rows
    if not here.any():
        return []
    cost = explained(job, here, (META,), "metadata time of these files", files=float(here.sum()))
    return [
        Seen(
            f"{count_text(int(here.sum()))} files of one rank each, in a job of {count_text(job.nprocs)} ranks",
            cost,
            job.families_of(here),
            {"files": float(here.sum())},
        )
    ]


RULE = Rule(
    id="file-per-process",
    find=find,
    parameters=Limits,
    title="a file for each process, at scale",
    seen_as="A family has about one file for each rank, in a job of thousands of ranks.",
    costs="Metadata time of these files.",
    advice="Share files between the ranks of a node or of a group, or write one file collectively.",
    snippet="""MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, &node);
MPI_File_open(node, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);""",
    language="c",
    other_snippets={
        "fortran": """call MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, node, err)
call MPI_File_open(node, name, MPI_MODE_CREATE + MPI_MODE_WRONLY, &
                   info, file, err)""",
        "python": """node = comm.Split_type(MPI.COMM_TYPE_SHARED)
file = MPI.File.Open(node, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)""",
    },
    shared_storage=True,
    any_of=("POSIX", "STDIO"),
    changes=(MERGED,),
)
