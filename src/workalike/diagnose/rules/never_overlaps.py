"""Compute and I/O never overlap."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose.costs import no_cost
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen, Sure
from workalike.facts.records import BoolArray
from workalike.text import percent_text, seconds_text

INTERFACES = ("POSIX", "STDIO")


class Limits(Parameters):
    together: float = Field(
        0.9, gt=0, le=1, description="Share of the ranks that do I/O at once, in the mean."
    )
    io: float = Field(0.05, gt=0, le=1, description="Share of the run in which there is I/O, at least.")
    quiet: float = Field(0.25, gt=0, le=1, description="Share of the run without any I/O, at least.")
    bins: int = Field(20, ge=2, description="Spans of time of the heatmap.")


def find(job: Job, limits: Limits) -> Found:
    """Spans of time of the heatmap: in each one nearly all ranks do I/O, or none does."""
    if len(job.logs) != 1:
        return CannotTell("the heatmaps of several logs have different clocks")
    active = _active(job)
    if active is None:
        return CannotTell("the log has no heatmap")
    if len(active) < 2 or active.shape[1] < limits.bins:
        return []
    busy = active.any(axis=0)
    if not busy.any():
        return []
    io, together = float(busy.mean()), float(active[:, busy].mean())
    if io < limits.io or 1 - io < limits.quiet or together < limits.together:
        return []
    hidden = min(io, 1 - io) * job.run_time
    text = (
        f"all ranks do I/O at once in {percent_text(100 * io)} of the run, and none between: "
        f"up to {seconds_text(hidden)} of it could pass while they compute"
    )
    evidence = {"io_share": io, "ranks_share": together, "hidden_s": hidden}
    cost = no_cost(job, "not weighed: a heatmap does not show who waits")
    return [Seen(text, cost, job.families_of(job.own), evidence, Sure.POSSIBLE)]


def _active(job: Job) -> BoolArray | None:
    """bool[ranks, bins]: which ranks that do any I/O move bytes when, up to the end of the run; None without heatmap."""
    maps = [heat for api, heat in job.logs[0].heatmaps().items() if api in INTERFACES and heat.bin_width > 0]
    if not maps:
        return None
    bins = max(1, min(int(np.ceil(job.run_time / maps[0].bin_width)), min(h.write.shape[1] for h in maps)))
    active = np.zeros((job.nprocs, bins), dtype=bool)
    for heat in maps:
        active[heat.ranks] |= ((heat.write > 0) | (heat.read > 0))[:, :bins]
    return active[active.any(axis=1)]


RULE = Rule(
    id="never-overlaps",
    find=find,
    parameters=Limits,
    title="compute and I/O never overlap",
    seen_as="By the heatmap, all ranks do I/O at the same time, and between these spans none does any.",
    costs="Not weighed: it is a NOTE. The shorter one of the time with and without I/O is what overlap can hide at most.",
    advice="Write while computing: copy the data and let a thread, an I/O server or non-blocking calls write it.",
    snippet="MPI_File_iwrite_all(file, copy, count, type, &request);\ncompute();\nMPI_Wait(&request, &status);",
    language="c",
    other_snippets={
        "fortran": "call MPI_File_iwrite_all(file, copy, n, MPI_REAL8, request, ierror)\ncall compute()\ncall MPI_Wait(request, status, ierror)",
        "python": "request = file.Iwrite_all(copy)\ncompute()\nrequest.Wait()",
    },
    needs=("HEATMAP",),
)
