"""What the comparison of two logs finds, as it is printed, written and shown.

Differences are in per cent of the larger of the two values: 100 where one side has nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from workalike.files import write_text

Word = Literal["equal", "alike", "changed"]
Kind = Literal["job", "file more", "file less", "counter"]


class Change(BaseModel):
    """A counter, or a file that only one side has.

    `file` is its name in the new log, `file_before` its name in the first where that is another. `value` is a common
    size or stride (with the lengths and strides of each dimension), whose count the numbers are. `before` is the
    smallest and `before_most` the largest of the baseline; `now` is the new log's. Of a file they are bytes.
    """

    kind: Kind
    module: str
    counter: str
    file: str = ""
    file_before: str | None = None
    value: list[int] | None = None
    before: int = 0
    before_most: int = 0
    now: int = 0
    off_pct: float = 0.0


class CounterTotal(BaseModel):
    """A counter, and of how many files it changed (of a table of values: how many values)."""

    module: str
    counter: str
    changed: int


class Part(BaseModel):
    """The comparison of some files. Counters that are zero on both sides are not counted.

    `unequal` counters differ, `changed` of them by more than is alike. `changes` and `within` (those that differ and are
    alike) are the largest; `by_counter` counts all that changed. `files_more` are only in the new log, `files_less`
    only in the baseline.
    """

    files: int = 0
    counters: int = 0
    unequal: int = 0
    changed: int = 0
    files_more: int = 0
    files_less: int = 0
    largest_pct: float = 0.0
    changes: list[Change] = []
    within: list[Change] = []
    by_counter: list[CounterTotal] = []

    @property
    def word(self) -> Word:
        """What these files say."""
        if self.changed or self.files_more or self.files_less:
            return "changed"
        return "alike" if self.unequal else "equal"

    @property
    def listed(self) -> int:
        """All changes, also those that `changes` has no room for."""
        return self.changed + self.files_more + self.files_less


class ComparedLog(BaseModel):
    """A log, or the logs of a job: as named on the command line, its program and who wrote it."""

    name: str
    program: str
    version: str
    ranks: int
    files: int


class LogComparison(BaseModel):
    """A new log beside one log, or beside several of a baseline."""

    format: Literal["workalike-log-comparison"] = "workalike-log-comparison"
    version: Literal[1] = 1
    word: Word
    headline: str = ""
    baseline: list[ComparedLog]
    new: ComparedLog
    compared: Part
    program_start: Part
    program_start_counts: bool = False
    partial_modules: list[str] = []
    unreadable_modules: list[str] = []
    notes: list[str] = []


def write_comparison(found: LogComparison, path: str | Path) -> None:
    """Write the comparison as JSON.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_text(path, found.model_dump_json(indent=1) + "\n")
