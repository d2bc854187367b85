"""Families that read bytes of their files that no dump wrote: holes, as far as a log tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import SynthesisRule
from workalike.errors import WorkalikeError
from workalike.facts.rules import by
from workalike.plan.resolve import families_that_read_holes
from workalike.workload.model import Workload


def with_holes(families: Sequence[FamilyFacts], workload: Workload) -> list[FamilyFacts]:
    """The families, of which those that read between what their dumps wrote are `sparse`.

    A log has no sign of data in such a place. A file that is made before the run would fill it, and so would be no
    sparse file any more.
    """
    try:
        found = families_that_read_holes(workload)
    except WorkalikeError:  # a workload that has no plan; whoever plans it says so
        return list(families)
    return [
        replace(
            facts,
            family=facts.family.model_copy(update={"sparse": True}),
            rules=[*facts.rules, by(SynthesisRule.SPARSE)],
        )
        if position in found
        else facts
        for position, facts in enumerate(families)
    ]
