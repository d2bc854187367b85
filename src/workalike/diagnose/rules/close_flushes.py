"""A close that flushes data is counted as metadata."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, READ, WRITE, explained, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.text import count_text, seconds_text


class Limits(Parameters):
    seconds_per_open: float = Field(0.1, gt=0, description="Metadata seconds for each open.")
    share: float = Field(0.25, gt=0, description="Share of the file's I/O time.")
    after: float = Field(
        0.5, gt=0, description="Last close after last write, as a share of the metadata time of a rank."
    )


def find(job: Job, limits: Limits) -> Found:
    """Written files with few opens, much metadata time, and a close long after the last write."""
    table = job.module("POSIX")
    if table is None:
        return CannotTell("the log has no POSIX module")
    last = {}
    for name in ("F_WRITE_END_TIMESTAMP", "F_CLOSE_END_TIMESTAMP"):
        out = np.zeros(len(job))
        column = table.fcounters[:, table.fcounter_names.index(name)]
        np.maximum.at(out, table.file, np.where(np.isfinite(column), column, 0.0).clip(0, job.run_time))
        last[name[2:7]] = out
    waits = np.where(last["WRITE"] > 0, last["CLOSE"] - last["WRITE"], 0)
    meta, opened, ranks = seconds(job, META), counts.opens(job), np.maximum(job.ranks, 1)
    here = job.own & (counts.bytes_of(job, "WRITE") > 0) & (opened <= 2 * ranks)
    here &= (meta >= limits.seconds_per_open * np.maximum(opened, 1)) & (
        meta >= limits.share * seconds(job, META, READ, WRITE)
    )
    here &= waits >= limits.after * meta / ranks
    if not here.any():
        return []
    cost = explained(job, here, (META,), "metadata time of these files")
    text = f"{seconds_text(float(meta[here].sum()))} of metadata time for {count_text(float(opened[here].sum()))} opens, with closes up to {seconds_text(float(waits[here].max()))} after the last write: the close writes data"
    return [
        Seen(
            text,
            cost,
            job.families_of(here),
            {
                "metadata_s": float(meta[here].sum()),
                "opens": float(opened[here].sum()),
                "close_after_write_s": float(waits[here].max()),
            },
        )
    ]


RULE = Rule(
    id="close-flushes",
    find=find,
    parameters=Limits,
    title="a close that flushes, counted as metadata",
    seen_as="Few opens have a long metadata time, and the last close comes long after the last write.",
    costs="Metadata time of these files.",
    advice="This is time for data: do not make fewer files for it. Write earlier or less; flush while computing.",
    needs=("POSIX",),
)
