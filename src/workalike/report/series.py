"""The data of the figures, as plain numbers, with fewer points for very long runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.compare.expect import expected_bins
from workalike.compare.pairing import Pair, Pairing
from workalike.compare.side import SideDump, SideFamily
from workalike.darshan.bins import SIZE_BINS
from workalike.text import plural
from workalike.workload.model import Direction, Role

MAX_FAMILIES = 8
MAX_POINTS = 600
BIN_LABELS = (
    "≤ 100",
    "≤ 1 Ki",
    "≤ 10 Ki",
    "≤ 100 Ki",
    "≤ 1 Mi",
    "≤ 4 Mi",
    "≤ 10 Mi",
    "≤ 100 Mi",
    "≤ 1 Gi",
    "> 1 Gi",
)
"""Darshan's size bins, by their inclusive upper ends."""


def heaviest(pairing: Pairing, count: int = MAX_FAMILIES) -> list[Pair]:
    """The families that move most bytes, the largest first."""
    return sorted(pairing.pairs, key=lambda p: -sum(d.moved for d in p.original.dumps))[:count]


def with_rest(pairing: Pairing, count: int = MAX_FAMILIES) -> list[Pair]:
    """The families that move most bytes, and all others as one more."""
    shown = heaviest(pairing, count)
    kept = {(pair.original.role, pair.original.number) for pair in shown}
    rest = [pair for pair in pairing.pairs if (pair.original.role, pair.original.number) not in kept]
    if len(rest) < 2:
        return shown + rest
    label = plural(len(rest), "other family")
    original = SideFamily(Role.OTHER, 0, rest[0].original.level, label=label)
    replica = SideFamily(Role.OTHER, 0, rest[0].original.level, label=label)
    for pair in rest:
        original.dumps += pair.original.dumps
        replica.dumps += pair.replica.dumps
    return [*shown, Pair(original, replica, rest[0].scaled)]


def positions(pairs: list[Pair]) -> dict[str, int]:
    """For each family's name, the number of families of its role before it."""
    seen: dict[Role, int] = {}
    out = {}
    for pair in pairs:
        role = pair.original.role
        out[pair.original.name] = seen.get(role, 0)
        seen[role] = seen.get(role, 0) + 1
    return out


def thin(count: int, most: int = MAX_POINTS) -> list[int]:
    """Indices of at most `most` of `count` points, evenly spread, with the first and the last."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


def merged_bars(dumps: list[SideDump], run: float, time_scale: float = 1.0) -> list[tuple[float, float]]:
    """(start, length) of dumps in seconds of the original; where there are many, dumps within a pixel become one."""
    least = run / 400
    bars: list[list[float]] = []
    for dump in sorted(dumps, key=lambda d: d.start_s):
        start, end = dump.start_s / time_scale, max(dump.end_s, dump.start_s) / time_scale
        end = max(end, start + least)
        if bars and start <= bars[-1][1] + least / 3 and len(dumps) > 100:
            bars[-1][1] = max(bars[-1][1], end)
        else:
            bars.append([start, end])
    return [(start, end - start) for start, end in bars]


def cumulative(
    dumps: list[SideDump], factor: float = 1.0, time_scale: float = 1.0
) -> tuple[list[float], list[float]]:
    """(seconds of the original, bytes so far ÷ factor); every dump moves its bytes evenly from start to end."""
    changes: list[tuple[float, float, float]] = []  # time, bytes at once, change of the rate
    for dump in dumps:
        start, end = dump.start_s / time_scale, dump.end_s / time_scale
        moved = dump.moved / factor
        if end > start:
            rate = moved / (end - start)
            changes += [(start, 0.0, rate), (end, 0.0, -rate)]
        else:
            changes.append((start, moved, 0.0))
    changes.sort()
    x, y, now, total, rate = [0.0], [0.0], 0.0, 0.0, 0.0
    for time, at_once, change in changes:
        total += rate * (time - now)
        x.append(time)
        y.append(total)
        if at_once:
            total += at_once
            x.append(time)
            y.append(total)
        now, rate = time, rate + change
    keep = thin(len(x))
    return [x[i] for i in keep], [y[i] for i in keep]


def sizes(dumps: list[SideDump]) -> tuple[list[float], list[float]]:
    """(dump from 1, its bytes)."""
    keep = thin(len(dumps))
    return [float(i + 1) for i in keep], [float(dumps[i].moved) for i in keep]


def cumulative_error_pct(pair: Pair, factor: float) -> tuple[list[float], list[float]]:
    """(dump from 1, signed error of all bytes up to it in per cent of the expected bytes)."""
    want = have = 0.0
    errors = []
    for original, replica in pair.dumps():
        want += original.moved * factor if original else 0.0
        have += replica.moved if replica else 0.0
        errors.append(100 * (have - want) / want if want else 0.0)
    keep = thin(len(errors))
    return [float(i + 1) for i in keep], [errors[i] for i in keep]


def bandwidths(dumps: list[SideDump]) -> tuple[list[int], list[float]]:
    """(steps to the end of the run, 0 for the last dump; bytes per second) of dumps with a known time."""
    last = len(dumps) - 1
    points = [(i - last, d.bandwidth) for i, d in enumerate(dumps)]
    known = [(x, y) for x, y in points if y]
    keep = thin(len(known))
    return [known[i][0] for i in keep], [known[i][1] for i in keep]


def run_length(pairing: Pairing, time_scale: float) -> float:
    """The length of the figures' time axis, in seconds of the original run."""
    ends = [d.end_s for f in pairing.original.families.values() for d in f.dumps]
    if time_scale:
        ends += [d.end_s / time_scale for f in pairing.replica.families.values() for d in f.dumps]
    return max(ends, default=0.0) or 1.0


