"""What a family's counters leave open: the reading that was taken, and others that fit them as well.

Readings differ by what they mean (a pattern, passes, dumps, an order of directions), not by how they are written.
A reading that performs the same operations is no other reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from workalike import _core
from workalike.characterize.contents.arrays.dataset_misfit import misfit_of_datasets
from workalike.characterize.readings.changes import placed_alike
from workalike.characterize.readings.evidence import evidence_of, families_of_own_files
from workalike.characterize.readings.loss import Loss
from workalike.characterize.readings.reading import PATTERNS, PLACED_BY, Case
from workalike.characterize.readings.registry import all_readings
from workalike.characterize.readings.search import candidates
from workalike.characterize.result import FamilyFacts
from workalike.errors import WorkalikeError
from workalike.facts.jobs import JobFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import WITHIN, DeterminedRow
from workalike.workload.ambiguity import ambiguity
from workalike.workload.model import (
    Assumption,
    Direction,
    Family,
    Lifetime,
    Pattern,
    Reader,
    SharingMode,
    Workload,
)
from workalike.workload.words import AT_RANDOM, Difference

ANY = (
    *(counter for counters in PLACED_BY.values() for counter in counters),
    "OPENS",
    "RW_SWITCHES",
    "STRIDE",
)
"""Counters that any other reading may change."""
TRANSFERS = (_core.kinds.index("read"), _core.kinds.index("write"))
_LIFETIMES = {
    Lifetime.PER_DUMP: Difference.PER_DUMP,
    Lifetime.APPENDED: Difference.APPENDED,
    Lifetime.OVERWRITTEN: Difference.OVERWRITTEN,
    Lifetime.REUSED: Difference.REUSED,
}
_WORDS = {Direction.READ: "reads", Direction.WRITE: "writes"}


def judged(families: Sequence[FamilyFacts], job: JobFacts) -> list[FamilyFacts]:
    """The families, each with its misfit, and with its runners-up under `assumed`, if there are any.

    A family with a complete trace has no runner-up. One that shares files is not judged: the log does not tell the
    counters of the families apart.
    """
    return [
        _judged(facts, job) if own else facts
        for facts, own in zip(families, families_of_own_files(families), strict=True)
    ]


def _judged(facts: FamilyFacts, job: JobFacts) -> FamilyFacts:
    if facts.misfit is not None:  # of an order made from counters
        return facts
    evidence = evidence_of(facts, job)
    loss = None if evidence is None else Loss(evidence)
    misfit = None if loss is None else loss.residuals(facts.family)
    if loss is None or misfit is None:
        return replace(facts, misfit=misfit_of_datasets(facts, job))
    found = list(_alternatives(facts.family, loss, misfit)) if is_guessed(facts.family) else []
    if not found:
        return replace(facts, misfit=misfit)
    text = ambiguity(differences([facts.family, *found]))
    family = facts.family.model_copy(update={"assumed": [*facts.family.assumed, text]})
    return replace(facts, family=family, misfit=misfit, alternatives=found)


def is_guessed(family: Family) -> bool:
    """Whether counters alone tell where a family's operations land."""
    return Assumption.PLACEMENT in family.assumed and family.reader is not Reader.NEIGHBOUR


def _alternatives(taken: Family, loss: Loss, misfit: Sequence[DeterminedRow]) -> Iterator[Family]:
    """The simplest other readings that are off in as many counters, and as little."""
    found: list[Family] = []
    for made in _others(Case(loss.evidence, taken, ANY)):
        # One that differs in something else than the first would make the line long and say little more.
        if found and _apart(taken, made) != _apart(taken, found[0]):
            continue
        if any(not _apart(other, made) for other in found):
            continue
        rows = loss.residuals(made)
        if rows is None or not _fits(rows, misfit) or same_operations(taken, made, loss.evidence.nprocs):
            continue
        found.append(made)
        yield made
        if len(found) == THRESHOLDS.alternatives_named:
            return


def differences(readings: Sequence[Family]) -> list[list[Difference]]:
    """What sets each reading apart from the others, of readings that differ from the first in the same kinds."""
    kinds = list(zip(*map(_readings, readings), strict=True))
    out: list[list[Difference]] = [[] for _ in readings]
    for kind in _apart(readings[0], readings[1]):
        common = set.intersection(*kinds[kind])
        for place, words in enumerate(kinds[kind]):
            out[place] += sorted(words - common or words)
    return out


