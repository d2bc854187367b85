"""A run is slower than earlier ones that did the same."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from workalike.diagnose.costs import of_one_rank
from workalike.diagnose.job import Job
from workalike.diagnose.rule import Answer, CannotTell, Found, Parameters, Rule, Seen
from workalike.text import plural, rate_text

CHANGED = "This run's calls are not those of the earlier ones, too: look at what changed first."


FORMULA = "I/O of the slowest rank - its median in the earlier runs"


class Limits(Parameters):
    percentile: float = Field(
        5.0, gt=0, le=100, description="Place among the earlier runs, below, in percent."
    )
    runs: int = Field(10, ge=1, description="Earlier runs of the same workload.")


def find(job: Job, limits: Limits) -> Found:
    """The job's bandwidth among its earlier runs; not the system's fault where its calls changed, too."""
    past = job.past
    if past is None:
        return CannotTell("no earlier runs are known: name their logs, or a fleet, with --history")
    if past.runs < limits.runs:
        return CannotTell(f"{plural(past.runs, 'earlier run')} of this workload are too few")
    if past.percentile >= limits.percentile:
        return []
    cost = of_one_rank(
        job,
        job.own,
        past.io_s - past.usual_io_s,
        FORMULA,
        io_s=past.io_s,
        usual_io_s=past.usual_io_s,
    )
    text = sentence(past.bandwidth, past.runs, past.usual_bandwidth, past.changed)
    evidence = numbers(past.percentile, past.runs, past.bandwidth, past.usual_bandwidth)
    return [
        Seen(
            text,
            cost,
            job.families_of(job.own),
            evidence,
            advice=CHANGED if past.changed else "",
            answer=Answer.PROBLEM if past.changed else None,
        )
    ]


def sentence(bandwidth: float, runs: int, usual: float, changed: Sequence[str]) -> str:
    """What was seen; bandwidths in bytes per second, `changed`: the counts that are not those of earlier runs."""
    text = f"{rate_text(bandwidth)}, the median of {plural(runs, 'earlier run')} of this workload is {rate_text(usual)}"
    return text + (f"; changed: {', '.join(changed)}" if changed else "")


def numbers(percentile: float, runs: int, bandwidth: float, usual: float) -> dict[str, float]:
    """The evidence as numbers."""
    return {"percentile": percentile, "runs": float(runs), "rate": bandwidth, "usual_rate": usual}


RULE = Rule(
    id="slower-than-its-past",
    find=find,
    parameters=Limits,
    title="slower than its own past",
    seen_as="The bandwidth is below the 5th percentile of earlier runs with the same program, ranks and file families (`--history`).",
    costs="Time in I/O of the slowest rank, less its median in the earlier runs.",
    advice="Not your fault: the same I/O was faster before. Report the time of the run to the centre; run it again.",
    any_of=("POSIX", "STDIO", "MPI-IO"),
    answer=Answer.NOT_YOUR_FAULT,
    explained_by=("slow-target", "slow-rank"),
    not_this="where the counts of calls or bytes changed, the answer is a problem of the program.",
)
