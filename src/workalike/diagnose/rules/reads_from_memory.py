"""Reads faster than any device."""

from __future__ import annotations

from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import READ, no_cost, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Answer, Found, Parameters, Rule, Seen
from workalike.text import size_text


class Limits(Parameters):
    rate: float = Field(5000000000.0, gt=0, description="Bytes per second of one rank's read time.")
    bytes: int = Field(1073741824, ge=0, description="Bytes read of the files.")


def find(job: Job, limits: Limits) -> Found:
    """Files read at a rate that only memory gives."""
    read, spent = counts.bytes_of(job, "READ"), seconds(job, READ)
    here = job.own & (spent > 0) & (counts.ratio(read, spent) > limits.rate)
    total = float(read[here].sum())
    if total < limits.bytes:
        return []
    rate = total / float(spent[here].sum())
    return [
        Seen(
            f"{size_text(total)} were read at {size_text(rate)}/s by each rank: this is memory, not storage",
            no_cost(job),
            job.families_of(here),
            {"bytes": total, "rate": rate},
        )
    ]


RULE = Rule(
    id="reads-from-memory",
    find=find,
    parameters=Limits,
    title="reads faster than any device",
    seen_as="The read rate of a rank exceeds what storage gives.",
    costs="None: it says that the measurement is of memory.",
    advice="Nothing; for a benchmark, read more than the memory, or from other nodes.",
    any_of=("POSIX", "STDIO"),
    answer=Answer.HARMLESS,
)
