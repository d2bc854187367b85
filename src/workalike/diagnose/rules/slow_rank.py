"""One rank or node is slow."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose import counts
from workalike.diagnose.costs import META, READ, WRITE, of_one_rank, seconds
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Picture, Rule, Seen
from workalike.text import plural, seconds_text


class Limits(Parameters):
    ratio: float = Field(3.0, gt=0, description="Slowest rank's time / mean time.")
    bytes: float = Field(0.1, gt=0, description="Difference of its bytes from the mean, as a share.")
    nodes: int = Field(3, ge=2, description="Nodes with a trace, for a slow node.")


def find(job: Job, limits: Limits) -> Found:
    """The slowest rank takes far longer than the mean, for the same bytes."""
    out: list[Seen] = []
    if job.nprocs < 4:
        return out
    times = counts.by_rank(job, "POSIX", ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"))
    moved = counts.by_rank(job, "POSIX", ("BYTES_READ", "BYTES_WRITTEN"))
    for family, seconds_of in times.items():
        sizes = moved[family]
        active = sizes > 0
        if active.sum() < 4:
            continue
        slowest = int(np.argmax(seconds_of))
        mean, even = float(seconds_of[active].mean()), float(sizes[active].mean())
        if (
            seconds_of[slowest] >= limits.ratio * mean > 0
            and abs(sizes[slowest] - even) <= limits.bytes * even
        ):
            out.append(_seen(job, (family,), slowest, float(seconds_of[slowest]), mean))
    reduced = counts.slowest_of(job)
    for row, rank, slowest_s, size in reduced:
        mean = float(seconds(job, READ, WRITE, META)[row]) / job.nprocs
        even = float(counts.bytes_of(job, "READ")[row] + counts.bytes_of(job, "WRITE")[row]) / job.nprocs
        if job.own[row] and slowest_s >= limits.ratio * mean > 0 and abs(size - even) <= limits.bytes * even:
            out.append(_seen(job, (int(job.family[row]),), rank, slowest_s, mean))
    out += _slow_node(job, limits)
    hidden = counts.hidden_ranks(job)
    return CannotTell(hidden) if hidden and not out else out


def _slow_node(job: Job, limits: Limits) -> list[Seen]:
    """The median time of the ranks of each host, by the trace, against the median of the hosts."""
    traced = counts.traced_ranks(job)
    if traced is None:
        return []
    hosts = [ranks for ranks in traced.ranks_of_hosts if traced.bytes[ranks].any()]
    if len(hosts) < limits.nodes:
        return []
    times = np.array([np.median(traced.seconds[ranks]) for ranks in hosts])
    sizes = np.array([traced.bytes[ranks].mean() for ranks in hosts])
    slowest, usual, even = int(np.argmax(times)), float(np.median(times)), float(np.median(sizes))
    if not times[slowest] >= limits.ratio * usual > 0 or abs(sizes[slowest] - even) > limits.bytes * even:
        return []
    ranks = hosts[slowest]
    rank, time = int(ranks[0]), float(times[slowest])
    formula = "median time of the node's ranks - median of the nodes"
    terms = {"node_median_s": time, "median_s": usual}
    cost = of_one_rank(job, job.own, time - usual, formula, **terms)
    text = (
        f"the node of rank {rank} is slow: {seconds_text(time)} in the median of its {plural(len(ranks), 'rank')}, "
        f"{seconds_text(usual)} on the median of {plural(len(hosts), 'node')}, for the same bytes"
    )
    return [Seen(text, cost, job.families_of(traced.files & job.own), {"rank": rank, **terms})]


def _seen(job: Job, families: tuple[int, ...], rank: int, slowest: float, mean: float) -> Seen:
    formula = "slowest rank's time - mean time"
    which = np.isin(job.family, families)
    cost = of_one_rank(job, which, slowest - mean, formula, slowest_s=slowest, mean_s=mean)
    text = f"rank {rank} takes {seconds_text(slowest)}, the mean is {seconds_text(mean)}, for the same bytes"
    return Seen(text, cost, families, {"rank": rank, "slowest_s": slowest, "mean_s": mean})


RULE = Rule(
    id="slow-rank",
    find=find,
    parameters=Limits,
    title="one rank or node is slow",
    seen_as="The slowest rank takes a multiple of the mean time for the same bytes; by a trace (DXT), the ranks of a node do in the median.",
    costs="Slowest rank's time less the mean: the others wait for it.",
    advice="Look at the rank's node: a trace (DXT) tells whether all of its ranks are slow. Without one, the same node in several runs says node, changing ones say storage.",
    needs=("POSIX",),
    explained_by=("slow-target",),
    picture=Picture.RANKS,
)
