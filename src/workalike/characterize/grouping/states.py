"""Several dumps (states) in one long-lived file: their number, times and sizes.

They follow from `--states N`, else from the trace (DXT), else from what libraries counted (flushes, appended
datasets), else from the heatmap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from workalike.characterize.grouping.growth import apportion
from workalike.characterize.rules import StatesRule
from workalike.darshan import Heatmap
from workalike.facts.counters import operations_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray
from workalike.facts.rules import Decision, by
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.facts.traces import Trace
from workalike.workload.model import Assumption, Direction, Level

API_OF_LEVEL = {
    Level.MPIIO: "MPIIO",
    Level.H5D: "MPIIO",
    Level.PNETCDF: "MPIIO",
    Level.POSIX: "POSIX",
    Level.STDIO: "STDIO",
}


@dataclass
class States:
    """The dumps of one file in order. `sizes` are in bytes, None where the growth rule decides them later."""

    intervals: list[Interval]
    sizes: list[int] | None
    rule: Decision
    assumed: list[Assumption] = field(default_factory=list)
    cut: list[tuple[int, int]] = field(
        default_factory=list
    )  # the range of each state's operations in the trace
    bin_s: float = 0.0  # where the intervals are bins of a heatmap: seconds of one


def bursts(starts: FloatArray, ends: FloatArray, span: float) -> list[tuple[int, int]]:
    """Index ranges [first, last) of operations between idle gaps; the operations are sorted by start.

    A gap counts when it is longer than half a second and longer than one per cent of the span.
    """
    if not len(starts):
        return []
    reach = np.maximum.accumulate(ends)
    idle = starts[1:] - reach[:-1]
    threshold = max(THRESHOLDS.gap_least, THRESHOLDS.gap_share * span)
    cuts = np.flatnonzero(idle > threshold) + 1
    return list(pairwise([0, *cuts.tolist(), len(starts)]))


def states_in_trace(trace: Trace | None) -> States | None:
    """The bursts of a traced file, exactly; None without a trace."""
    if trace is None or not len(trace):
        return None
    span = float(trace.ends.max() - trace.starts.min())
    cut = bursts(trace.starts, np.maximum(trace.starts, trace.ends), span)
    cut = joined_bursts(cut, [int(trace.lengths[a:b].sum()) for a, b in cut])
    if len(cut) > THRESHOLDS.states_most:
        cut = [(0, len(trace))]
    intervals = [
        Interval(float(trace.starts[a]), float(max(trace.ends[a:b].max(), trace.starts[a]))) for a, b in cut
    ]
    sizes = [int(trace.lengths[a:b].sum()) for a, b in cut]
    return States(intervals, sizes, by(StatesRule.TRACE, count=len(cut)), [], cut)


def joined_bursts(cut: Sequence[tuple[int, int]], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """The bursts, with very small ones (a header, a line of a log) joined to the state before or after them."""
    out: list[tuple[int, int]] = []
    moved = THRESHOLDS.state_least  # bytes of the last burst in `out`
    for (first, last), size in zip(cut, sizes, strict=True):
        if out and (size < THRESHOLDS.state_least or moved < THRESHOLDS.state_least):
            out[-1] = (out[-1][0], last)
            moved += size
        else:
            out.append((first, last))
            moved = size
    return out


def counted_by_library(file: FileFacts, level: Level, written: int) -> tuple[int, StatesRule] | None:
    """(the number of states that the libraries' counters show, the rule); None where they show none.

    Flushes and syncs count as states only where much is written between them: a text log is flushed line by line.
    """
    operations = operations_of(file.modules[MODULE_OF_LEVEL[level]], Direction.WRITE)
    appended = appended_dataset(file) if level is Level.H5D else None
    if appended is not None and appended <= operations:
        return appended, StatesRule.DATASET
    for count, rule in (
        (_per_open(file, "H5F", "FLUSHES", ("OPENS",)), StatesRule.H5F_FLUSHES),
        (_per_open(file, "PNETCDF_FILE", "SYNCS", ("OPENS", "CREATES")), StatesRule.PNETCDF_SYNCS),
        (_per_open(file, "MPI-IO", "SYNCS", ("COLL_OPENS", "INDEP_OPENS")), StatesRule.MPIIO_SYNCS),
        (_stdio_flushes(file) if level is Level.STDIO else 0, StatesRule.STDIO_FLUSHES),
    ):
        if 2 <= count <= operations and written >= THRESHOLDS.state_least * count:
            return count, rule
    return None


def appended_dataset(file: FileFacts) -> int | None:
    """How often chunked datasets were written in full: their bytes divided by their size at opening; None if unequal."""
    h5d = file.modules.get("H5D")
    if h5d is None:
        return None
    ratios = set()
    for row in np.flatnonzero(h5d.column("CHUNK_SIZE_D1") > 0).tolist():
        points, size, written = (
            int(h5d.column(name)[row]) for name in ("DATASPACE_NPOINTS", "DATATYPE_SIZE", "BYTES_WRITTEN")
        )
        if points > 0 and size > 0 and written >= 2 * points * size:
            ratios.add((written // (points * size), written % (points * size) == 0))
    if len(ratios) != 1:
        return None
    count, whole = ratios.pop()
    return count if whole else None


def appended_records(file: FileFacts) -> int | None:
    """How often records were appended to all variables of a new PnetCDF file, by two independent counts that agree.

    One is of each rank's calls on a variable or, where they are nonblocking, of its waits. The other is of the library's
    independent writes: the header, and then the number of records each time that it has grown.
    """
    variables, whole, above = (file.modules.get(name) for name in ("PNETCDF_VAR", "PNETCDF_FILE", "MPI-IO"))
    if variables is None or whole is None or above is None or not variables.has("IS_RECORD_VAR"):
        return None
    ranks = whole.total("CREATES")
    if not ranks or whole.total("OPENS") or not (variables.column("IS_RECORD_VAR") > 0).all():
        return None
    if variables.total("BYTES_READ") or variables.total("INDEP_WRITES"):
        return None
    calls = set((variables.column("COLL_WRITES") + variables.column("NB_WRITES")).tolist())
    times = above.total("INDEP_WRITES") - 1
    if times < 2 or any(made % (ranks * times) for made in calls):
        return None
    seen = {whole.total("COLL_WAITS")} if whole.total("COLL_WAITS") else calls
    return times if seen == {ranks * times} else None


def _per_open(file: FileFacts, module: str, calls: str, opens: tuple[str, ...]) -> int:
    facts = file.modules.get(module)
    if facts is None:
        return 0
    return facts.total(calls) // max(1, sum(facts.total(name) for name in opens))


def _stdio_flushes(file: FileFacts) -> int:
    """Flushes per rank that appends to a stream; 0 where the stream is read or positioned, as it then has no states."""
    stdio = file.modules.get("STDIO")
    if stdio is None or stdio.total("READS") or stdio.total("SEEKS") > stdio.total("FLUSHES"):
        return 0
    flushes = stdio.total("FLUSHES") // max(1, len(stdio.ranks))
    return flushes if flushes <= stdio.total("WRITES") else 0


@dataclass
class Timeline:
    """Bytes over time of one API, less the known bytes of other files. `width` is the width of a bin in seconds."""

    width: float
    bytes: FloatArray

    def cumulative(self) -> FloatArray:
        """float64[bins + 1], bytes before the start of each bin."""
        return np.concatenate([[0.0], np.cumsum(self.bytes)])

    def busy_around(self, time: float) -> Interval:
        """The contiguous bins with bytes around a time."""
        bin_index = min(len(self.bytes) - 1, max(0, int(time / self.width)))
        first = last = bin_index
        while first > 0 and self.bytes[first - 1] > 0:
            first -= 1
        while last + 1 < len(self.bytes) and self.bytes[last + 1] > 0:
            last += 1
        return Interval(first * self.width, (last + 1) * self.width)

    def time_at(self, position: float) -> float:
        """The time in seconds when `position` bytes had been moved."""
        grown = self.cumulative()
        edges = np.arange(len(grown)) * self.width
        return float(np.interp(position, grown, edges))

    def inside(self, within: Interval) -> Timeline:
        """The timeline without the bytes outside of an interval."""
        starts = np.arange(len(self.bytes)) * self.width
        touched = (starts < within.end) & (starts + self.width > within.start)
        return Timeline(self.width, np.where(touched, self.bytes, 0.0))


def residual_timeline(
    heatmap: Heatmap, direction: Direction, others: Sequence[tuple[Interval, int]], latest: float
) -> Timeline | None:
    """The heatmap summed over ranks, less other files' bytes, which are spread evenly over their intervals.

    None where its bins cannot be true: they extend far beyond `latest` seconds, or are negative.
    """
    values = heatmap.read if direction is Direction.READ else heatmap.write
    if values.size == 0 or heatmap.bin_width * values.shape[1] > 2 * latest or (values < 0).any():
        return None
    total: npt.NDArray[np.float64] = values.sum(axis=0, dtype=np.float64)
    for interval, size in others:
        total -= _spread(interval, size, len(total), heatmap.bin_width)
    return Timeline(heatmap.bin_width, total.clip(min=0))


def _spread(interval: Interval, size: int, bins: int, width: float) -> npt.NDArray[np.float64]:
    out = np.zeros(bins)
    edges = np.arange(bins + 1) * width
    length = interval.end - interval.start
    if length <= 0:
        if interval.start < edges[-1]:
            out[int(interval.start / width)] = size
        return out
    inside = np.clip(np.minimum(interval.end, edges[1:]) - np.maximum(interval.start, edges[:-1]), 0, None)
    shares: npt.NDArray[np.float64] = size * inside / length
    return shares


def bursts_in_timeline(timeline: Timeline, within: Interval) -> list[Interval]:
    """The intervals of busy bins, which idle bins separate."""
    busy = timeline.bytes >= 1  # less is what sharing out bytes over bins has left
    edges = np.flatnonzero(np.diff(np.concatenate([[0], busy.astype(np.int8), [0]])))
    runs = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        run = Interval(max(within.start, a * timeline.width), min(within.end, b * timeline.width))
        if run.end > run.start:
            runs.append(run)
    return _to_the_ends(runs, within, timeline.width)


def place_states(
    count: int, sizes: Sequence[int], within: Interval, timeline: Timeline | None
) -> list[Interval]:
    """When each of `count` states is written: where the timeline has its bytes, else at even distances."""
    timeline = timeline.inside(within) if timeline is not None else None
    if timeline is not None and timeline.bytes.sum() > 0:
        scale = timeline.bytes.sum() / max(1, sum(sizes))
        before, out = 0.0, []
        for size in sizes:
            start = timeline.time_at((before + THRESHOLDS.state_begins * size) * scale)
            middle = timeline.time_at((before + 0.5 * size) * scale)
            end = timeline.time_at((before + THRESHOLDS.state_ends * size) * scale)
            before += size
            # Where sizes are not exact, a state's share extends over idle time into the next burst.
            busy = timeline.busy_around(middle)
            out.append(
                Interval(
                    min(max(start, busy.start, within.start), within.end),
                    min(max(min(end, busy.end), within.start), within.end),
                )
            )
        return _ascending(out)
    step = (within.end - within.start) / max(1, count - 1)
    return [Interval(within.start + i * step, within.start + i * step) for i in range(count)]


def _to_the_ends(runs: list[Interval], within: Interval, width: float) -> list[Interval]:
    """The first run begins, and the last ends, with the operations where that is less than a bin away.

    Timestamps are better than bins, and the bytes of other files may have taken all of the first bin or the last one.
    """
    if runs and 0 < runs[0].start - within.start < width:
        runs = [Interval(within.start, runs[0].end), *runs[1:]]
    if runs and 0 < within.end - runs[-1].end < width:
        runs = [*runs[:-1], Interval(runs[-1].start, within.end)]
    return runs


def evenly_spaced(
    intervals: Sequence[Interval], within: Interval, width: float, seconds: float
) -> list[Interval] | None:
    """The states at even distances, each of `seconds`, if each then begins within one bin of its own; else None.

    The first one begins, and the last one ends, where the operations do: timestamps are better than bins.
    """
    step = (within.end - within.start - seconds) / max(1, len(intervals) - 1)
    starts = [within.start + k * step for k in range(len(intervals))]
    in_bins = all(
        interval.end - interval.start <= width and abs(start - interval.start) <= width
        for start, interval in zip(starts, intervals, strict=True)
    )
    # Two states have any distance.
    if len(intervals) <= 2 or step < seconds or not in_bins:
        return None
    return [Interval(start, start + seconds) for start in starts]


def _ascending(intervals: list[Interval]) -> list[Interval]:
    out: list[Interval] = []
    for interval in intervals:
        start = max(interval.start, out[-1].end if out else 0.0)
        out.append(Interval(start, max(start, interval.end)))
    return out


def equal_states(count: int, total: int) -> list[int]:
    return apportion(total, [1.0] * count)
