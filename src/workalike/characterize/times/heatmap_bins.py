"""When bytes were moved, by the bins of a heatmap: of operations that are the only ones of their kind in a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.grouping.states import API_OF_LEVEL
from workalike.facts.jobs import JobFacts
from workalike.facts.records import FloatArray
from workalike.facts.times import Interval
from workalike.workload.model import Direction, Level


@dataclass(frozen=True)
class Bins:
    """`edges`: float64[bins + 1], seconds since the job's start. `before`: float64[bins + 1], bytes moved before each."""

    edges: FloatArray
    before: FloatArray

    def within(self, first: float, last: float) -> Interval:
        """The bins in which the bytes from `first` to `last`, of all in their order, were moved."""
        begin = int(np.searchsorted(self.before, first, side="right")) - 1
        end = int(np.searchsorted(self.before, last, side="left"))
        top = len(self.edges) - 1
        return Interval(float(self.edges[min(max(begin, 0), top)]), float(self.edges[min(end, top)]))


def bins_of(job: JobFacts, level: Level, direction: Direction, moved: int) -> Bins | None:
    """The bins of all bytes of a direction; None without a heatmap, or where it has more or less than `moved` bytes.

    Darshan divides an operation over bins by its time, and rounds: by less than a byte for each rank and bin.
    """
    if len(job.members) != 1 or moved <= 0:
        return None
    heatmap = job.members[0].log.heatmaps().get(API_OF_LEVEL[level])
    if heatmap is None or heatmap.bin_width <= 0:
        return None
    values = heatmap.read if direction is Direction.READ else heatmap.write
    if values.size == 0 or (values < 0).any():
        return None
    before = np.concatenate([[0.0], np.cumsum(values.sum(axis=0, dtype=np.float64))])
    if abs(before[-1] - moved) > values.size:
        return None
    edges: FloatArray = np.arange(len(before), dtype=np.float64) * heatmap.bin_width
    return Bins(edges, before * (moved / before[-1]))


def moved_into_bins(spans: Sequence[Interval], bins: Sequence[Interval], width: float) -> list[Interval]:
    """The spans in their order, each moved so that it begins in the first bin of its bytes, and ends in or after the last.

    A dump can last longer than its bytes move: a sync and the close have none.

    Args:
        spans: when something was done, by other figures than the heatmap's.
        bins: for each span, from the start of its first bin to the end of its last one.
        width: seconds of a bin.
    """
    starts = [
        min(max(span.start, held.start), min(held.start + width, held.end))
        for span, held in zip(spans, bins, strict=True)
    ]
    out = []
    for k, (span, held) in enumerate(zip(spans, bins, strict=True)):
        end = max(starts[k] + span.end - span.start, held.end - width)
        latest = starts[k + 1] if k + 1 < len(starts) else end
        out.append(Interval(starts[k], max(starts[k], min(end, latest))))
    return out
