"""Families whose files are deleted or emptied, where the side file of the log counts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import FileRule
from workalike.facts.rules import by
from workalike.workload.model import Assumption, Content, Direction, Family, Lifetime, SharingMode


def with_removals(facts: FamilyFacts) -> FamilyFacts:
    """The family, whose files are deleted as the log says.

    A log has how often each file was deleted, but not when: that a file that was deleted once was so after its last dump
    is assumed.
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
        assumed = list(dict.fromkeys([*family.assumed, Assumption.DELETIONS]))
        made = Family.model_validate(family.model_dump() | changes | {"assumed": assumed})
    except ValidationError:  # a family that cannot do without its file
        return facts
    rule = FileRule.REMOVED if "removed" in changes else FileRule.OLDER_REMOVED
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
    """One file of several dumps: deleted at the end, or by each dump, which makes it again.

    A name counts as deleted only where the process has made or opened the file before. So as many deletions as dumps
    include the last dump's file, and one fewer leave it.
    """
    if counts == {1}:
        return {"removed": True}
    if family.lifetime is not Lifetime.REUSED or not all(
        _needs_no_older_data(c) for c in family.all_contents()
    ):
        return None
    anew = {"lifetime": Lifetime.PER_DUMP, "truncate": False}  # a file that is made anew is empty
    if counts == {family.schedule.dumps}:
        return anew | {"removed": True}
    if counts == {family.schedule.dumps - 1}:
        return anew | {"keep": 1}
    return None


def _needs_no_older_data(content: Content) -> bool:
    """Whether a dump reads nothing, or only after it has written; a table may do both in any order."""
    if content.table is not None:
        return False
    return not content.streams or content.streams[0].direction is Direction.WRITE


def emptied(facts: FamilyFacts, nprocs: int) -> FamilyFacts:
    """The family as one whose dumps empty their file first, where the logs' side files say so."""
    family = facts.family
    files = facts.files()
    alone = family.sharing.mode is SharingMode.PER_RANK or family.members(nprocs) == 1
    if family.lifetime is not Lifetime.REUSED or not alone or not files:
        return facts
    if any(file.truncations < family.schedule.dumps - 1 for file in files):
        return facts
    try:
        made = Family.model_validate(family.model_dump() | {"truncate": True})
    except ValidationError:  # it reads, too
        return facts
    return replace(facts, family=made, rules=[*facts.rules, by(FileRule.TRUNCATED)])
