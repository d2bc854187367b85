"""Bytes are written over within one open."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Found, Parameters, Rule, Seen
from workalike.text import size_text


class Limits(Parameters):
    ratio: float = Field(1.1, gt=0, description="Bytes written / extent, within one open.")
    bytes: int = Field(1073741824, ge=0, description="Bytes written again.")


def find(job: Job, limits: Limits) -> Found:
    """Files of which more is written than they hold; writing again after another open is not counted."""
    written = job.total("POSIX", "BYTES_WRITTEN")
    extent = (job.largest("POSIX", "MAX_BYTE_WRITTEN") + 1) * np.maximum(counts.opens_per_rank(job), 1)
    here = job.own & (counts.ratio(written, extent) >= limits.ratio)
    again = float((written - extent)[here].sum())
    if not here.any() or again < limits.bytes:
        return []
    share = np.where(here, 1 - counts.ratio(extent, written), 0)
    cost = explained(job, share, (WRITE,), "write time x (1 - extent / bytes written)", bytes_again=again)
    text = f"{size_text(again)} of {size_text(float(written[here].sum()))} were written over"
    return [Seen(text, cost, job.families_of(here), {"bytes_again": again})]


RULE = Rule(
    id="bytes-written-twice",
    find=find,
    parameters=Limits,
    title="bytes are written twice",
    seen_as="The bytes written of a file exceed its last byte written, within one open.",
    costs="Write time x (1 - extent / bytes written).",
    advice="Write each part once: collect it in memory until it is final.",
    snippet="""/* Leave room for the header, and write it once, when it is final. */
MPI_File_write_at_all(file, header_size + offset, part, n, type, &status);
if (rank == 0) MPI_File_write_at(file, 0, &header, 1, head, &status);""",
    language="c",
    needs=("POSIX",),
    explained_by=("fill-values", "library-metadata"),
    not_this="a file that is opened again may be appended to: a log has no offsets of appends.",
)
