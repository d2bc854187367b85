"""The same files are read in each epoch."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import READ, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import size_text


class Limits(Parameters):
    opens: float = Field(2.0, gt=0, description="Opens per rank and file.")
    near: float = Field(0.9, gt=0, description="Bytes read, as a share of opens x extent.")


def find(job: Job, limits: Limits) -> Found:
    """Files that are only read, opened again and again, and read as a whole each time."""
    read, passes = counts.bytes_of(job, "READ"), counts.opens_per_rank(job)
    here = job.own & (counts.bytes_of(job, "WRITE") == 0) & (read > 0) & (passes >= limits.opens)
    here &= read >= limits.near * passes * job.extent
    if not here.any():
        return []
    epochs = float(np.median(passes[here]))
    share = np.where(here, 1 - counts.ratio(np.ones(len(job)), passes), 0)
    cost = explained(job, share, (READ,), "read time x (1 - 1 / epochs)", epochs=epochs)
    text = f"files are opened and read {epochs:.3g} times by each rank, {size_text(float(read[here].sum()))} in all"
    return [Seen(text, cost, job.families_of(here), {"epochs": epochs, "files": float(here.sum())})]


RULE = Rule(
    id="read-again-each-epoch",
    find=find,
    parameters=Limits,
    title="the same files are read in each epoch",
    seen_as="A rank opens a file k times, and reads k times its extent.",
    costs="Read time x (1 - 1/k).",
    advice="Keep the data in memory or on a local disk after the first epoch.",
    snippet="""samples = [load(path) for path in paths]  # once, before the first epoch
for epoch in range(epochs):
    train(shuffled(samples))""",
    language="python",
    any_of=("POSIX", "STDIO"),
    explained_by=("all-ranks-read-all",),
)
