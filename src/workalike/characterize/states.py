"""Several dumps in one long-lived file: how many, when, how large.

Tried in this order: the trace (DXT), what the libraries counted (flushes, record dimensions), the heatmap;
`--states N` beats all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workalike.characterize.facts import FileFacts, FloatArray
from workalike.characterize.growth import apportion
from workalike.characterize.times import Interval
from workalike.darshan import Heatmap, Log
from workalike.workload.model import Assumption, Direction, Level

LEAST_GAP_S = 0.5
GAP_SHARE = 0.01
MAX_STATES = 100_000
DXT_OF_LEVEL = {
    Level.MPIIO: "DXT_MPIIO",
    Level.POSIX: "DXT_POSIX",
    Level.H5D: "DXT_MPIIO",
    Level.PNETCDF: "DXT_MPIIO",
}
API_OF_LEVEL = {
    Level.MPIIO: "MPIIO",
    Level.H5D: "MPIIO",
    Level.PNETCDF: "MPIIO",
    Level.POSIX: "POSIX",
    Level.STDIO: "STDIO",
}


@dataclass
class States:
    """The dumps of one file in order; `sizes` in bytes, None where the growth rule is to decide."""

    intervals: list[Interval]
    sizes: list[int] | None
    rule: str
    assumed: list[Assumption] = field(default_factory=list)


def bursts(starts: FloatArray, ends: FloatArray, span: float) -> list[tuple[int, int]]:
    """Index ranges [first, last) of operations, sorted by start, between idle gaps.

    A gap counts when it is longer than half a second, one per cent of the span, and as long as the busy time
    around it lasts on average.
    """
    if not len(starts):
        return []
    reach = np.maximum.accumulate(ends)
    idle = starts[1:] - reach[:-1]
    threshold = max(LEAST_GAP_S, GAP_SHARE * span)
    cuts = np.flatnonzero(idle > threshold) + 1
    bounds = [0, *cuts.tolist(), len(starts)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def from_trace(logs: Sequence[Log], file: FileFacts, level: Level, direction: Direction) -> States | None:
    """Exact bursts of a traced file; None without a trace of it."""
    if len(logs) != 1 or level not in DXT_OF_LEVEL:
        return None
    table = logs[0].dxt(DXT_OF_LEVEL[level])
    if table is None:
        return None
    found = []
    for row in np.flatnonzero(table.ids == np.uint64(file.record_id)).tolist():
        writes, reads = table.segments(row)
        segments = writes if direction is Direction.WRITE else reads
        if len(segments):
            found.append((segments["start"], segments["end"], segments["length"]))
    if not found:
        return None
    starts, ends, lengths = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(starts, kind="stable")
    starts, ends, lengths = starts[order], ends[order], lengths[order]
    span = float(ends.max() - starts.min())
    cut = bursts(starts, ends, span)
    if len(cut) > MAX_STATES:
        return None
    intervals = [Interval(float(starts[a]), float(ends[a:b].max())) for a, b in cut]
    sizes = [int(lengths[a:b].sum()) for a, b in cut]
    return States(intervals, sizes, f"states: {len(cut)} bursts in the trace")


def counted_by_library(file: FileFacts, level: Level) -> tuple[int, str] | None:
    """How many states the libraries' counters tell of."""
    h5d = file.modules.get("H5D")
    if h5d is not None and level is Level.H5D:
        points = h5d.column("DATASPACE_NPOINTS") * h5d.column("DATATYPE_SIZE")
        written = h5d.column("BYTES_WRITTEN")
        chunked = h5d.column("CHUNK_SIZE_D1") > 0
        rows = np.flatnonzero(chunked & (points > 0) & (written >= 2 * points))
        if len(rows) and (written[rows] % points[rows] == 0).all():
            ratios = set((written[rows] // points[rows]).tolist())
            if len(ratios) == 1:
                return int(ratios.pop()), "an appended dataset's bytes over its size when opened"
    h5f = file.modules.get("H5F")
    if h5f is not None and h5f.total("FLUSHES") and h5f.total("OPENS"):
        per_open = h5f.total("FLUSHES") // max(1, h5f.total("OPENS"))
        if per_open >= 2:
            return per_open, "H5F flushes"
    stdio = file.modules.get("STDIO")
    appended = (
        stdio is not None and not stdio.total("READS") and stdio.total("SEEKS") <= stdio.total("FLUSHES")
    )
    if stdio is not None and level is Level.STDIO and appended:
        flushes = stdio.total("FLUSHES") // max(1, len(stdio.ranks))
        if 2 <= flushes <= stdio.total("WRITES"):
            return flushes, "STDIO flushes"
    return None


@dataclass
class Timeline:
    """Bytes over time of one API, less what other files are known to have written (a heatmap's residual)."""

    width: float
    bytes: FloatArray

    def cumulative(self) -> FloatArray:
        """float64[bins + 1], bytes before each bin's start."""
        return np.concatenate([[0.0], np.cumsum(self.bytes)])

    def time_at(self, position: float) -> float:
        """The time when `position` bytes had been moved."""
        grown = self.cumulative()
        edges = np.arange(len(grown)) * self.width
        return float(np.interp(position, grown, edges))


def residual_timeline(
    heatmap: Heatmap, direction: Direction, others: Sequence[tuple[Interval, int]]
) -> Timeline | None:
    """The heatmap of all ranks, less other files' bytes spread over their own intervals."""
    values = heatmap.read if direction is Direction.READ else heatmap.write
    if values.size == 0 or heatmap.bin_width <= 0:
        return None
    total: npt.NDArray[np.float64] = values.sum(axis=0, dtype=np.float64)
    for interval, size in others:
        total -= _spread(interval, size, len(total), heatmap.bin_width)
    return Timeline(heatmap.bin_width, total.clip(min=0))


def _spread(interval: Interval, size: int, bins: int, width: float) -> npt.NDArray[np.float64]:
    out = np.zeros(bins)
    length = max(interval.end - interval.start, 1e-9)
    first, last = int(interval.start / width), int(interval.end / width)
    for i in range(max(0, first), min(bins, last + 1)):
        inside = min(interval.end, (i + 1) * width) - max(interval.start, i * width)
        out[i] = size * max(0.0, inside) / length
    return out


def bursts_in_timeline(timeline: Timeline, within: Interval) -> list[Interval]:
    """Runs of busy bins separated by idle ones."""
    quiet = 0.002 * timeline.bytes.sum() / max(1, np.count_nonzero(timeline.bytes))
    busy = timeline.bytes > quiet
    edges = np.flatnonzero(np.diff(np.concatenate([[0], busy.astype(np.int8), [0]])))
    runs = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        run = Interval(max(within.start, a * timeline.width), min(within.end, b * timeline.width))
        if run.end > run.start:
            runs.append(run)
    return runs


def place_states(
    count: int, sizes: Sequence[int], within: Interval, timeline: Timeline | None
) -> list[Interval]:
    """When each of `count` states is written: where the residual heatmap has its bytes, else evenly."""
    if timeline is not None and timeline.bytes.sum() > 0:
        scale = timeline.bytes.sum() / max(1, sum(sizes))
        before, out = 0.0, []
        for size in sizes:
            start = timeline.time_at((before + 0.02 * size) * scale)
            end = timeline.time_at((before + 0.98 * size) * scale)
            before += size
            out.append(
                Interval(min(max(start, within.start), within.end), min(max(end, within.start), within.end))
            )
        return _ascending(out)
    step = (within.end - within.start) / max(1, count - 1)
    return [Interval(within.start + i * step, within.start + i * step) for i in range(count)]


def _ascending(intervals: list[Interval]) -> list[Interval]:
    out: list[Interval] = []
    for interval in intervals:
        start = max(interval.start, out[-1].end if out else 0.0)
        out.append(Interval(start, max(start, interval.end)))
    return out


def equal_states(count: int, total: int) -> list[int]:
    return apportion(total, [1.0] * count)
