"""What a log without traces leaves open of the start of each operation: the best that any agenda made from it can be sure of.

Timestamps, timers and the heatmap confine each start to a span of time. Whoever states its middle is off by half of the
span at most, and whoever states another moment may be off by more. The trace has the truth, which must lie inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.characterize.grouping.states import API_OF_LEVEL
from workalike.darshan import Heatmap, Log
from workalike.facts.counters import kind_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, IntArray, ModuleFacts
from workalike.facts.traces import Trace
from workalike.workload.model import Direction, Level

TRACED_BELOW = {Level.H5D: Level.MPIIO, Level.PNETCDF: Level.MPIIO}


@dataclass(frozen=True)
class Confined:
    """Spans in which operations start, as float64[operations] of seconds, in the order of a trace."""

    low: FloatArray
    high: FloatArray

    def half(self) -> FloatArray:
        """By how much the middle of each span may be off."""
        return (self.high - self.low) / 2

    def first(self, rows: IntArray) -> float:
        """The same of the first start of some operations, whichever it is."""
        return float(self.high[rows].min() - self.low[rows].min()) / 2

    def last(self, rows: IntArray) -> float:
        return float(self.high[rows].max() - self.low[rows].max()) / 2

    def wrong(self, starts: FloatArray, slack: float) -> int:
        """How many starts are outside by more than `slack` seconds: a log that contradicts itself."""
        return int(np.count_nonzero((starts < self.low - slack) | (starts > self.high + slack)))


def confined(log: Log, file: FileFacts, level: Level, direction: Direction, trace: Trace) -> Confined | None:
    """The spans of a file's operations in one direction; None where its module has no times."""
    level = TRACED_BELOW.get(level, level)
    facts = file.modules.get(MODULE_OF_LEVEL[level])
    heat = log.heatmaps().get(API_OF_LEVEL[level])
    if facts is None or not facts.has(f"F_{kind_of(direction)}_START_TIMESTAMP"):
        return None
    low, high = np.zeros(len(trace)), np.zeros(len(trace))
    for rank in np.unique(trace.ranks).tolist():
        rows = np.flatnonzero(trace.ranks == rank)
        first, end, longest, own = _times_of(facts, direction, rank)
        own = own or len(rows) == len(trace)
        low[rows], high[rows] = first, end
        if own:
            high[rows[0]] = first
            low[rows[-1]] = max(first, end - longest)
        if heat is not None:
            _narrow(low, high, rows, trace.lengths[rows], heat, direction, rank)
    return Confined(low, np.maximum(low, high))


def last_of_file(log: Log, file: FileFacts, level: Level, direction: Direction) -> float:
    """By how much the last start in a file may be off: it is as long before the last end as an operation takes."""
    facts = file.modules[MODULE_OF_LEVEL[TRACED_BELOW.get(level, level)]]
    times = [_times_of(facts, direction, rank) for rank in facts.ranks.tolist()]
    return (max(end for _, end, _, _ in times) - max(end - longest for _, end, longest, _ in times)) / 2


def _times_of(facts: ModuleFacts, direction: Direction, rank: int) -> tuple[float, float, float, bool]:
    """(first start, last end, seconds of the longest operation, whether they are the rank's own)."""
    kind = kind_of(direction)
    rows = np.flatnonzero(facts.ranks == rank)
    own = bool(len(rows)) and rank >= 0
    rows = rows if len(rows) else np.flatnonzero(facts.ranks < 0)
    starts = facts.fcolumn(f"F_{kind}_START_TIMESTAMP")[rows]
    ends = facts.fcolumn(f"F_{kind}_END_TIMESTAMP")[rows]
    longest = facts.fcolumn(f"F_MAX_{kind}_TIME")[rows]
    used = ends > 0
    return (
        float(starts[used].min(initial=np.inf)),
        float(ends[used].max(initial=0.0)),
        float(longest.max(initial=0.0)),
        own,
    )


def _narrow(
    low: FloatArray,
    high: FloatArray,
    rows: IntArray,
    lengths: IntArray,
    heat: Heatmap,
    direction: Direction,
    rank: int,
) -> None:
    """Each operation starts in the bin in which its first byte is, if the rank moved no other bytes."""
    values = (heat.read if direction is Direction.READ else heat.write)[heat.ranks == rank]
    if len(values) != 1 or abs(int(values.sum()) - int(lengths.sum())) > values.size:
        return
    before = np.concatenate([[0], np.cumsum(values[0])])
    moved = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    # Shares of an operation in bins are rounded: half a byte is on neither side of a bin's edge.
    bins = np.searchsorted(before, moved + 0.5, side="right") - 1
    bins = bins.clip(0, values.shape[1] - 1)
    low[rows] = np.maximum(low[rows], bins * heat.bin_width)
    high[rows] = np.minimum(high[rows], (bins + 1) * heat.bin_width)
