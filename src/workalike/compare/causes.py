"""Why the times of a replica differ from the original's, as far as figures tell. Each sentence names its figures.

A cause is named only where its figure is large enough to explain the difference. Rank-seconds inside calls are compared
with elapsed time by their bounds: spread evenly over all ranks they lengthen the run least, on one rank most.
"""

from __future__ import annotations

from collections.abc import Sequence

from workalike.compare.fidelity_schema import CauseFidelity, FamilyFidelity, TimesFidelity
from workalike.compare.overlap import mean_in_progress
from workalike.compare.pairing import Pairing
from workalike.text import seconds_text

CALLS_DIFFER = 0.05
"""First to last I/O call: a ratio further than this from 1 is explained."""
STARTS_DIFFER = (0.01, 0.02)
"""Starts that are off by more than this share of the original's time, and more seconds than this, are explained."""
OVERLAP_DIFFERS = 0.05
IO_TIME_DIFFERS = 1.25
EXPLAINS = 0.5
"""A figure explains a difference if it is at least this share of it."""


def causes_of(
    pairing: Pairing, families: Sequence[FamilyFidelity], times: TimesFidelity
) -> list[CauseFidelity]:
    """Sentences on why wall clock, starts and I/O time differ; empty where they do not."""
    return [
        *_wall_clock(pairing, times),
        *_overlap(times),
        *_waiting(times),
        *_starts(pairing, families, times),
    ]


def _wall_clock(pairing: Pairing, times: TimesFidelity) -> list[CauseFidelity]:
    before, after, ratio = times.calls_original_s, times.calls_replica_s, times.calls_ratio
    if ratio is None or before is None or after is None or abs(ratio - 1) <= CALLS_DIFFER:
        return []
    figures = ["times.calls_original_s", "times.calls_replica_s"]
    text = (
        f"From first to last I/O call the replica takes {seconds_text(after)}, the original {seconds_text(before)} "
        f"({ratio:.3g} x)"
    )
    bounds = _longer_calls(pairing, times, after - before)
    if bounds is None:
        return [
            CauseFidelity(
                text=f"{text}; without the I/O time of both sides no cause can be named", figures=figures
            )
        ]
    figures += ["times.io_time_original_s", "times.io_time_replica_s"]
    return [CauseFidelity(text=f"{text}; {_share_of_calls(bounds, after - before)}", figures=figures)]


def _longer_calls(pairing: Pairing, times: TimesFidelity, more: float) -> tuple[float, float] | None:
    """(least, most) seconds by which the run is longer because its calls are; of shorter calls if `more` is negative."""
    if times.io_time_original_s is None or times.io_time_replica_s is None:
        return None
    longer = times.io_time_replica_s - times.io_time_original_s
    if longer * more <= 0:
        return (0.0, 0.0)
    return abs(longer) / pairing.replica.ranks, abs(longer)


def _share_of_calls(bounds: tuple[float, float], more: float) -> str:
    least, most = bounds
    word = "longer" if more > 0 else "shorter"
    in_all, mean = (
        f"{seconds_text(most)} of all ranks together",
        f"{seconds_text(least)} of a rank in the mean",
    )
    elsewhere = "the time between calls, or the order of dumps, differs"
    if least >= EXPLAINS * abs(more):
        share = min(100.0, 100 * least / abs(more))
        return f"{word} calls explain {share:.0f} % of the difference: {mean}"
    if most >= EXPLAINS * abs(more):
        return f"{word} calls may explain it: they are {in_all}, {mean}"
    if most:
        return f"{word} calls do not explain it (they are {in_all}): {elsewhere}"
    return f"its calls take no {word}: {elsewhere}"


def _overlap(times: TimesFidelity) -> list[CauseFidelity]:
    overlap = times.overlap
    if overlap.distance is None or overlap.distance <= OVERLAP_DIFFERS:
        return []
    before, after = mean_in_progress(overlap.original), mean_in_progress(overlap.replica)
    text = (
        f"In the mean {before:.2g} dumps are in progress in the original, {after:.2g} in the replica "
        f"(overlap {overlap.distance:.2g} apart)"
    )
    return [
        CauseFidelity(
            text=text,
            figures=["times.overlap.original", "times.overlap.replica", "times.overlap.distance"],
        )
    ]


def _waiting(times: TimesFidelity) -> list[CauseFidelity]:
    """Whether waiting in collective calls is why I/O times differ."""
    ratio = times.io_time_ratio
    sides = (times.io_time_original_s, times.io_time_replica_s)
    waits = (times.waiting_original_s, times.waiting_replica_s)
    if not ratio or 1 / IO_TIME_DIFFERS <= ratio <= IO_TIME_DIFFERS:
        return []
    if sides[0] is None or sides[1] is None or waits[0] is None or waits[1] is None:
        return []
    share = (waits[1] - waits[0]) / (sides[1] - sides[0])
    if share < EXPLAINS:
        return []
    text = (
        f"Of the I/O time, waiting in collective calls is {seconds_text(waits[1])} in the replica and "
        f"{seconds_text(waits[0])} in the original (rank-seconds): {min(100.0, 100 * share):.0f} % of the difference"
    )
    figures = [
        f"times.{name}_{side}_s" for name in ("waiting", "io_time") for side in ("original", "replica")
    ]
    return [CauseFidelity(text=text, figures=figures)]


def _starts(
    pairing: Pairing, families: Sequence[FamilyFidelity], times: TimesFidelity
) -> list[CauseFidelity]:
    off, span = times.start_time_error_max_s, times.calls_original_s
    if off is None or off <= max(STARTS_DIFFER[0] * (span or 0.0), STARTS_DIFFER[1]):
        return []
    worst = max(families, key=lambda f: f.start_time_error_max_s or 0.0)
    text = f"Start times are up to {seconds_text(off)} off ({worst.name})"
    figures = ["times.start_time_error_max_s"]
    scale = pairing.factors.time
    late = (times.late_max_s or 0.0) / scale
    if late >= EXPLAINS * off:
        text += f": dumps begin up to {seconds_text(late)} after they are due"
        return [CauseFidelity(text=text, figures=[*figures, "times.late_max_s"])]
    if times.calls_replica_s is None or span is None:
        return [CauseFidelity(text=f"{text}; no cause can be named", figures=figures)]
    figures += ["times.calls_original_s", "times.calls_replica_s"]
    longer = times.calls_replica_s / scale - span
    length = f"the time from first to last I/O call, {seconds_text(abs(longer))} {'longer' if longer > 0 else 'shorter'}"
    if abs(longer) < EXPLAINS * off:
        text += f"; neither lateness ({seconds_text(late)} at most) nor {length}, explains it"
        return [CauseFidelity(text=text, figures=[*figures, "times.late_max_s"] if late else figures)]
    text += f" because of {length}"
    if pairing.record is not None and pairing.record.clock == "gap":
        text += "; `--clock deadline` would keep the start times"
    return [CauseFidelity(text=text, figures=figures)]
