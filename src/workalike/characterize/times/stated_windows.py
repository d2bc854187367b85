"""The windows of a family's dumps in its schedule: as few values as say when its operations are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Schedule, Window
from workalike.workload.schedule import Skew, of_each
from workalike.workload.units import round_time


@dataclass(frozen=True)
class Span:
    """Operations of a dump: start of the first, end of a rank's last one and its seconds inside them, on average.

    The times are seconds from the dump's start, of a rank that lives for all of the dump. `beyond`: seconds in calls that
    do not fit between first and last.
    """

    first: float
    last: float
    busy: float
    beyond: float = 0.0
    contradictory: bool = False


@dataclass
class DumpTimes:
    """What is known of the times of a dump: its spans, and seconds of one rank in calls that move no data."""

    spans: dict[Direction, Span] = field(default_factory=dict)
    moving: frozenset[Direction] = frozenset()
    metadata: float | None = None


def tolerance(run_time: float) -> float:
    """Seconds of a run that are too short to be stated."""
    return max(THRESHOLDS.window_share * run_time, THRESHOLDS.window_least)


def scheduled(
    before: Schedule,
    times: Sequence[DumpTimes],
    run_time: float,
    skew: dict[Direction, list[Skew]] | None = None,
) -> Schedule:
    """The schedule with the windows, and the ranks that are late in them.

    It is the same where they say no more than the dumps' spans and compute times.
    """
    late = {direction: groups for direction, groups in (skew or {}).items() if groups}
    least = tolerance(run_time)
    lengths = before.lengths()
    if not any(dump.spans for dump in times) or not (late or _are_news(before, times, least)):
        return before
    changes: dict[str, object] = {}
    for direction in Direction:
        if any(direction in dump.spans for dump in times):
            window = _window(direction, times, lengths, before.compute_times(), least)
            window = window.model_copy(update={"skew": late.get(direction, [])})
            changes[f"{direction.value}s"] = window if window != Window() else None
    metadata = [dump.metadata or 0.0 for dump in times]
    if sum(metadata) > least:
        changes["metadata"] = _one_or_all(metadata, least)
    return Schedule.model_validate(before.model_dump() | changes)


def _are_news(before: Schedule, times: Sequence[DumpTimes], least: float) -> bool:
    """Whether operations are not spread over all of their dumps, or not with the compute times between them.

    Opens before them and closes after them take their time.
    """
    computing = 0.0
    for dump, length, stated in zip(times, before.lengths(), before.compute_times(), strict=True):
        spans, metadata = dump.spans.values(), dump.metadata or 0.0
        if not spans:
            continue
        first, last = min(span.first for span in spans), max(span.last for span in spans)
        apart = any(span.first - first > least or last - span.last > least for span in spans)
        if apart or first + length - last - metadata > least:
            return True
        if len(dump.spans) == len(dump.moving):
            busy = sum(span.busy for span in spans) + metadata
            computing += abs(max(0.0, length - busy) - stated)
    return computing > least


def _window(
    direction: Direction,
    times: Sequence[DumpTimes],
    lengths: Sequence[float],
    computing: Sequence[float],
    least: float,
) -> Window:
    """The window of all dumps. Of a dump whose window is not known, it is all of it, less its compute time."""
    spans = [
        dump.spans.get(direction, Span(0.0, length, max(0.0, length - seconds)))
        if direction in dump.moving
        else None
        for dump, length, seconds in zip(times, lengths, computing, strict=True)
    ]
    moving = [span for span in spans if span is not None]
    rest = [length - span.last for span, length in zip(spans, lengths, strict=True) if span is not None]
    idle = sum(span.last - span.first - span.busy for span in moving)
    firsts = [span.first if span is not None else None for span in spans]
    lasts = [span.last if span is not None else None for span in spans]
    first = _one_or_all(firsts, least) if max(span.first for span in moving) > least else 0.0
    last = _one_or_all(lasts, least) if max(rest) > least else None
    if isinstance(first, list) != isinstance(last, list) and last is not None:
        pairs = zip(of_each(first, len(spans)), of_each(last, len(spans)), strict=True)
        if any(a > b for a, b in pairs):  # a mean is not in order with each
            first, last = _all(firsts), _all(lasts)
    busy = [span.busy if span is not None else None for span in spans]
    whole = first == 0.0 and last is None
    stated = idle > least or (whole and any(computing))  # of a window without any value nothing would be seen
    return Window(first=first, last=last, busy=_one_or_all(busy, least) if stated else None)


def _one_or_all(values: Sequence[float | None], least: float) -> float | list[float]:
    """Their mean where all are as good as equal, else each; rounded. None is a dump without such operations."""
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known)
    return _rounded(mean) if max(abs(value - mean) for value in known) <= least else _all(values)


def _all(values: Sequence[float | None]) -> list[float]:
    """Each value, rounded; the mean for None, which does not count."""
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known)
    return [_rounded(mean if value is None else value) for value in values]


def _rounded(seconds: float) -> float:
    return round_time(seconds, 4)
