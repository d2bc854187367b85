"""Families whose files are deleted, where the side file of the log counts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import SynthesisRule
from workalike.facts.rules import by
from workalike.workload.model import Direction, Family, Lifetime


def with_removals(facts: FamilyFacts) -> FamilyFacts:
    """The family, whose files are deleted as the log says.

    A log has how often each file was deleted, but not when: a file that was deleted once was so after its last dump.
    """
    family = facts.family
    removals = {file.key: file.removals or 0 for file in facts.files()}
    if not any(removals.values()) or family.keep or family.rename or family.backup:
        return facts
    if family.lifetime is Lifetime.PER_DUMP:
        changes = _of_dumps(facts, removals)
    else:
        changes = _of_one_file(family, set(removals.values()))
    if changes is None:
        return facts
    try:
        made = Family.model_validate(family.model_dump() | changes)
    except ValidationError:  # a family that cannot do without its file
        return facts
    rule = SynthesisRule.REMOVED if "removed" in changes else SynthesisRule.OLDER_REMOVED
    return replace(facts, family=made, rules=[*facts.rules, by(rule)])


def _of_dumps(facts: FamilyFacts, removals: dict[tuple[int, bool], int]) -> dict[str, Any] | None:
    """Each dump has files of its own: all are deleted, or those of all but the newest dumps."""
    gone = [{removals[file.key] > 0 for file in dump.files} for dump in facts.dumps]
    if any(len(of_dump) != 1 for of_dump in gone):
        return None
    deleted = [of_dump == {True} for of_dump in gone]
    if all(deleted):
        return {"removed": True}
    newest = deleted.count(False)
    in_order = [True] * (len(deleted) - newest) + [False] * newest
    return {"keep": newest} if deleted == in_order and len(deleted) == facts.family.schedule.dumps else None


def _of_one_file(family: Family, counts: set[int]) -> dict[str, Any] | None:
    """One file of several dumps: deleted at the end, or by each dump, which makes it again."""
    if counts == {1}:
        return {"removed": True}
    contents = family.all_contents()
    only_writes = all(
        c.table is None and all(s.direction is Direction.WRITE for s in c.streams) for c in contents
    )
    if family.lifetime is not Lifetime.REUSED or not only_writes or family.truncate:
        return None
    if counts == {family.schedule.dumps}:
        return {"lifetime": Lifetime.PER_DUMP, "removed": True}
    if counts == {family.schedule.dumps - 1}:
        return {"lifetime": Lifetime.PER_DUMP, "keep": 1}
    return None
