"""The times of both sides: I/O time, waiting, wall clock, starts, lateness, overlap (docs/fidelity.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workalike.compare.fidelity_schema import FamilyFidelity, OverlapFidelity, TimesFidelity
from workalike.compare.overlap import Window, distance, shares_in_progress
from workalike.compare.pairing import Factors, Pair, Pairing
from workalike.compare.side import SideDump
from workalike.compare.timers import META, OF_DIRECTION, Timers, at_level
from workalike.compare.waiting import NO_TIMERS, NOT_PERFORMED
from workalike.text import plural
from workalike.workload.model import Direction

OTHER_LEVEL = "the engine's record times calls at another level than the original's: a log of the run (--capture) has it"
NO_RUN = "the length of the run is not known"
NO_WINDOWS = "no dump has a length"


def family_times(pair: Pair, factors: Factors, ranks: tuple[int, int]) -> dict[str, Any]:
    """The fields of a `FamilyFidelity` that are times; `ranks` are the original's and the replica's."""
    unknown: dict[str, str] = {}
    before, after = io_times(pair, unknown)
    starts = start_errors(pair, factors)
    lates = pair.replica.lates
    out: dict[str, Any] = {
        "start_time_error_mean_s": sum(starts) / len(starts) if starts else None,
        "start_time_error_max_s": max(starts, default=None),
        "io_time_original_s": before,
        "io_time_replica_s": after,
        "io_time_mean_original_s": None if before is None else before / ranks[0],
        "io_time_mean_replica_s": None if after is None else after / ranks[1],
        "late_mean_s": sum(lates) / len(lates) if lates else None,
        "late_max_s": max(lates, default=None),
        "unknown": unknown,
    }
    for name, family in (("original", pair.original), ("replica", pair.replica)):
        field = f"waiting_{name}_s"
        out[field] = family.waiting.seconds if family.dumps else None
        if out[field] is None:
            unknown[field] = family.waiting.reason or NOT_PERFORMED
    return out


def io_times(pair: Pair, unknown: dict[str, str]) -> tuple[float | None, float | None]:
    """Rank-seconds inside calls of original and replica, by the timers that both have.

    Timers are those of the directions in which the original moves data, and of opens, closes and the like.
    """
    module = pair.original.module
    sides = [
        {name: s for name, s in at_level(family.timers, module).items() if name in _timers_of_interest(pair)}
        for family in (pair.original, pair.replica)
    ]
    before, after = sides
    if not before:
        unknown["io_time_original_s"] = NO_TIMERS
    if not after:
        unknown["io_time_replica_s"] = OTHER_LEVEL if any(pair.replica.timers.values()) else NOT_PERFORMED
    if before and after:
        both = before.keys() & after.keys()
        for name in sorted(before.keys() ^ after.keys()):
            unknown[f"io_time {name}"] = "only one side has this timer: left out on the other"
        before, after = ({n: s for n, s in side.items() if n in both} for side in sides)
    return _added(before), _added(after)


def _timers_of_interest(pair: Pair) -> set[str]:
    moved = [d for d in Direction if any(dump.bytes_of(d) for dump in pair.original.dumps)]
    return {META, *(OF_DIRECTION[d] for d in moved or Direction)}


def _added(timers: Timers) -> float | None:
    return sum(timers.values()) if timers else None


def start_errors(pair: Pair, factors: Factors) -> list[float]:
    """Seconds of the original run by which each dump's start is off; empty at time-scale 0."""
    if not factors.time:
        return []
    return [
        abs(copy.start_s / factors.time - dump.start_s)
        for dump, copy in pair.dumps()
        if dump is not None and copy is not None
    ]


