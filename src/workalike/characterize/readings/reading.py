"""What a reading is. Each is a module of `files/`, `placement/` or `operations/`, and has one `READING`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from workalike.characterize.readings.evidence import Evidence
from workalike.facts.rules import Decision, Word, by
from workalike.facts.times import Interval, closed_interval
from workalike.predict.agreement import DeterminedRow
from workalike.workload.model import Direction, Family, Lifetime, Pattern, SharingMode
from workalike.workload.quantities import MAX_REPEATS

MAX_PASSES = MAX_REPEATS
PLACED_BY = {
    Direction.READ: ("SEQ_READS", "CONSEC_READS", "MAX_BYTE_READ"),
    Direction.WRITE: ("SEQ_WRITES", "CONSEC_WRITES", "MAX_BYTE_WRITTEN"),
}
"""Counters that depend on where the operations of a direction land."""
OFFSETS = ("SEQ_", "CONSEC_", "MAX_BYTE_")
"""What the names of these begin with."""
PATTERNS = (Pattern.INTERLEAVED, Pattern.CONTIGUOUS, Pattern.RANDOM, Pattern.SHUFFLED, Pattern.REPLICATED)


@dataclass(frozen=True)
class Case:
    """A family as it is read so far, and what is off in it."""

    evidence: Evidence
    family: Family
    off: Sequence[str]
    """Names of the counters that are off."""
    residuals: Sequence[DeterminedRow] = ()
    """The same, with the numbers."""

    @property
    def nprocs(self) -> int:
        return self.evidence.nprocs

    @cached_property
    def members(self) -> int:
        """Ranks that take part."""
        return self.family.members(self.nprocs)

    @property
    def opens(self) -> int:
        """Opens of the family's files by all ranks."""
        return self.evidence.opens

    def is_off(self, *beginnings: str) -> bool:
        """Whether a counter whose name begins so is off."""
        return any(counter.startswith(beginnings) for counter in self.off)

    @cached_property
    def misplaced(self) -> list[Direction]:
        """The directions of which a counter is off that depends on where operations land."""
        return [d for d in Direction if any(counter in self.off for counter in PLACED_BY[d])]

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The patterns that operations may have. Ranks with files of their own have no order together."""
        alone = self.family.sharing.mode is SharingMode.PER_RANK or self.members == 1
        return [pattern for pattern in PATTERNS if not (alone and pattern is Pattern.SHUFFLED)]

    @cached_property
    def files(self) -> int:
        """Files over which a dump's operations are spread, times the dumps that have files of their own."""
        dumps = self.family.schedule.dumps if self.family.lifetime is Lifetime.PER_DUMP else 1
        return max(1, len(self.evidence.files) // max(1, dumps)) * dumps

    @property
    def is_one_file(self) -> bool:
        """Whether there is one file, or one of each member."""
        own = self.family.sharing.mode is SharingMode.PER_RANK
        return len(self.evidence.files) == (self.members if own else 1)

    @cached_property
    def passes(self) -> list[int]:
        """How often a dump may go over its extent: the bytes of files by their extents."""
        counters = self.evidence.determined
        found = set()
        for past in ("READ", "WRITTEN"):
            extents = sum(m.largest(f"MAX_BYTE_{past}") + 1 for m in self.evidence.modules())
            passes = round(counters.get(f"BYTES_{past}", 0) / max(1, extents))
            if 1 < passes <= MAX_PASSES:
                found.add(passes)
        return sorted(found)

    @property
    def writes_alone(self) -> bool:
        """Whether one rank makes all POSIX calls on each file, and all dumps do the same."""
        alone = self.members == 1 or self.family.sharing.mode in (SharingMode.PER_RANK, SharingMode.ROOT)
        same = self.family.content is not None and self.family.schedule.dumps in (1, self.files)
        return alone and same and self.evidence.module == "POSIX"

    @property
    def extents_off(self) -> list[tuple[Direction, int]]:
        """(direction, bytes up to the last one accessed) of directions of which this is off."""
        names = ((Direction.READ, "MAX_BYTE_READ"), (Direction.WRITE, "MAX_BYTE_WRITTEN"))
        modules = self.evidence.modules()
        return [
            (direction, max(m.largest(name) for m in modules) + 1)
            for direction, name in names
            if name in self.off
        ]

    @cached_property
    def idle(self) -> Interval | None:
        """From the first close to the last open, of several files in the mean; None where it is not known of all."""
        run_time = self.evidence.job.run_time
        found = [closed_interval(file, self.family.counted_at, run_time) for file in self.evidence.files]
        known = [interval for interval in found if interval is not None]
        if not known or len(known) < len(found):
            return None
        start, end = (
            sum(edges) / len(known) for edges in zip(*((i.start, i.end) for i in known), strict=True)
        )
        return Interval(start, end)


class Taken(Enum):
    """When a candidate of a reading is taken."""

    PREFERRED = "before the search, if no more counters are off: it is the more plausible reading"
    BETTER = "if less is off in it than in the family as it is, and in no other candidate less"
    AT_LAST = "after the search, if no more is off: it says more of an order that chance explains"


def _always(case: Case) -> bool:
    return True


@dataclass(frozen=True)
class Reading:
    """One of the ways in which the counters of a family can have come about."""

    id: str
    sentence: str
    """What the report says of a family that is read so."""
    evidence: str
    """Which numbers of a log speak for it, for those who read the list of readings."""
    rank: int
    """Of candidates in which as much is off, that of the lowest rank is taken: the simplest."""
    candidates: Callable[[Case], Iterator[Family]]
    """The family as it may be instead. No candidate needs to fit: the search predicts and compares each."""
    off: tuple[str, ...] = ()
    """Beginnings of names of counters. It applies where one of these is off; without any, whatever is off."""
    applies: Callable[[Case], bool] = _always
    """For which families it is tried."""
    taken: Taken = Taken.BETTER
    alternative: int | None = None
    """Its place among alternatives that fit as well and mean something else; None: it means nothing else."""

    def tried(self, case: Case) -> Iterator[Family]:
        """The candidates for a case, none where the reading does not apply."""
        if (not self.off or case.is_off(*self.off)) and self.applies(case):
            yield from self.candidates(case)

    @property
    def decision(self) -> Decision:
        return by(Word(self.id, self.sentence))