def _apart(taken: Family, other: Family) -> list[int]:
    """The kinds of words in which two readings differ."""
    pairs = zip(_readings(taken), _readings(other), strict=True)
    return [place for place, (first, second) in enumerate(pairs) if first and second and first != second]


def same_operations(taken: Family, other: Family, ranks: int) -> bool:
    """Whether every rank performs the same reads and writes of the same bytes of the same files, in the same order.

    Of a large job, ranks at even distances stand for all.
    """
    try:
        plans = [
            core_plan(resolve(Workload(ranks=ranks, runtime=0.0, families=[family]), Options()))
            for family in (taken, other)
        ]
        # Most readings differ on the first or the last rank: one look at each saves the walk over all.
        order = dict.fromkeys([0, ranks - 1, *range(0, ranks, -(-ranks // THRESHOLDS.alternatives_ranks))])
        return plans[0].files == plans[1].files and all(_same_rows(plans, rank) for rank in order)
    except (WorkalikeError, _core.PlanError):
        return True


def _same_rows(plans: Sequence[_core.Plan], rank: int) -> bool:
    columns = []
    for plan in plans:
        calls = plan.operations(rank, THRESHOLDS.synthesis_calls)
        moves = np.isin(calls["kind"], TRANSFERS)
        columns.append([calls[name][moves] for name in ("file", "kind", "offset", "length")])
    return all(np.array_equal(a, b) for a, b in zip(*columns, strict=True))


def _others(case: Case) -> Iterator[Family]:
    """Readings of another meaning, the simplest first.

    Reads and writes at random are left out: chance explains the counters of any few operations.
    """
    meaningful = [reading for reading in all_readings() if reading.alternative is not None]
    made = [(reading.alternative or 0, family) for reading, family in candidates(case, readings=meaningful)]
    both = [family for pattern in PATTERNS for family in placed_alike(case.family, pattern)]
    for other in [*both, *(family for _, family in sorted(made, key=lambda pair: pair[0]))]:
        unlikely = any(
            stream.pattern in AT_RANDOM
            or (stream.pattern is Pattern.REPLICATED and stream.direction is Direction.WRITE)
            for content in other.all_contents()
            for stream in content.streams
        )
        if not unlikely and _apart(case.family, other):
            yield other


def _fits(rows: Sequence[DeterminedRow], misfit: Sequence[DeterminedRow]) -> bool:
    if len(rows) != len(misfit):
        return len(rows) < len(misfit)
    return sum(row.error for row in rows) <= sum(row.error for row in misfit) + WITHIN


def _readings(family: Family) -> list[set[Difference]]:
    """What a family means: the patterns of its writes and reads, passes, dumps, their files, and what comes first."""
    contents = family.all_contents()
    streams = [stream for content in contents for stream in content.streams]
    alone = family.sharing.mode in (SharingMode.ROOT, SharingMode.PER_RANK)
    patterns = [
        {Difference(f"{_pattern(s.pattern, alone).value}-{_WORDS[d]}") for s in streams if s.direction is d}
        for d in (Direction.WRITE, Direction.READ)
    ]
    several = any(content.passes > 1 for content in contents)
    dumps = family.schedule.dumps > 1
    first = {content.streams[0].direction for content in contents if content.streams}
    return [
        *patterns,
        {Difference.SEVERAL_PASSES if several else Difference.ONE_PASS},
        {Difference.SEVERAL_DUMPS if dumps else Difference.ONE_DUMP},
        {_LIFETIMES[family.lifetime]} if dumps else set(),
        {Difference.WRITES_FIRST if d is Direction.WRITE else Difference.READS_FIRST for d in first},
    ]


def _pattern(pattern: Pattern, alone: bool) -> Pattern:
    """The pattern; alone in its file, a rank's operations are contiguous in several of them."""
    if not alone:
        return pattern
    if pattern is Pattern.SHUFFLED:
        return Pattern.RANDOM
    return Pattern.CONTIGUOUS if pattern in (Pattern.INTERLEAVED, Pattern.REPLICATED) else pattern