def shares(bins: list[float]) -> list[float]:
    """A histogram in per cent of all operations."""
    total = sum(bins)
    return [100 * b / total if total else 0.0 for b in bins]


@dataclass(frozen=True)
class SizeBins:
    """Operations of a direction by size, over all families with a histogram; `expected` under the law of the scale."""

    original: list[float]
    expected: list[float]
    replica: list[float]


def summed_bins(pairs: list[Pair], direction: Direction) -> SizeBins | None:
    """None where no family has a histogram."""
    was, want, have = ([0.0] * len(SIZE_BINS) for _ in range(3))
    known = False
    for pair in pairs:
        law, bins = expected_bins(pair.scaled, pair.original, direction), pair.replica.bins(direction)
        if law is None or pair.scaled.whole.fitted:
            continue
        known = True
        was = [a + b for a, b in zip(was, pair.original.bins(direction) or [0] * len(SIZE_BINS), strict=True)]
        want = [a + b for a, b in zip(want, law, strict=True)]
        have = [a + b for a, b in zip(have, bins or [0] * len(SIZE_BINS), strict=True)]
    return SizeBins(was, want, have) if known and (any(want) or any(have)) else None


Curve = tuple[Sequence[float], Sequence[float]]
"""x, ascending, and y."""


def coinciding(curves: Sequence[Curve], tolerance: float) -> list[tuple[int, int]]:
    """For each curve, how many before it it lies on, and how many lie on each other there in all.

    Two curves coincide where no more than `tolerance` is between them over more than half of what they span together.
    """
    groups: list[list[int]] = []
    for number, curve in enumerate(curves):
        group = next((g for g in groups if _coincide(curves[g[0]], curve, tolerance)), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    places = {number: (i, len(group)) for group in groups for i, number in enumerate(group)}
    return [places[number] for number in range(len(curves))]


def _coincide(curve: Curve, other: Curve, tolerance: float) -> bool:
    first, last = max(curve[0][0], other[0][0]), min(curve[0][-1], other[0][-1])
    longest = max(curve[0][-1], other[0][-1]) - min(curve[0][0], other[0][0])
    if last - first < longest / 2:
        return False
    x = np.linspace(first, last, MAX_POINTS)
    apart = np.abs(np.interp(x, *curve) - np.interp(x, *other))
    return bool(np.count_nonzero(apart <= tolerance) > len(x) / 2)
