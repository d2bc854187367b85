"""The scale of a replica that this machine performs in about a minute."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from workalike.characterize.result import Characterization
from workalike.plan.resolve import Options

MOST_BYTES = 2**30
FREE_SHARE = 10
"""At most one part in so many of the free space."""
WAITING_S = 50.0


def fit_to_machine(
    found: Characterization, given: Options, data: Path, *, scale_bytes: bool, scale_time: bool
) -> Options:
    """Options at which the replica has at most twice as many ranks as cores, 1 GiB, and waits for about a minute.

    Args:
        found: what is to be replicated.
        given: options that stay where the user chose them.
        data: an existing folder of the file system that takes the data.
        scale_bytes: whether the factor of the bytes is ours to choose.
        scale_time: whether the factor of the waiting is.
    """
    ranks = given.ranks or min(found.workload.ranks, 2 * (os.cpu_count() or 1))
    moved = sum(d.bytes_written + d.bytes_read for f in found.families for d in f.dumps)
    if given.scaling == "weak":
        moved = moved * ranks // found.workload.ranks
    limit = min(MOST_BYTES, shutil.disk_usage(data).free // FREE_SHARE)
    factor = given.bytes_scale
    if scale_bytes and moved > limit > 0:
        factor = Fraction(limit, moved).limit_denominator(10**9) or Fraction(limit, moved)
    time = given.time_scale
    if scale_time:
        time = min(1.0, WAITING_S / found.workload.runtime) if found.workload.runtime else 1.0
    return replace(given, ranks=ranks, bytes_scale=factor, time_scale=time)
