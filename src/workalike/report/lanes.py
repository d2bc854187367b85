"""When each rank has files open, reads and writes: the windows of a log's records, as numbers.

A log keeps one window per rank and file, or one for all ranks where it has reduced their records. So the picture is of
what is known: from first open to last close, from first to last read or write, and how much of that was inside calls.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from workalike.characterize.result import Characterization
from workalike.compare.families import key_of_name
from workalike.compare.record_times import CALLS, RecordTimes, times_in
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, IntArray
from workalike.plan.plan_schema import PlanProcesses
from workalike.plan.processes import life_in
from workalike.predict.prediction import Key

MOST_RANKS = 48
"""Ranks that are shown, spread evenly over all."""
MOST_BARS = 2000
"""Bars of a side; with more, those next to each other become one."""
PIXELS = 800
"""Bars of a rank that are closer than this part of the axis become one."""


@dataclass(frozen=True)
class Bars:
    """Windows of one family: row of the rank int64[n], start and end float64[n] in seconds.

    `inside` float64[n] is the share of the window inside calls, 0 to 1.
    """

    row: IntArray
    start: FloatArray
    end: FloatArray
    inside: FloatArray

    def __len__(self) -> int:
        return len(self.row)


def _bars_of(spans: Sequence[tuple[int, float, float]]) -> Bars:
    """Bars of (row, start, end)."""
    rows, starts, ends = np.array(spans, dtype=np.float64).reshape(-1, 3).T
    return Bars(rows.astype(np.int64), starts, ends, np.ones(len(spans)))


@dataclass(frozen=True)
class Lanes:
    """One side: the ranks shown of `total`, and by family the windows of open files and those of reads and writes.

    `idle` are the times in which a rank's process had not begun or had ended; the last ones have no end.
    """

    ranks: list[int]
    total: int
    open: dict[Key, Bars]
    moving: dict[Key, Bars]
    end_s: float
    idle: Bars = field(default_factory=lambda: _bars_of([]))

    def thinned(self, most: int) -> Lanes:
        """The same with at most so many ranks, spread evenly."""
        if len(self.ranks) <= most:
            return self
        kept = _spread(len(self.ranks), most)
        return replace(
            self,
            ranks=[self.ranks[row] for row in kept.tolist()],
            open={key: _of_rows(bars, kept) for key, bars in self.open.items()},
            moving={key: _of_rows(bars, kept) for key, bars in self.moving.items()},
            idle=_of_rows(self.idle, kept),
        )

    def with_lives(self, groups: Sequence[PlanProcesses] | None) -> Lanes:
        """The same with the times in which ranks idle, of which some live only a part of the run."""
        lives = [(row, *life_in(groups or (), rank)) for row, rank in enumerate(self.ranks)]
        spans = [(row, 0.0, start) for row, start, _ in lives if start > 0]
        spans += [(row, end, math.inf) for row, _, end in lives if end is not None]
        return replace(self, idle=_bars_of(spans))

    def with_others(self, named: Collection[Key], others: Key) -> Lanes:
        """The same with all families that are not named as one."""
        return replace(
            self, open=_grouped(self.open, named, others), moving=_grouped(self.moving, named, others)
        )

    @property
    def families(self) -> set[Key]:
        return {key for key, bars in (*self.open.items(), *self.moving.items()) if len(bars)}


def lanes_of(
    log: Characterization | None, *, by_name: bool = False, moved_s: float = 0.0, time_scale: float = 1.0
) -> Lanes | None:
    """The lanes of a log; None without one, or where all of its records are reduced over the ranks.

    Args:
        log: the log.
        by_name: it is a log of the engine, whose files bear the names of their families.
        moved_s: seconds by which its times are moved back.
        time_scale: by which its times are divided, seconds of the original run.
    """
    if log is None:
        return None
    total = log.workload.ranks
    ranks = _spread(total, MOST_RANKS)
    open_: dict[Key, Bars] = {}
    moving: dict[Key, Bars] = {}
    single = False
    for key, module, files in _by_family(log, by_name):
        records = times_in(files, module)
        if records is None:
            continue
        single |= bool(((records.ranks >= 0) | (records.members == 1)).any())
        for into, calls, timed in (
            (open_, CALLS, ()),
            (moving, ("READ", "WRITE"), ("F_READ_TIME", "F_WRITE_TIME")),
        ):
            bars = _windows(records, calls, timed, ranks, latest_stamp(log.workload.runtime))
            start, end = ((edge - moved_s) / time_scale for edge in (bars.start, bars.end))
            found = replace(bars, start=np.maximum(start, 0.0), end=np.maximum(end, 0.0))
            into[key] = _joined([into[key], found]) if key in into else found
    ends = [float(bars.end.max()) for bars in open_.values() if len(bars)]
    if not single or not ends:
        return None
    return Lanes(ranks.tolist(), total, _merged(open_, max(ends)), _merged(moving, max(ends)), max(ends))


def _spread(total: int, most: int) -> IntArray:
    """At most so many of 0 … total - 1, with the first and the last."""
    return np.unique(np.linspace(0, total - 1, min(total, max(1, most))).round().astype(np.int64))


def _grouped(families: dict[Key, Bars], named: Collection[Key], others: Key) -> dict[Key, Bars]:
    out = {key: bars for key, bars in families.items() if key in named}
    rest = [bars for key, bars in families.items() if key not in named and len(bars)]
    return out | {others: _joined(rest)} if rest else out


def _of_rows(bars: Bars, rows: IntArray) -> Bars:
    """The bars of some rows, which are numbered anew."""
    kept = np.isin(bars.row, rows)
    return Bars(np.searchsorted(rows, bars.row[kept]), bars.start[kept], bars.end[kept], bars.inside[kept])


def parts_of(sides: Sequence[Lanes], keys: Sequence[Key]) -> dict[Key, int]:
    """For each family, the part of a lane that it is drawn in; families that never overlap on a rank share one."""
    parts: list[list[list[Bars]]] = []  # of each part, the bars of each side
    out = {}
    for key in keys:
        own = [lanes.open.get(key) for lanes in sides]
        free = (number for number, part in enumerate(parts) if not _meets(own, part))
        out[key] = next(free, len(parts))
        if out[key] == len(parts):
            parts.append([[] for _ in sides])
        for bars, others in zip(own, parts[out[key]], strict=True):
            if bars is not None:
                others.append(bars)
    return out


def _meets(own: Sequence[Bars | None], part: Sequence[Sequence[Bars]]) -> bool:
    """Whether a family overlaps on either side with one that is drawn in the part."""
    return any(_overlap(bars, other) for bars, others in zip(own, part, strict=True) for other in others)


def _overlap(bars: Bars | None, others: Bars) -> bool:
    """Whether bars of two families overlap on a rank."""
    if bars is None or not len(bars) or not len(others):
        return False
    far = float(max(bars.end.max(), others.end.max())) + 1.0
    start, end = others.start + others.row * far, others.end + others.row * far
    place = np.searchsorted(start, bars.start + bars.row * far, side="right")
    before = np.where(place > 0, end[np.maximum(place - 1, 0)], -1.0) > bars.start + bars.row * far
    after = (
        np.where(place < len(start), start[np.minimum(place, len(start) - 1)], np.inf)
        < bars.end + bars.row * far
    )
    return bool((before | after).any())


def _by_family(log: Characterization, by_name: bool) -> Iterable[tuple[Key, str, list[FileFacts]]]:
    """(family, module of its level, files), each file once."""
    seen: set[tuple[int, bool]] = set()
    for facts in log.families:
        own = (facts.family.role, facts.family.number)
        by_key: dict[Key, list[FileFacts]] = {}
        for file in facts.files():
            if file.key not in seen:
                seen.add(file.key)
                by_key.setdefault((key_of_name(file.name) if by_name else None) or own, []).append(file)
        for key, files in by_key.items():
            yield key, MODULE_OF_LEVEL[facts.family.counted_at], files


def _windows(
    records: RecordTimes, calls: Sequence[str], timed: Sequence[str], ranks: IntArray, latest: float
) -> Bars:
    """From the first start to the last end of some kinds of calls. A reduced record is a window of each of its ranks."""
    start, end = records.first(calls), records.last(calls)
    inside = sum((records.seconds(name) for name in timed), np.zeros(len(start))) / records.members
    known = np.flatnonzero((start <= end) & (end <= latest))
    low = np.searchsorted(ranks, records.first_rank[known])
    high = np.searchsorted(ranks, records.first_rank[known] + records.members[known])
    places = np.repeat(known, high - low)
    row = np.arange(len(places)) - np.repeat(np.cumsum(high - low) - high, high - low)
    return Bars(row, start[places], end[places], inside[places])


def _joined(parts: Sequence[Bars]) -> Bars:
    """The bars of several families, sorted by row and start as those of one are."""
    row, start = np.concatenate([p.row for p in parts]), np.concatenate([p.start for p in parts])
    order = np.lexsort((start, row))
    end, inside = np.concatenate([p.end for p in parts]), np.concatenate([p.inside for p in parts])
    return Bars(row[order], start[order], end[order], inside[order])


def _merged(families: dict[Key, Bars], run: float) -> dict[Key, Bars]:
    """Bars of a rank and family that overlap, or are next to each other, as one: at most `MOST_BARS` in all."""
    gap = run / PIXELS
    while True:
        merged = {key: _close_ones(bars, gap) for key, bars in families.items()}
        if sum(len(bars) for bars in merged.values()) <= MOST_BARS or gap >= run:
            return merged
        gap *= 2


def _close_ones(bars: Bars, gap: float) -> Bars:
    """Bars of one row that are less than `gap` seconds apart as one; `inside` becomes a share of its length."""
    if not len(bars):
        return bars
    order = np.lexsort((bars.start, bars.row))
    row, start, end, inside = bars.row[order], bars.start[order], bars.end[order], bars.inside[order]
    far = float(end.max() - start.min()) + 2 * gap + 1.0
    reach = np.maximum.accumulate(end + row * far)  # rows lie one after the other on one axis
    new: npt.NDArray[np.bool_] = np.ones(len(row), dtype=bool)
    new[1:] = start[1:] + row[1:] * far > reach[:-1] + gap
    first = np.flatnonzero(new)
    last = np.maximum.reduceat(end, first)
    length = np.maximum(last - start[first], 1e-9)
    share = np.minimum(np.add.reduceat(inside, first) / length, 1.0)
    return Bars(row[first], start[first], last, share)
