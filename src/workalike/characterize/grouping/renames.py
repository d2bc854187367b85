"""Files that are written under another name first, and files of which older ones are kept under other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import ValidationError

from workalike.characterize.grouping.families import DataFile
from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import FileRule
from workalike.facts.records import FileFacts
from workalike.facts.rules import by
from workalike.workload.model import Direction, Family, Lifetime


def renames_of(files: Iterable[FileFacts]) -> dict[int, int]:
    """For the file that last took the name of another: how many files have taken that name."""
    return {source: file.modules["POSIX"].total("RENAME_TARGETS") for source, file in _renamed(files)}


def _renamed(files: Iterable[FileFacts]) -> Iterator[tuple[int, FileFacts]]:
    """(record id of the file that it was before, file) of each name that a rename gave, from one file."""
    for file in files:
        posix = file.modules.get("POSIX")
        if posix is None or not posix.total("RENAME_TARGETS"):
            continue
        sources = {
            int(value) % 2**64 for value in posix.column("RENAMED_FROM").tolist() if value not in (0, -1)
        }
        if len(sources) == 1:
            yield sources.pop(), file


def backups_of(files: Iterable[FileFacts]) -> dict[int, int]:
    """For each file that others were made of by a rename: how many names the older ones go through.

    A program that keeps three backups renames the second to the third, the first to the second, and the file to the first.
    """
    made_of = {source: file.record_id % 2**64 for source, file in _renamed(files)}
    found = {}
    for first in made_of.keys() - set(made_of.values()):
        names = [first]
        while names[-1] in made_of and made_of[names[-1]] not in names:
            names.append(made_of[names[-1]])
        found[first] = len(names) - 1
    return found


def with_backups(facts: FamilyFacts, backups: Mapping[int, int]) -> FamilyFacts:
    """A family whose file each dump that writes, but the last, renames as one that keeps backups; others as they are."""
    family, files = facts.family, facts.files()
    if family.lifetime is not Lifetime.REUSED or family.schedule.dumps < 2 or not files:
        return facts
    kept = {backups.get(file.record_id % 2**64, 0) for file in files}
    renames = {file.modules["POSIX"].total("RENAME_SOURCES") for file in files if "POSIX" in file.modules}
    written = sum(
        family.content_of(dump).moved(1, Direction.WRITE) > 0 for dump in range(family.schedule.dumps)
    )
    if len(kept) != 1 or renames != {written - 1} or not max(kept):
        return facts
    changes = {"backup": True, "keep": 1 + kept.pop()}
    try:
        made = Family.model_validate(family.model_dump() | changes)
    except ValidationError:  # it is read, too
        return facts
    return replace(facts, family=made, rules=[*facts.rules, by(FileRule.BACKED_UP)])


def renames_to_one_name(files: Sequence[DataFile], renames: Mapping[int, int]) -> int:
    """How often files of a family took one name, of which the last one alone is left; 0 where they took several."""
    made = sum(
        data.file.modules["POSIX"].total("RENAME_SOURCES") for data in files if "POSIX" in data.file.modules
    )
    taken = max((renames.get(data.file.record_id % 2**64, 0) for data in files), default=0)
    return taken if taken == made else 0
