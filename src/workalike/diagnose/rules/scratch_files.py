"""Files that a rank writes for itself and reads back."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen, Sure
from workalike.facts.records import BoolArray
from workalike.text import count_text, size_text


class Limits(Parameters):
    bytes: int = Field(1073741824, ge=0, description="Bytes written to such files.")
    read: float = Field(0.9, gt=0, description="Bytes read back / bytes written of a file.")
    ranks: float = Field(0.5, gt=0, le=1, description="Such files, as a share of the ranks.")


def find(job: Job, limits: Limits) -> Found:
    """Files of one rank that it writes first and then reads as a whole."""
    written, read = counts.bytes_of(job, "WRITE"), counts.bytes_of(job, "READ")
    here = job.on_shared & ~job.shared & (written > 0) & (read >= limits.read * written) & _written_first(job)
    size, files = float(written[here].sum()), int(here.sum())
    if size < limits.bytes or files < limits.ranks * job.nprocs:
        return []
    cost = explained(job, here, (READ, WRITE, META), "all I/O time of these files", bytes=size)
    text = f"{count_text(files)} files of one rank each, {size_text(size)}, are written and read back by their rank"
    return [Seen(text, cost, job.families_of(here), {"files": float(files), "bytes": size}, Sure.POSSIBLE)]


def _written_first(job: Job) -> BoolArray:
    """bool[N]: files whose first write comes before their first read, in a module that has both."""
    out = np.zeros(len(job), dtype=bool)
    for module in ("POSIX", "STDIO"):
        table = job.module(module)
        if table is not None:
            names = table.fcounter_names
            write, read = (
                table.fcounters[:, names.index(f"F_{kind}_START_TIMESTAMP")] for kind in ("WRITE", "READ")
            )
            out[table.file[(write > 0) & (read > write)]] = True
    return out


RULE = Rule(
    id="scratch-files",
    find=find,
    parameters=Limits,
    title="scratch files of each rank on shared storage",
    seen_as="Most ranks write files of their own and read them back in the same run. A log does not show whether files are removed before the end.",
    costs="All I/O time of these files: it passes through shared storage.",
    advice="Where nothing else reads them, keep them in memory or on a disk of the node, and let TMPDIR name it.",
    snippet="export TMPDIR=/local/$SLURM_JOB_ID",
    language="sh",
    shared_storage=True,
    any_of=("POSIX", "STDIO"),
    explained_by=("file-per-process", "tiny-files", "sync-each-write"),
)
