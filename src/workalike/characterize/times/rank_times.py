"""First starts and last ends of the operations of each rank, in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

import numpy as np

from workalike.facts.times import Interval
from workalike.facts.traces import Trace
from workalike.workload.model import Content, Direction


def last_ends(ends: Sequence[dict[int, float] | None]) -> dict[int, float]:
    """The last end of each rank, of those in several files; empty where it is not known of all files."""
    out: dict[int, float] = {}
    for of_file in ends:
        if of_file is None:
            return {}
        for rank, end in of_file.items():
            out[rank] = max(out.get(rank, end), end)
    return out


def first_starts(starts: Sequence[dict[int, float] | None]) -> dict[int, float]:
    """The first start of each rank, of those in several files; empty where it is not known of all files."""
    negative = [
        None if found is None else {rank: -start for rank, start in found.items()} for found in starts
    ]
    return {rank: -start for rank, start in last_ends(negative).items()}


def starts_of(trace: Trace) -> dict[int, float]:
    ranks, places = np.unique(trace.ranks, return_inverse=True)
    starts = np.full(len(ranks), np.inf)
    np.minimum.at(starts, places, trace.starts)
    return dict(zip(ranks.tolist(), starts.tolist(), strict=True))


def ends_of(trace: Trace) -> dict[int, float]:
    ranks, places = np.unique(trace.ranks, return_inverse=True)
    ends = np.zeros(len(ranks))
    np.maximum.at(ends, places, trace.ends)
    return dict(zip(ranks.tolist(), ends.tolist(), strict=True))


def share_of(part: Interval, moment: float) -> float:
    """The share of a span of time that is over at a moment, 0 to 1."""
    length = part.end - part.start
    return min(max(0.0, moment - part.start) / length, 1.0) if length > 0 else 0.0


def of_last_streams(ends: dict[int, float], content: Content, direction: Direction) -> dict[int, float]:
    """The ends of those ranks that move data after the last stream of all ranks; of all where that stream is the last.

    Streams have moments that are the same on all ranks. The others have ended earlier, with a stream before.
    """
    own = [stream.ranks for stream in content.streams if stream.direction is direction]
    after = takewhile(lambda ranks: ranks is not None, reversed(own))
    last = _ranks_in(tuple(tuple(ranks) for ranks in after if ranks is not None))
    return {rank: end for rank, end in ends.items() if rank in last} or ends


@lru_cache(maxsize=64)
def _ranks_in(sets: tuple[tuple[tuple[int, int, int], ...], ...]) -> frozenset[int]:
    """The ranks of some sets of (first, last, step)."""
    return frozenset(
        rank for ranks in sets for first, last, step in ranks for rank in range(first, last + 1, step)
    )
