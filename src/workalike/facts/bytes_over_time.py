"""Bytes of each rank over time, by the trace of a log or else its heatmap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workalike.facts.jobs import JobFacts, Member
from workalike.facts.records import FloatArray, IntArray

_APIS = ("POSIX", "STDIO")
"""Whose heatmaps have all bytes once: what MPI-IO moves, POSIX counts as well."""
_PIECE = 1 << 16
"""Segments of a trace that are read at once."""


def bytes_over_time(
    job: JobFacts, rows: int, columns: int, until_s: float, moved_s: float = 0.0
) -> FloatArray | None:
    """float64[rows, columns], the bytes that groups of ranks read and wrote; None without trace, heatmap or bytes.

    Args:
        job: the logs of a job.
        rows: groups of ranks, which are equally many as far as that is possible.
        columns: equal spans of time from 0 to `until_s`; what is later or earlier counts in the last or first one.
        until_s: seconds since the job's start.
        moved_s: seconds by which the times of the logs are moved back.
    """
    out = np.zeros((rows, columns))

    def column_of(times: FloatArray) -> IntArray:
        places = np.nan_to_num((times - moved_s) / until_s * columns)
        return places.clip(0, columns - 1).astype(np.int64)

    for member in job.members:

        def row_of(rank: int, first: int = member.first_rank) -> FloatArray:
            row: FloatArray = out[min(max(0, first + rank), job.nprocs - 1) * rows // job.nprocs]
            return row

        if not _add_trace(member, row_of, column_of):
            _add_heatmaps(member, row_of, column_of)
    return out if out.any() else None


def _add_trace(
    member: Member, row_of: Callable[[int], FloatArray], column_of: Callable[[FloatArray], IntArray]
) -> bool:
    """Add the segments of a log's trace; False without one."""
    trace = member.log.dxt("DXT_POSIX")
    if trace is None:
        return False
    for piece in trace.slices(_PIECE):
        columns = column_of(piece.segments["start"] + member.shift_s)
        np.add.at(row_of(int(trace.ranks[piece.record])), columns, piece.segments["length"].clip(0))
    return True


def _add_heatmaps(
    member: Member, row_of: Callable[[int], FloatArray], column_of: Callable[[FloatArray], IntArray]
) -> None:
    for heat in member.log.heatmaps().values():
        if heat.api not in _APIS:
            continue
        moved = heat.write.clip(0).astype(np.float64) + heat.read.clip(0)
        columns = column_of(np.arange(moved.shape[1]) * heat.bin_width + member.shift_s)
        for rank, of_rank in zip(heat.ranks.tolist(), moved, strict=True):
            np.add.at(row_of(rank), columns, of_rank)
