"""The times of blocks that are spread over hours or days: when the next is due, and the wait for it.

Times are those of the clock on the wall, since a machine may restart between two blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from workalike.study.journal import Finished
from workalike.text import seconds_text

SOON_S = 2.0
"""What also a driver that must not wait waits for: clocks of two nodes differ a little."""
LONGEST_SLEEP_S = 30.0
"""A clock that is set, or a machine that slept, is noticed after this."""


def started_at(finished: Finished) -> datetime | None:
    """When a trial of this study began; None where its row has no such time, or is one of another study."""
    text = finished.trial.get("started")
    if not isinstance(text, str) or finished.trial.get("reused_from") is not None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def block_starts(finished: Iterable[Finished]) -> dict[int, datetime]:
    """Block -> the start of its first trial; blocks without a known time are left out."""
    starts: dict[int, datetime] = {}
    for row in finished:
        moment = started_at(row)
        if moment is not None:
            block = int(row.trial["block"])
            starts[block] = min(moment, starts.get(block, moment))
    return starts


def due_at(finished: Iterable[Finished], every_s: float) -> datetime | None:
    """When the next block is due; None if at once, as after a study that was interrupted for longer than `every_s`.

    Starts further in the future than `every_s` come from a clock that was set back since, and do not count.
    """
    now, pause = datetime.now(UTC), timedelta(seconds=every_s)
    starts = [start for start in block_starts(finished).values() if start <= now + pause]
    due = max(starts) + pause if starts else now
    return due if due > now else None


def seconds_until(due: datetime) -> float:
    """Seconds from now; 0 for a moment that has passed."""
    return max(0.0, (due - datetime.now(UTC)).total_seconds())


def when_text(due: datetime) -> str:
    """Such as "at 14:05 on 2026-11-29, in 3.2 h", by the clock of this machine."""
    return f"at {due.astimezone():%H:%M on %Y-%m-%d}, in {seconds_text(seconds_until(due))}"


def wait_until(due: datetime, what: str, report: Callable[[str], None]) -> None:
    """Sleep until a moment has come. Ctrl-C ends it as anything else: what has finished is kept."""
    report(f"{what} begins {when_text(due)}; until then, Ctrl-C is safe: the same command goes on")
    while (left := seconds_until(due)) > 0:
        time.sleep(min(left, LONGEST_SLEEP_S))