def times_of(pairing: Pairing, families: Sequence[FamilyFidelity]) -> TimesFidelity:
    """The times of all families together."""
    unknown: dict[str, str] = {}
    out: dict[str, Any] = {"unknown": unknown}
    for field in ("io_time", "io_time_mean", "waiting"):
        for name in ("original", "replica"):
            out[f"{field}_{name}_s"] = _sum_of(families, field, name, unknown)
    for name, side in (("original", pairing.original), ("replica", pairing.replica)):
        out[f"calls_{name}_s"] = None if side.calls is None else side.calls.end - side.calls.start
        out[f"run_{name}_s"] = side.run_s
        for field in ("calls", "run"):
            if out[f"{field}_{name}_s"] is None:
                unknown[f"{field}_{name}_s"] = NO_RUN
    for field in ("io_time", "calls", "run"):
        against = reason_against(pairing.factors, waiting=field != "io_time")
        out[f"{field}_ratio"] = None if against else _ratio(out, field)
        if out[f"{field}_ratio"] is None:
            unknown[f"{field}_ratio"] = against or "one side is not known or 0"
    starts = [e for pair in pairing.pairs for e in start_errors(pair, pairing.factors)]
    lates = [late for pair in pairing.pairs for late in pair.replica.lates]
    out |= {
        "start_time_error_mean_s": sum(starts) / len(starts) if starts else None,
        "start_time_error_max_s": max(starts, default=None),
        "late_mean_s": sum(lates) / len(lates) if lates else None,
        "late_max_s": max(lates, default=None),
        "overlap": overlap_of(pairing, reason_against(pairing.factors), unknown),
    }
    return TimesFidelity(**out)


def reason_against(factors: Factors, *, waiting: bool = True) -> str:
    """Why times at this scale do not compare with the original's; "" where they do.

    `waiting`: the figure contains the time between calls, so that it depends on the time-scale.
    """
    if factors.bytes != 1:
        return f"not compared at a bytes-scale of {factors.bytes:.4g}"
    if factors.ranks != 1:
        return f"not compared with {factors.ranks:.4g} x the ranks"
    if waiting and factors.time != 1:
        return f"not compared at a time-scale of {factors.time:.4g}"
    return ""


def _sum_of(
    families: Sequence[FamilyFidelity], field: str, side: str, unknown: dict[str, str]
) -> float | None:
    """A field over the families of which both sides have it; over those of this side where there is none such."""
    here, both = f"{field}_{side}_s", (f"{field}_original_s", f"{field}_replica_s")
    known = [f for f in families if getattr(f, here) is not None]
    shared = [f for f in known if all(getattr(f, name) is not None for name in both)]
    summed = shared or known
    left_out = [f for f in families if f not in summed]
    if left_out:
        names = {name.replace("_mean", "") for name in both}
        reason = next((f.unknown[n] for f in left_out for n in sorted(names) if n in f.unknown), "not known")
        unknown[here] = f"{reason} ({len(left_out)} of {plural(len(families), 'family')} left out)"
    return sum(getattr(f, here) for f in summed) if summed else None


def _ratio(figures: dict[str, Any], field: str) -> float | None:
    before, after = figures[f"{field}_original_s"], figures[f"{field}_replica_s"]
    return after / before if before and after is not None else None


def overlap_of(pairing: Pairing, against: str, unknown: dict[str, str]) -> OverlapFidelity:
    """The shares of the time with k dumps in progress on both sides, and their distance.

    Where a log does not distinguish the dumps of a file, they are one on both sides. What the replica has besides the
    original's families counts in the replica.
    """
    dumps = [both for pair in pairing.pairs for both in pair.dumps()]
    before = shares_in_progress([_window(dump) for dump, _ in dumps if dump is not None])
    extra = [dump for family in pairing.extra for dump in family.dumps]
    copies = [*(copy for _, copy in dumps if copy is not None), *extra]
    after = shares_in_progress([_window(copy) for copy in copies]) if pairing.replica.calls else []
    apart = None if against else distance(before, after)
    if apart is None:
        unknown["overlap"] = against or NO_WINDOWS
    return OverlapFidelity(original=before, replica=after, distance=apart)


def _window(dump: SideDump) -> Window:
    return dump.start_s, dump.end_s
