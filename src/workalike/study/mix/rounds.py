"""What the rounds of a mix say together: a slowdown with its interval, the tail of each workload, fairness.

A round runs each workload alone and all copies side by side, so a slowdown is a ratio within a round. Those of several
rounds are joined as those of blocks are (docs/statistics.md#ratios): a geometric mean with Student's interval of the
log-ratios. One round has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from workalike.study.mix.measure import CopyResult, DumpTimes, fairness, ratio
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.ratios import of_log_ratios
from workalike.text import estimate_text, ratio_text

Round = Sequence[CopyResult]
"""The copies of a mix in one round, in the order of the mix."""
ALONE, TOGETHER = "alone", "side by side"


@dataclass(frozen=True)
class Slowdown:
    """Time side by side ÷ alone: the geometric mean over rounds. `low` and `high` are None with fewer than two."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def as_dict(self, name: str = "slowdown") -> dict[str, float | None]:
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

    @property
    def text(self) -> str:
        """For people: with its interval, `cannot tell` where that says nothing; `-` where nothing is known."""
        if self.value is not None and self.low is None:
            return ratio_text(self.value)
        return estimate_text(self.value, self.low, self.high)

    @property
    def is_found(self) -> bool:
        """Whether there is one: its interval, where it has one, lies above 1."""
        least = self.value if self.low is None else self.low
        return least is not None and least > 1


def slowdown_of(ratios: Iterable[float | None], level: float = LEVEL) -> Slowdown:
    """The slowdown that a ratio for each round shows; rounds without time in I/O are left out."""
    known = [value for value in ratios if value]
    if len(known) < 2:
        return Slowdown(known[0] if known else None)
    found = of_log_ratios(np.log(np.array(known)), TOGETHER, ALONE, level)
    return Slowdown(found.ratio, found.low, found.high if math.isfinite(found.high) else None)


@dataclass(frozen=True)
class CopyOverRounds:
    """One copy in all rounds."""

    rounds: tuple[CopyResult, ...]

    @property
    def first(self) -> CopyResult:
        return self.rounds[0]

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def label(self) -> str:
        return f"{self.first.name} {self.first.copy}"

    @property
    def slowdown(self) -> Slowdown:
        return self.slowdown_at(LEVEL)

    def slowdown_at(self, level: float) -> Slowdown:
        """With an interval of another level."""
        return slowdown_of((each.slowdown for each in self.rounds), level)

    @property
    def alone_s(self) -> float:
        """Time in I/O alone, the mean over rounds."""
        return self.mean(lambda each: each.alone_s) or 0.0

    @property
    def together_s(self) -> float:
        """Time in I/O side by side, the mean over rounds."""
        return self.mean(lambda each: each.together_s) or 0.0

    @property
    def share_alone(self) -> float | None:
        return self.mean(lambda each: each.share_alone)

    @property
    def share_together(self) -> float | None:
        return self.mean(lambda each: each.share_together)

    def mean(self, value: Callable[[CopyResult], float | None]) -> float | None:
        """The mean of a value over the rounds that have it."""
        known = [found for each in self.rounds if (found := value(each)) is not None]
        return sum(known) / len(known) if known else None

    def dump_slowdowns(self) -> list[tuple[int, float]]:
        """(place, slowdown over the rounds) of each dump that took time."""
        return [
            (place, value)
            for place, times in enumerate(zip(*(each.dumps for each in self.rounds), strict=False))
            if (value := slowdown_of(dump.slowdown for dump in times).value) is not None
        ]

    def slowest(self) -> DumpTimes | None:
        """The dump with the most time in I/O side by side, of all rounds."""
        found = [dump for each in self.rounds if (dump := each.slowest) is not None]
        return max(found, key=lambda dump: dump.together_s, default=None)

    def most_slowed(self) -> DumpTimes | None:
        """The dump with the largest slowdown, of all rounds."""
        found = [dump for each in self.rounds if (dump := each.most_slowed) is not None]
        return max(found, key=lambda dump: dump.slowdown or 0.0, default=None)

    def differences(self) -> list[str]:
        """What is not as alone; with its round where there are several."""
        several = len(self.rounds) > 1
        return [
            f"round {number}, {line}" if several else line
            for number, each in enumerate(self.rounds, 1)
            for line in each.differences
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "copy": self.first.copy,
            "ranks": self.first.ranks,
            **self.slowdown.as_dict(),
            "io_alone_s": self.alone_s,
            "io_together_s": self.together_s,
            "io_share_alone": self.share_alone,
            "io_share_together": self.share_together,
            "bytes_written": self.first.bytes_written,
            "bytes_read": self.first.bytes_read,
            "as_alone": not self.differences(),
            "differences": self.differences(),
            "rounds": [each.as_dict() for each in self.rounds],
        }


@dataclass(frozen=True)
class WorkloadOverRounds:
    """All copies of a workload in all rounds: its slowdown, and the slow end of its dumps' times in I/O.

    Attributes:
        name: of the workload.
        copies: how many run side by side.
        slowdown: time in I/O of all copies ÷ that of as many alone.
        slowest: slowdown of the slowest dump of a round.
        alone_slowest_s, together_slowest_s: the slowest dump of all rounds; None without dumps.
        alone_p95_s, together_p95_s: what 95 % of the dumps stay within, interpolated between neighbours.
    """

    name: str
    copies: int
    slowdown: Slowdown
    slowest: Slowdown
    alone_slowest_s: float | None
    together_slowest_s: float | None
    alone_p95_s: float | None
    together_p95_s: float | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "copies": self.copies,
            **self.slowdown.as_dict(),
            **self.slowest.as_dict("slowest_dump_slowdown"),
            "slowest_dump_alone_s": self.alone_slowest_s,
            "slowest_dump_together_s": self.together_slowest_s,
            "p95_dump_alone_s": self.alone_p95_s,
            "p95_dump_together_s": self.together_p95_s,
        }


