"""Files are asked for their state again and again."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import NO_STATS
from workalike.diagnose.costs import META, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.text import count_text


class Limits(Parameters):
    per_open: float = Field(2.0, gt=0, description="stat calls for each open.")
    per_rank: float = Field(3.0, gt=0, description="Or stat calls of one file for each rank of the job.")
    beside_opens: float = Field(
        1.5, ge=0, description="Then more stat calls than this for each open: programs may ask once for each."
    )
    stats: int = Field(1000, ge=0, description="stat calls of the job.")


def find(job: Job, limits: Limits) -> Found:
    """stat calls by far outnumber opens, or each rank asks for the state of a file again and again."""
    if not job.has("POSIX", "STATS"):
        return CannotTell("the log did not measure stat calls")
    stats, opened = job.total("POSIX", "STATS"), counts.opens(job)
    each = stats / max(job.nprocs, 1)
    again = (each >= limits.per_rank) & (stats > limits.beside_opens * opened)
    here = job.own & (stats > 0) & ((stats >= limits.per_open * opened) | again)
    total, opens = float(stats[here].sum()), float(opened[here].sum())
    if total < limits.stats:
        return []
    cost = explained(
        job,
        np.where(here, counts.ratio(stats, stats + opened + job.total("POSIX", "SEEKS")), 0),
        (META,),
        "metadata time x stats / metadata calls",
        stats=total,
    )
    return [
        Seen(
            f"{count_text(total)} stat calls for {count_text(opens)} opens, "
            f"up to {float(each[here].max()):.3g} of a file for each rank",
            cost,
            job.families_of(here),
            {"stats": total, "opens": opens, "per_rank_and_file": float(each[here].max())},
        )
    ]


RULE = Rule(
    id="stat-storm",
    find=find,
    parameters=Limits,
    title="stat calls in great number",
    seen_as="stat is called far more often than files are opened, or each rank calls it several times for one file, without opening it as often.",
    costs="Metadata time x stats / (opens + stats + seeks).",
    advice="Ask on one rank and pass the answer on; keep sizes in memory instead of asking again.",
    snippet="""if (rank == 0) found = access(name, F_OK) == 0;
MPI_Bcast(&found, 1, MPI_INT, 0, comm);""",
    language="c",
    other_snippets={
        "fortran": """if (rank == 0) inquire (file=name, exist=found)
call MPI_Bcast(found, 1, MPI_LOGICAL, 0, comm, err)""",
        "python": "found = comm.bcast(path.exists() if rank == 0 else None)",
    },
    needs=("POSIX",),
    explained_by=("reopened-often",),
    not_this="one stat for each open, as Python's open() makes; logs of programs with glibc 2.33 or newer by Darshan: it does not see stat there.",
    changes=(NO_STATS,),
)
