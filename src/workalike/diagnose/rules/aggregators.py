"""Too few or too many aggregators."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import AGGREGATORS
from workalike.diagnose.costs import WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen


class Limits(Parameters):
    few: float = Field(0.25, gt=0, description="Writers for each node, fewer than.")
    many: float = Field(8.0, gt=0, description="Writers for each node, more than.")


def find(job: Job, limits: Limits) -> Found:
    """Effective writers of collective files against nodes."""
    calls = job.total("MPI-IO", "COLL_WRITES", "SPLIT_WRITES")
    if not calls.any():
        return []
    writers = counts.writers(job)
    here = job.own & (calls > 0) & (writers > 0)
    if not here.any():
        return []
    nodes = counts.nodes_of(job)  # reads a trace, which takes long
    if nodes is None:
        return CannotTell(
            "the number of nodes is not known: no trace has the hosts of all ranks, and ranks_per_node is not set in [job] of the site file"
        )
    here &= (writers < limits.few * nodes) | (writers > limits.many * nodes)
    if not here.any():
        return []
    cost = explained(job, here, (WRITE,), "write time of these files", nodes=nodes)
    seen = float(np.median(writers[here]))
    return [
        Seen(
            f"{seen:.3g} ranks write a collective file on {nodes} nodes",
            cost,
            job.families_of(here),
            {"writers": seen, "nodes": nodes},
        )
    ]


RULE = Rule(
    id="aggregators",
    find=find,
    parameters=Limits,
    title="too few or too many aggregators",
    seen_as="The ranks that write a collective file are far fewer, or far more, than the nodes.",
    costs="Write time of these files.",
    advice="Set one or two aggregators for each node.",
    snippet='MPI_Info_set(info, "cb_nodes", "32");',
    language="c",
    other_snippets={
        "fortran": 'call MPI_Info_set(info, "cb_nodes", "32", ierror)',
        "python": 'info.Set("cb_nodes", "32")',
    },
    needs=("MPI-IO", "POSIX"),
    explained_by=("collective-hurts",),
    changes=(AGGREGATORS,),
)
