"""The period of a report, and times as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from workalike.errors import ErrorKind, WorkalikeError
from workalike.text import day_text

DAY_S = 86400.0
_AGO = re.compile(r"(\d{1,6}) ?(h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True)
class Period:
    """Jobs that began at `first` or later and before `last`, seconds since 1970; None is open."""

    first: float | None = None
    last: float | None = None

    def condition(self, column: str = "start") -> str:
        """As a condition of SQL; it has numbers only."""
        parts = [f"{column} >= {self.first!r}"] if self.first is not None else []
        parts += [f"{column} < {self.last!r}"] if self.last is not None else []
        return " AND ".join(parts) or "true"

    def text(self) -> str:
        ends = [day_text(t) if t is not None else "" for t in (self.first, self.last)]
        if not any(ends):
            return "all jobs"
        return f"jobs from {ends[0] or 'the first'} until {ends[1] or 'now'}"


def moment(text: str, option: str, now: float) -> float:
    """Seconds since 1970 of `2026-11-03`, `2026-11-03T10:00` (UTC), or `7d`, `12h`, `2w` ago.

    Raises:
        WorkalikeError: USAGE.
    """
    if ago := _AGO.fullmatch(text.strip()):
        return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]]).total_seconds()
    try:
        when = datetime.fromisoformat(text.strip())
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"{option} {text[:40]!r} is not a time",
            hint="write 2026-11-03, or 7d for a week ago",
        ) from error
    return seconds
