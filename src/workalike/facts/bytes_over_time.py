"""Bytes of each rank over time, by the trace of a log or its heatmap, whichever has more of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workalike.darshan import DxtTable, Heatmap
from workalike.facts.jobs import JobFacts
from workalike.facts.records import FloatArray, IntArray


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

    def columns_of(times: FloatArray) -> IntArray:
        with np.errstate(over="ignore", invalid="ignore"):  # times of damaged logs
            places = np.nan_to_num((times - moved_s) / until_s * columns)
        return places.clip(0, columns - 1).astype(np.int64)

    for member in job.members:

        def rows_of(ranks: IntArray, first: int = member.first_rank) -> IntArray:
            found: IntArray = (first + ranks).clip(0, job.nprocs - 1) * rows // job.nprocs
            return found

        # What MPI-IO moves, POSIX counts as well. A trace may have ended early, and never has what streams move.
        heats = member.log.heatmaps()
        posix, stdio = heats.get("POSIX"), heats.get("STDIO")
        trace = member.log.dxt("DXT_POSIX")
        if trace is not None and (posix is None or _bytes_of_trace(trace) >= _moved(posix).sum()):
            for piece in trace.chunks():
                places = (
                    rows_of(trace.ranks[piece.records]),
                    columns_of(piece.segments["start"] + member.shift_s),
                )
                np.add.at(out, places, piece.segments["length"].clip(0))
        elif posix is not None:
            _add_heatmap(out, posix, rows_of, columns_of, member.shift_s)
        if stdio is not None:
            _add_heatmap(out, stdio, rows_of, columns_of, member.shift_s)
    return out if out.any() else None


def _moved(heat: Heatmap) -> FloatArray:
    """float64[rows, bins], the bytes that a heatmap has."""
    moved: FloatArray = heat.write.clip(0).astype(np.float64) + heat.read.clip(0)
    return moved


def _bytes_of_trace(trace: DxtTable) -> float:
    return sum(float(piece.segments["length"].clip(0).sum(dtype=np.float64)) for piece in trace.chunks())


def _add_heatmap(
    out: FloatArray,
    heat: Heatmap,
    rows_of: Callable[[IntArray], IntArray],
    columns_of: Callable[[FloatArray], IntArray],
    shift_s: float,
) -> None:
    moved = _moved(heat)
    with np.errstate(over="ignore"):
        columns = columns_of(np.arange(moved.shape[1], dtype=np.float64) * heat.bin_width + shift_s)
    for row, of_rank in zip(rows_of(heat.ranks).tolist(), moved, strict=True):
        np.add.at(out[row], columns, of_rank)
