"""A sync after each write."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import SYNC_ONCE
from workalike.diagnose.costs import META, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.facts.counters import SUMS
from workalike.text import count_text


class Limits(Parameters):
    per_write: float = Field(0.5, gt=0, description="Syncs for each write of a file.")
    syncs: int = Field(100, ge=1, description="Syncs of the job on such files.")


def find(job: Job, limits: Limits) -> Found:
    """Files with as many syncs as writes, at any interface. Collective syncs of MPI-IO count once per rank."""
    chosen = np.zeros(len(job), dtype=bool)
    syncs_all = writes_all = 0.0
    for module, syncs, writes in (
        ("POSIX", ("FSYNCS", "FDSYNCS"), ("WRITES",)),
        ("STDIO", ("FLUSHES",), ("WRITES",)),
        ("MPI-IO", ("SYNCS",), SUMS["MPI-IO"]["WRITES"]),
    ):
        done, made = job.total(module, *syncs), job.total(module, *writes)
        if module == "MPI-IO":  # a collective sync is counted on each rank
            done, made = (counts.ratio(x, np.maximum(job.ranks_in(module), 1.0)) for x in (done, made))
        here = job.own & (made > 0) & (done >= limits.per_write * made)
        chosen |= here
        if float(done[here].sum()) > syncs_all:
            syncs_all, writes_all = float(done[here].sum()), float(made[here].sum())
    if syncs_all < limits.syncs:
        return []
    kinds = (WRITE, META) if not job.total("POSIX", "FSYNCS", "FDSYNCS").any() else (WRITE,)
    cost = explained(
        job, chosen, kinds, "write time (syncs are in it) of these files", syncs=syncs_all, writes=writes_all
    )
    text = f"{count_text(syncs_all)} syncs for {count_text(writes_all)} writes"
    evidence = {"syncs": syncs_all, "writes": writes_all}
    return [Seen(text, cost, job.families_of(chosen), evidence, Sure.CERTAIN)]


RULE = Rule(
    id="sync-each-write",
    title="a sync after each write",
    seen_as="fsync, fdatasync, fflush or MPI_File_sync is called about as often as data is written.",
    costs="Write time of these files, which contains the syncs: a log does not separate them.",
    advice="Sync once, before the file is closed, or once for each checkpoint.",
    snippet="for (i = 0; i < n; i++) write(fd, part[i], size);\nfsync(fd);  /* once */\nclose(fd);",
    language="c",
    other_snippets={
        "fortran": "do i = 1, n\n  write(unit) part(:, i)\nend do\nflush(unit)  ! once\nclose(unit)",
        "python": "for part in parts:\n    file.write(part)\nfile.flush()\nos.fsync(file.fileno())  # once\nfile.close()",
    },
    find=find,
    parameters=Limits,
    any_of=("POSIX", "STDIO", "MPI-IO"),
    changes=(SYNC_ONCE,),
)
