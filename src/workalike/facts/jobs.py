"""The job as a whole. Where it has several logs, their processes are its ranks, in the order of the logs' starts."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from workalike.darshan import Log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.plausible import plausible_stamps
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.quantities import MAX_RANKS

_TIMED = ("POSIX", "MPI-IO", "STDIO")


@dataclass(frozen=True)
class Member:
    """One log of the job. Its ranks begin at `first_rank`.

    Its clock starts `shift_s` seconds after the job's; its processes lived for `run_s` seconds from then on.
    """

    log: Log
    first_rank: int = 0
    shift_s: float = 0.0
    run_s: float = 0.0

    @property
    def nprocs(self) -> int:
        return self.log.job.nprocs


@dataclass(frozen=True)
class JobFacts:
    """All logs of a job. `run_time` is in seconds, from the first start to the last end."""

    members: list[Member]
    nprocs: int
    run_time: float
    warnings: list[str] = field(default_factory=list)


def job_of(logs: Sequence[Log]) -> JobFacts:
    """The logs of one job, in the order of their starts.

    Raises:
        WorkalikeError: USAGE without a log, UNSUPPORTED_LOG for more ranks than a workload may have.
    """
    if not logs:
        raise WorkalikeError(ErrorKind.USAGE, "no log to characterize", hint="name a Darshan log")
    nprocs = sum(log.job.nprocs for log in logs)
    if nprocs > MAX_RANKS:
        raise WorkalikeError(
            ErrorKind.UNSUPPORTED_LOG,
            f"{nprocs} processes; a workload has at most {MAX_RANKS} ranks",
            file=logs[0].path,
            place="job region",
            hint="a job of this size cannot be replicated",
        )
    warnings: list[str] = []
    users = len({log.job.uid for log in logs})
    if users > 1:
        warnings.append(f"{len(logs)} logs are of {users} users: are they of one job? They are taken as one")
    ordered = sorted(logs, key=lambda log: log.job.start_time)
    members = []
    first_rank = 0
    for log in ordered:
        shift = log.job.start_time - ordered[0].job.start_time
        if shift > THRESHOLDS.plausible_run:
            warnings.append("a log starts years after the others: it is taken to start with them")
            shift = 0.0
        members.append(Member(log, first_rank, shift, _run_time(log, warnings)))
        first_rank += log.job.nprocs
    run_time = max(member.shift_s + member.run_s for member in members)
    return JobFacts(members, nprocs, min(run_time, THRESHOLDS.plausible_run), warnings)


def without_idle(job: JobFacts, active: Collection[int]) -> JobFacts:
    """The job without those of its logs that have none of the `active` ranks; ranks are numbered anew.

    The clock stays that of the whole job.
    """
    members: list[Member] = []
    first_rank = 0
    for member in job.members:
        if not any(member.first_rank <= rank < member.first_rank + member.nprocs for rank in active):
            continue
        members.append(replace(member, first_rank=first_rank))
        first_rank += member.nprocs
    return replace(job, members=members, nprocs=first_rank) if members else job


def _run_time(log: Log, warnings: list[str]) -> float:
    """The log's run time in seconds; where that cannot be true, the last timestamp of its records."""
    stated = log.job.run_time
    if math.isfinite(stated) and 0 < stated <= THRESHOLDS.plausible_run:
        return stated
    warnings.append("the job's run time is impossible: the last timestamp of its records is taken instead")
    last = 0.0
    for module in _TIMED:
        table = log.records(module)
        if table is None or not len(table):
            continue
        for name in table.fcounter_names:
            if name.endswith("_END_TIMESTAMP"):
                last = max(
                    last, float(plausible_stamps(table[name], THRESHOLDS.plausible_run).max(initial=0.0))
                )
    return last
