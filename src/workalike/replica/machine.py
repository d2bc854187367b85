"""The scale at which this machine performs a replica in about a minute."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from workalike.files import free_bytes
from workalike.plan.resolve import Options
from workalike.workload.model import Direction, Workload
from workalike.workload.phrases import dump_bytes

MOST_BYTES = 2**30
FREE_SHARE = 10
"""A replica writes at most the free space divided by this."""
WAITING_S = 50.0


def fit_to_machine(
    workload: Workload, given: Options, data: Path, *, scale_bytes: bool, scale_time: bool
) -> Options:
    """Options for a replica with at most 1 GiB, two ranks per core and about a minute of waiting.

    Args:
        workload: what the replica performs.
        given: the user's options, which are kept.
        data: an existing folder in the file system that the data go to.
        scale_bytes: whether to choose the factor of the bytes.
        scale_time: whether to choose the factor of time.
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
    return replace(given, ranks=ranks, bytes_scale=factor, time_scale=time)
