"""What a study compares its settings by: a closed list, each with its unit and its good direction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workalike.study.statistics.ratios import Ratio
from workalike.study.statistics.table import Better
from workalike.text import is_telling, rate_text, ratio_text, seconds_text


class Objective(StrEnum):
    """A value of a trial by which settings are compared; docs/study.md has what each is."""

    BANDWIDTH = "bandwidth"
    IO_TIME = "io-time"
    WALL_TIME = "wall-time"
    SLOWEST_DUMP = "slowest-dump"
    P95_DUMP = "p95-dump"

    @property
    def column(self) -> str:
        """Its name in the results."""
        return _FACTS[self].column

    @property
    def phrase(self) -> str:
        """In a sentence: `I/O time`."""
        return _FACTS[self].phrase

    @property
    def unit(self) -> str:
        """In words."""
        return "bytes per second" if self is Objective.BANDWIDTH else "seconds"

    @property
    def header(self) -> str:
        """The unit as the end of a column's name in CSV files."""
        return "bytes_per_s" if self is Objective.BANDWIDTH else "s"

    @property
    def better(self) -> Better:
        """A bandwidth should be high, a time low."""
        return Better.HIGHER if self is Objective.BANDWIDTH else Better.LOWER

    @property
    def described(self) -> str:
        """With its unit and its direction, for the head of a page."""
        direction = "more" if self.better is Better.HIGHER else "less"
        return f"{self.phrase} ({self.unit}, {direction} is better)"

    def shown(self, value: float) -> str:
        """A value for people; `-` for NaN."""
        known = None if value != value else value
        return rate_text(known) if self is Objective.BANDWIDTH else seconds_text(known)

    def amount(self, value: float) -> str:
        """A value in a sentence: `2 GiB/s`, `an I/O time of 3 s`."""
        if self is Objective.BANDWIDTH:
            return self.shown(value)
        return f"{_FACTS[self].article} {self.phrase} of {self.shown(value)}"

    def times(self, ratio: Ratio, whose: str = "its") -> str:
        """A ratio with its interval, in a sentence."""
        if not is_telling(ratio.low, ratio.high):
            return f"{whose} {self.phrase} by a factor {ratio.interval}"
        return f"{ratio_text(ratio.ratio)} times {whose} {self.phrase} ({ratio.interval})"


@dataclass(frozen=True)
class _Facts:
    column: str
    article: str
    phrase: str


_FACTS = {
    Objective.BANDWIDTH: _Facts("bandwidth", "a", "bandwidth"),
    Objective.IO_TIME: _Facts("io_time_s", "an", "I/O time"),
    Objective.WALL_TIME: _Facts("wall_s", "a", "run time"),
    Objective.SLOWEST_DUMP: _Facts("slowest_dump_s", "a", "slowest dump"),
    Objective.P95_DUMP: _Facts("p95_dump_s", "a", "95th percentile of dumps"),
}
DEFAULT = (Objective.BANDWIDTH,)


def recorded_objectives(study: object) -> tuple[Objective, ...]:
    """What a recorded study says that it compares by, as its manifest has it; the default where it does not say."""
    said = study.get("objective") if isinstance(study, dict) else None
    words = said if isinstance(said, list) else [said]
    known = tuple(Objective(word) for word in words if isinstance(word, str) and word in set(Objective))
    return known or DEFAULT
