"""Collective buffering of large blocks on few aggregators."""

from __future__ import annotations

from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import INDEPENDENT
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.text import size_text


class Limits(Parameters):
    size: int = Field(4194304, ge=0, description="Mean bytes of a collective call, at least.")
    nodes: float = Field(0.5, gt=0, description="Writers for each node, fewer than.")


def find(job: Job, limits: Limits) -> Found:
    """Collective writes of large blocks that few ranks perform."""
    nodes = counts.nodes_of(job)
    calls = job.total("MPI-IO", "COLL_WRITES", "SPLIT_WRITES")
    if not calls.any():
        return []
    if nodes is None:
        return CannotTell(
            "the number of nodes is not known: no trace has the hosts of all ranks, and ranks_per_node is not set in [job] of the site file"
        )
    mean = counts.ratio(job.total("MPI-IO", "BYTES_WRITTEN"), calls)
    below = counts.ratio(job.total("POSIX", "BYTES_WRITTEN"), job.total("POSIX", "WRITES"))
    writers = counts.writers(job)
    here = (
        job.own & (mean >= limits.size) & (below <= mean) & (writers > 0) & (writers < limits.nodes * nodes)
    )
    if not here.any():
        return []
    cost = explained(job, here, (WRITE,), "write time of these files", nodes=nodes)
    return [
        Seen(
            f"blocks of {size_text(float(mean[here].max()))} pass through {float(writers[here].min()):.3g} writers on {nodes} nodes",
            cost,
            job.families_of(here),
            {"writers": float(writers[here].min()), "nodes": nodes},
        )
    ]


RULE = Rule(
    id="collective-hurts",
    find=find,
    parameters=Limits,
    title="collective buffering that hurts",
    seen_as="Large collective blocks are written in pieces no larger, by far fewer ranks than there are nodes.",
    costs="Write time of these files.",
    advice="Switch collective buffering off for this file, or allow more aggregators.",
    snippet='MPI_Info_set(info, "romio_cb_write", "disable");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "romio_cb_write", "disable", ierror)',
        "python": 'info.Set("romio_cb_write", "disable")',
    },
    needs=("MPI-IO", "POSIX"),
    changes=(INDEPENDENT,),
)
