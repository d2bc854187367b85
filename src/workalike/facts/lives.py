"""When the ranks of a job lived: of a job of many processes, each began and ended at moments of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.facts.jobs import JobFacts
from workalike.facts.records import FloatArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.workload import units
from workalike.workload.processes import Processes


@dataclass(frozen=True)
class Lives:
    """`start` and `end` of each rank, float64[ranks], in seconds since the job's start."""

    start: FloatArray
    end: FloatArray

    def alive_in(self, rank: int, span: Interval) -> Interval:
        """The part of a span in which a rank lives; all of it where they do not meet (as in the core's schedule/life)."""
        if not 0 <= rank < len(self.start):
            return span
        start, end = max(span.start, float(self.start[rank])), min(span.end, float(self.end[rank]))
        return Interval(start, end) if start <= end else span


def lives_of(job: JobFacts) -> Lives | None:
    """The lives of the ranks; None where all of them live during the whole run."""
    start = np.array([member.shift_s for member in job.members]).clip(0.0, job.run_time)
    end = np.array([member.shift_s + member.run_s for member in job.members]).clip(start, job.run_time)
    least = tolerance(job.run_time)
    if not ((start > least) | (end < job.run_time - least)).any():
        return None
    ranks = [member.nprocs for member in job.members]
    return Lives(np.repeat(start, ranks), np.repeat(end, ranks))


def tolerance(run_time: float) -> float:
    """Seconds by which processes of one moment begin and end apart."""
    return max(THRESHOLDS.life_share * run_time, THRESHOLDS.life_least)


def processes_of(job: JobFacts) -> list[Processes]:
    """The lives as groups of ranks that began and ended together; ranks that live during the whole run are in none."""
    lives = lives_of(job)
    if lives is None:
        return []
    least = tolerance(job.run_time)
    moments = np.stack([lives.start // least, lives.end // least], axis=1)
    _, group = np.unique(moments, axis=0, return_inverse=True)
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [
        found for found in (_group(part, lives, job.run_time, least) for part in parts) if found is not None
    ]


def _group(ranks: np.ndarray, lives: Lives, run_time: float, least: float) -> Processes | None:
    """From the first start of some ranks to their last end, in whole milliseconds."""
    start = float(np.floor(lives.start[ranks].min().round(5) * 1e3) / 1e3)
    end: float | None = float(np.ceil(lives.end[ranks].max().round(5) * 1e3) / 1e3)
    start = start if start > least else 0.0
    end = end if end is not None and end < run_time - least else None
    if not start and end is None:
        return None
    return Processes(ranks=units.ranges_of_array(np.sort(ranks)), start=start, end=end)
