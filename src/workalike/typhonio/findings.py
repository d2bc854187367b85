"""The findings of a check: the place in the file, what is wrong, and the hint."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

MOST = 1000
"""Number of findings that are kept; beyond it, they are only counted."""


class Level(StrEnum):
    """error: a release-built library fails, crashes or silently returns wrong values. warning: a contradiction that
    the library survives. note: legal, but worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    level: Level
    place: str
    what: str
    hint: str

    def as_dict(self) -> dict[str, str]:
        return {"level": self.level.value, "place": self.place, "what": self.what, "hint": self.hint}

    def text(self) -> str:
        return f"{self.level.value}: {self.place}: {self.what} ({self.hint})"


@dataclass
class Findings:
    """The findings of one file, in the order of the walk."""

    all: list[Finding] = field(default_factory=list)
    counts: dict[Level, int] = field(default_factory=lambda: dict.fromkeys(Level, 0))

    def _add(self, level: Level, place: str, what: str, hint: str) -> None:
        self.counts[level] += 1
        if len(self.all) < MOST:
            self.all.append(Finding(level, place, what, hint))

    def error(self, place: str, what: str, hint: str) -> None:
        self._add(Level.ERROR, place, what, hint)

    def warning(self, place: str, what: str, hint: str) -> None:
        self._add(Level.WARNING, place, what, hint)

    def note(self, place: str, what: str, hint: str) -> None:
        self._add(Level.NOTE, place, what, hint)