def slowdown_in(found: Mapping[str, Any], name: str = "slowdown") -> Slowdown:
    """The one that `as_dict` has put into a document."""
    return Slowdown(found[name], found[f"{name}_low"], found[f"{name}_high"])


def copies_of(rounds: Sequence[Round]) -> list[CopyOverRounds]:
    """Each copy with its results of all rounds."""
    return [CopyOverRounds(results) for results in zip(*rounds, strict=True)]


def workloads_of(rounds: Sequence[Round]) -> list[WorkloadOverRounds]:
    """Each workload with its copies of all rounds."""
    names = dict.fromkeys(copy.name for copy in rounds[0])
    return [
        _workload(name, [[copy for copy in each if copy.name == name] for each in rounds]) for name in names
    ]


def _workload(name: str, rounds: Sequence[Round]) -> WorkloadOverRounds:
    # Every copy is compared with the same run alone, whose dumps count once.
    alone = [[dump.alone_s for dump in each[0].dumps] for each in rounds]
    together = [[dump.together_s for copy in each for dump in copy.dumps] for each in rounds]
    all_alone, all_together = list(chain.from_iterable(alone)), list(chain.from_iterable(together))
    return WorkloadOverRounds(
        name,
        len(rounds[0]),
        slowdown_of(ratio(sum(c.together_s for c in each), sum(c.alone_s for c in each)) for each in rounds),
        slowdown_of(
            ratio(max(after, default=0.0), max(before, default=0.0))
            for before, after in zip(alone, together, strict=True)
        ),
        max(all_alone, default=None),
        max(all_together, default=None),
        _p95(all_alone),
        _p95(all_together),
    )


def _p95(seconds: Sequence[float]) -> float | None:
    return float(np.percentile(seconds, 95)) if seconds else None


def fairness_of(rounds: Sequence[Round]) -> dict[str, float | None]:
    """Jain's index: the mean over rounds, with the least and the most."""
    known = [index for each in rounds if (index := fairness(c.slowdown for c in each)) is not None]
    return {
        "fairness": sum(known) / len(known) if known else None,
        "fairness_least": min(known, default=None),
        "fairness_most": max(known, default=None),
    }


def summary(rounds: Sequence[Round], asked: int | None = None) -> dict[str, Any]:
    """The document `mix.json`, of one round or more.

    Args:
        rounds: that have finished.
        asked: how many the mix has; None: these.
    """
    copies = copies_of(rounds)
    return {
        "format": "workalike-mix",
        "version": 2,
        "rounds": len(rounds),
        "rounds_asked": len(rounds) if asked is None else asked,
        "level": LEVEL,
        "copies": [copy.as_dict() for copy in copies],
        "workloads": [workload.as_dict() for workload in workloads_of(rounds)],
        **fairness_of(rounds),
        "worst": _worst(copies),
        "slowed_down": _slowed_down(copies),
        "tail": _tail(copies),
        "as_alone": not any(copy.differences() for copy in copies),
        "in_memory": list(dict.fromkeys(why for each in rounds for copy in each for why in copy.in_memory)),
    }


def _worst(copies: Sequence[CopyOverRounds]) -> dict[str, Any] | None:
    """The copy with the largest slowdown. The largest of many is large by chance, too: its level is Bonferroni's."""
    known = [copy for copy in copies if copy.slowdown.value is not None]
    if not known:
        return None
    worst = max(known, key=lambda copy: copy.slowdown.value or 0.0)
    level = 1 - (1 - LEVEL) / len(known)
    slowdown = worst.slowdown_at(level)
    about = {"name": worst.name, "copy": worst.first.copy, "level": level, "is_found": slowdown.is_found}
    return about | slowdown.as_dict()


def _slowed_down(copies: Sequence[CopyOverRounds]) -> list[dict[str, Any]]:
    """The copies of which a slowdown was found at the level of `worst`, the largest first; none of a single round."""
    known = [copy for copy in copies if copy.slowdown.value is not None]
    level = 1 - (1 - LEVEL) / max(1, len(known))
    pairs = [(copy, copy.slowdown_at(level)) for copy in known]
    found = [(copy, slowdown) for copy, slowdown in pairs if slowdown.low is not None and slowdown.is_found]
    found.sort(key=lambda pair: -(pair[1].value or 0.0))
    return [{"name": c.name, "copy": c.first.copy, **slowdown.as_dict()} for c, slowdown in found]


def _tail(copies: Sequence[CopyOverRounds]) -> dict[str, Any] | None:
    """The dump with the most time in I/O side by side, of all copies and rounds."""
    found = [(dump.together_s, copy, dump) for copy in copies if (dump := copy.slowest()) is not None]
    if not found:
        return None
    _, copy, dump = max(found, key=lambda each: each[0])
    return {"name": copy.name, "copy": copy.first.copy, "dump": dump.as_dict()}
