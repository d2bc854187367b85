"""One rank does the I/O of all."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import ALL_WRITE
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Picture, Rule, Seen
from workalike.text import count_text, plural, size_text


class Limits(Parameters):
    share: float = Field(0.01, gt=0, description="Effective writers, as a share of the ranks.")
    bytes: int = Field(1073741824, ge=0, description="Bytes of the file family.")
    ranks: int = Field(8, ge=0, description="Ranks of the job.")


def find(job: Job, limits: Limits) -> Found:
    """Families that few ranks write, in a job of many."""
    if job.nprocs < limits.ranks:
        return []
    most = max(1.5, limits.share * job.nprocs)
    written = counts.bytes_of(job, "WRITE")
    writers = counts.writers(job)
    here = job.own & job.shared & (writers > 0) & (writers <= most)
    here |= job.own & (job.ranks == 1)
    out: list[Seen] = []
    for family in job.families:
        rows = here & (job.family == family.number)
        size = float(written[rows].sum())
        few = max(float(counts.ranks_writing(job, rows)), float(writers[rows & job.shared].max(initial=0.0)))
        if size < limits.bytes or few > most:
            continue
        spent = explained(job, rows, (WRITE,), "write time of one rank, while the others wait")
        cost = replace(spent, slowest_s=spent.bound_s, terms={**spent.terms, "bytes": size})
        out.append(
            Seen(
                f"{size_text(size)} are written by {plural(max(1, round(few)), 'rank')} of {count_text(job.nprocs)}",
                cost,
                (family.number,),
                {"bytes": size, "writers": few},
            )
        )
    return out


RULE = Rule(
    id="one-writer",
    find=find,
    parameters=Limits,
    title="one rank does the I/O of all",
    seen_as="A family of files is written by one rank, or by at most a hundredth of the ranks.",
    costs="Write time of that rank: the others may wait for it.",
    advice="Let all ranks write their part, collectively.",
    snippet="MPI_File_write_at_all(file, offset, part, count, type, &status);",
    language="c",
    other_snippets={
        "fortran": "call MPI_File_write_at_all(file, offset, part, n, MPI_REAL8, status, err)",
        "python": "file.Write_at_all(offset, part)",
    },
    any_of=("POSIX", "STDIO"),
    explained_by=("too-few-stripes", "slow-target", "sync-each-write"),
    changes=(ALL_WRITE,),
    picture=Picture.RANKS,
)
