"""The scale at which this machine performs a replica in about a minute."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from workalike.files import free_bytes
from workalike.plan.resolve import Options, resolve
from workalike.replica.probe import CallTimes, call_times, seconds_of
from workalike.workload.model import Direction, Workload
from workalike.workload.phrases import dump_bytes

MOST_BYTES = 2**30
FREE_SHARE = 10
"""A replica writes at most the free space divided by this."""
WAITING_S = 50.0
CALLS_S = 60.0
MOST_STEPS = 6
"""Times that the factor is made smaller: what a plan does at least, such as one operation of each dump, remains."""
SMALLER = 64
"""Where calls cannot be counted, since they are too many, the factor is divided by this."""


def fit_to_machine(
    workload: Workload, given: Options, data: Path, *, scale_bytes: bool, scale_time: bool
) -> Options:
    """Options for a replica with at most 1 GiB, two ranks per core, about a minute of calls and of waiting.

    Calls are counted by the core, and timed in the file system by a short probe.

    Args:
        workload: what the replica performs.
        given: the user's options, which are kept.
        data: an existing folder in the file system that the data go to.
        scale_bytes: whether to choose the factor of the bytes.
        scale_time: whether to choose the factor of time.

    Raises:
        WorkalikeError: CANNOT_WRITE where the file system cannot be probed, and as `resolve`.
    """
    ranks = given.ranks or min(workload.ranks, 2 * (os.cpu_count() or 1))
    moved = sum(
        sum(dump_bytes(family, workload.ranks, direction))
        for family in workload.families
        for direction in Direction
    )
    if given.scaling == "weak":
        moved = moved * ranks // workload.ranks
    free = free_bytes(data)
    limit = MOST_BYTES if free is None else min(MOST_BYTES, free // FREE_SHARE)
    factor = given.bytes_scale
    if scale_bytes and moved > limit > 0:
        factor = Fraction(limit, moved).limit_denominator(10**9) or Fraction(limit, moved)
    time = given.time_scale
    if scale_time:
        time = min(1.0, WAITING_S / workload.runtime) if workload.runtime else 1.0
    chosen = replace(given, ranks=ranks, bytes_scale=factor, time_scale=time)
    return _with_fewer_calls(workload, chosen, call_times(data)) if scale_bytes else chosen


def _with_fewer_calls(workload: Workload, chosen: Options, times: CallTimes) -> Options:
    """The same with a smaller factor of the bytes, which lowers the number of operations, if calls would take longer."""
    cores = os.cpu_count() or 1
    for _ in range(MOST_STEPS):
        seconds = seconds_of(resolve(workload, chosen), times, cores)
        if seconds <= CALLS_S:
            break
        share = CALLS_S / seconds if seconds < float("inf") else 1 / SMALLER
        factor = (Fraction(chosen.bytes_scale) * Fraction(share)).limit_denominator(10**12)
        if not factor:
            break
        chosen = replace(chosen, bytes_scale=factor)
    return chosen
