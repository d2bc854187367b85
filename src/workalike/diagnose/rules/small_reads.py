"""Small reads that read-ahead cannot help."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import AGGREGATED, IN_ORDER
from workalike.diagnose.costs import READ, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Picture, Rule, Seen
from workalike.text import count_text


class Limits(Parameters):
    reads: int = Field(1000, ge=0, description="Reads of the job that are small and out of order.")
    share: float = Field(0.5, gt=0, description="Share of a file's reads.")


def find(job: Job, limits: Limits) -> Found:
    """Reads below 1 MiB that go backward or jump."""
    made, little = job.total("POSIX", "READS"), counts.small(job, "READ")
    jumps = (made - job.total("POSIX", "CONSEC_READS") - counts.opens(job)).clip(0)
    loose = np.where(job.own, np.minimum(little, jumps), 0)
    loose = np.where(loose >= limits.share * made, loose, 0)
    total, every = float(loose.sum()), float(made[job.own].sum())
    if total < limits.reads:
        return []
    cost = explained(
        job,
        counts.ratio(loose, made),
        (READ,),
        "read time x small reads out of order / reads",
        small_reads=total,
        reads=every,
    )
    text = (
        f"{count_text(total)} of {count_text(every)} reads are below 1 MiB and do not follow the one before"
    )
    return [Seen(text, cost, job.families_of(loose > 0), {"small_reads": total, "reads": every})]


RULE = Rule(
    id="small-reads",
    find=find,
    parameters=Limits,
    title="small reads that read-ahead cannot help",
    seen_as="Reads below 1 MiB jump in the file.",
    costs="Read time x small reads out of order / reads.",
    advice="Read a larger block and pick from it; sort the reads by offset; read collectively.",
    snippet="""MPI_File_set_view(file, 0, MPI_BYTE, wanted, "native", info);
MPI_File_read_all(file, values, count, MPI_BYTE, &status);""",
    language="c",
    other_snippets={
        "fortran": """call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_BYTE, wanted, &
                       "native", info, err)
call MPI_File_read_all(file, values, n, MPI_BYTE, status, err)""",
        "python": """file.Set_view(0, MPI.BYTE, wanted)
file.Read_all(values)""",
    },
    needs=("POSIX",),
    explained_by=("all-ranks-read-all", "read-again-each-epoch", "independent-access", "read-amplification"),
    changes=(IN_ORDER, AGGREGATED),
    picture=Picture.SIZES,
)
