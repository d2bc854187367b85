"""How long a run waits, and what ranks do while they wait between their operations, in words."""

from __future__ import annotations

import os

from workalike.text import seconds_text
from workalike.workload.model import Workload

LONG_S = 10.0
"""A run whose schedule is longer is announced."""


def schedule_words(schedule_s: float, time_scale: float) -> str | None:
    """A line for the user before a long run; None where the run waits for less than `LONG_S`.

    Args:
        schedule_s: the time in which the original did its I/O. Calls that are faster here end a run sooner.
    """
    planned_s = schedule_s * time_scale
    if planned_s < LONG_S:
        return None
    return f"this takes about {seconds_text(planned_s)}, less where calls are faster than the original's"


def waiting_words(workload: Workload, gap_fill: str, ranks: int, time_scale: float) -> str | None:
    """A line for the user of `--gap-fill auto`; None where nothing waits or the user decided."""
    if gap_fill != "auto" or time_scale == 0:
        return None
    if workload.cpu_share is None:
        return (
            "while they wait, ranks sleep: the workload does not state how much of the time they were busy "
            "(workalike profile records it; --gap-fill busy computes all the time)"
        )
    words = f"while they wait, ranks are busy for {workload.cpu_share:.0%} of the time and sleep for the rest"
    cores = os.cpu_count() or 1
    if ranks > cores and workload.cpu_share > 0:
        words += f"; {ranks} ranks share {cores} cores here, so their computing delays each other's I/O"
    return words
