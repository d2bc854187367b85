"""A large shared file on few targets."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.change import STRIPED
from workalike.diagnose.costs import READ, WRITE, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen
from workalike.text import count_text, size_text


class Limits(Parameters):
    bytes: float = Field(100000000000.0, gt=0, description="Bytes on one stripe.")
    nodes: float = Field(0.25, ge=0, description="Or stripes for each node, fewer than.")
    least: int = Field(1073741824, ge=0, description="Bytes of a file with few stripes for the nodes.")


def find(job: Job, limits: Limits) -> Found:
    """Shared files with too many bytes on each stripe, or with fewer stripes than their nodes keep busy."""
    stripes = job.facts.stripe_count.astype(np.float64)
    if not (stripes > 0).any():
        return CannotTell("the log does not know the stripes of files (no LUSTRE record)")
    moved = counts.bytes_of(job, "READ") + counts.bytes_of(job, "WRITE")
    each = counts.ratio(moved, stripes)
    wide = job.own & job.shared & (stripes > 0)
    large = wide & (moved >= limits.least)
    nodes = counts.nodes_of(job) if large.any() else None
    here = wide & (each > limits.bytes)
    if nodes is not None:
        here |= large & (stripes < limits.nodes * nodes)
    if not here.any():
        return []
    cost = explained(job, here, (READ, WRITE), "read and write time of these files")
    most, fewest = float(each[here].max()), float(stripes[here].min())
    text = f"{size_text(most)} pass through each of {count_text(fewest)} stripes"
    evidence = {"bytes_per_stripe": most, "stripes": fewest}
    if nodes is not None:
        text += f", on {count_text(nodes)} nodes"
        evidence["nodes"] = float(nodes)
    return [Seen(text, cost, job.families_of(here), evidence)]


RULE = Rule(
    id="too-few-stripes",
    find=find,
    parameters=Limits,
    title="a large shared file on few targets",
    seen_as="A shared file moves very many bytes for each of its stripes, or it has fewer stripes than a quarter of the nodes.",
    costs="Read and write time of these files.",
    advice="Give the folder more stripes before the file is made.",
    snippet="lfs setstripe -c 32 FOLDER",
    language="sh",
    needs=("LUSTRE",),
    uses=("POSIX", "STDIO"),
    changes=(STRIPED,),
)
