"""The search over readings: the one wins whose predicted counters are nearest to the log's.

What the rules have made of a family's counters is planned, and the counters that a log of its run would hold are
predicted. Where they differ from the log's, the candidates of all readings that apply are predicted, too. The nearest is
taken if it is nearer than the family as it is, and the search goes on from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from workalike.characterize.options import CounterGroup
from workalike.characterize.readings.dump_times import timed
from workalike.characterize.readings.evidence import Evidence, evidence_of, families_of_own_files
from workalike.characterize.readings.loss import Loss, Residuals, size_of
from workalike.characterize.readings.reading import Case, Reading, Taken
from workalike.characterize.readings.registry import all_readings
from workalike.characterize.result import FamilyFacts
from workalike.facts.jobs import JobFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Family
from workalike.workload.words import AT_RANDOM


def best_readings(
    families: Sequence[FamilyFacts], job: JobFacts, leave_out: Collection[CounterGroup] = ()
) -> list[FamilyFacts]:
    """The families, each in the reading whose counters are nearest to the log's.

    Families that share a file are left alone: the log does not tell their counters apart.
    """
    return [
        best_reading(facts, job, leave_out) if own else facts
        for facts, own in zip(families, families_of_own_files(families), strict=True)
    ]


def residuals_of(facts: FamilyFacts, job: JobFacts) -> Residuals | None:
    """The determined counters in which a family's prediction is off; None where they cannot be predicted."""
    evidence = evidence_of(facts, job)
    return None if evidence is None else Loss(evidence).residuals(facts.family)


def best_reading(facts: FamilyFacts, job: JobFacts, leave_out: Collection[CounterGroup] = ()) -> FamilyFacts:
    """The family as it is, or in its best other reading."""
    evidence = evidence_of(facts, job)
    if evidence is None:
        return facts
    loss = Loss(evidence, leave_out)
    family, residuals = facts.family, loss.residuals(facts.family)
    taken: list[Reading] = []
    rounds = [Taken.PREFERRED, *[Taken.BETTER] * THRESHOLDS.synthesis_rounds, Taken.AT_LAST]
    while rounds and residuals is not None:
        when = rounds.pop(0)
        case = Case(evidence, family, [row.counter for row in residuals], residuals)
        step = _step(case, loss, when) if residuals or when is not Taken.BETTER else None
        if step is not None:
            reading, family, residuals = step
            taken.append(reading)
        elif when is Taken.BETTER:
            rounds = [Taken.AT_LAST]
    exact = _without_chance(evidence, loss, family) if residuals == [] else None
    if exact is not None:
        reading, family = exact
        taken.append(reading)
    if not taken:
        return facts
    timed_family, dumps = timed(facts, family, job.nprocs)
    rules = [*facts.rules, *(reading.decision for reading in taken)]
    return replace(facts, family=timed_family, dumps=dumps, rules=rules, fitted=True)


def _without_chance(evidence: Evidence, loss: Loss, family: Family) -> tuple[Reading, Family] | None:
    """The reading that has all counters as the log has them, for a family in random order that only may have them."""
    at_random = any(s.pattern in AT_RANDOM for content in family.all_contents() for s in content.streams)
    off = loss.residuals(family, chance=False) if at_random else None
    if not off:
        return None
    case = Case(evidence, family, [row.counter for row in off], off)
    return next((found for found in candidates(case) if loss.residuals(found[1], chance=False) == []), None)


def candidates(
    case: Case, when: Taken = Taken.BETTER, readings: Sequence[Reading] | None = None
) -> Iterator[tuple[Reading, Family]]:
    """Other readings of the same bytes that may set right what is off, the simplest first, each once."""
    tried = {hash(case.family.model_dump_json())}  # comparing families of thousands of contents takes minutes
    for reading in all_readings() if readings is None else readings:
        for family in reading.tried(case) if reading.taken is when else ():
            key = hash(family.model_dump_json())
            if key not in tried:
                tried.add(key)
                yield reading, family


def _step(case: Case, loss: Loss, when: Taken) -> tuple[Reading, Family, Residuals] | None:
    """The candidate that is taken next, and what is off in it; None where the family stays as it is."""
    best = None
    for reading, family in candidates(case, when):
        residuals = loss.residuals(family)
        if residuals is None:
            continue
        if when is Taken.PREFERRED and len(residuals) <= len(case.residuals):
            return reading, family, residuals
        if when is Taken.AT_LAST and size_of(residuals) <= size_of(case.residuals):
            return reading, family, residuals
        if when is Taken.BETTER and size_of(residuals) < size_of(best[2] if best else case.residuals):
            best = reading, family, residuals
    return best
