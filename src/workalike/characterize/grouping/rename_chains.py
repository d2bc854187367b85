"""Renames of files that have their names already: on from name to name, of files that are read, and of folders."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import FileRule
from workalike.facts.records import FileFacts
from workalike.facts.rules import by
from workalike.workload.model import MAX_OPERATIONS, Direction, Family
from workalike.workload.per_dump import of_dumps


def with_further_renames(families: Sequence[FamilyFacts], files: Sequence[FileFacts]) -> list[FamilyFacts]:
    """The families, whose dumps rename their files as often as the log says.

    A log counts a rename at the name that is taken away. Many of these names no call has opened: they count for the file
    that had them before, for the one that has them then (a program claims a file by a rename), or for a file of the folder
    that they are.

    Args:
        families: all of the workload.
        files: all of the application's.
    """
    passed = _names_on_the_way(families, files)
    return [_renamed(facts, passed.get(place, _Passed())) for place, facts in enumerate(families)]


@dataclass
class _Passed:
    """Names that files of a family have had on their way, which nobody opened; renames of them, by dump."""

    names: list[FileFacts] = field(default_factory=list)
    renames: Counter[int] = field(default_factory=Counter)


def renames_from(file: FileFacts) -> int:
    """How often a name was taken away by a rename."""
    posix = file.modules.get("POSIX")
    return posix.total("RENAME_SOURCES") if posix is not None else 0


def _is_opened(file: FileFacts) -> bool:
    """Whether POSIX opened a name."""
    posix = file.modules.get("POSIX")
    return posix is not None and posix.total("OPENS") > 0


def _names_on_the_way(families: Sequence[FamilyFacts], files: Sequence[FileFacts]) -> dict[int, _Passed]:
    """By the place of a family, the names that its files have had on their way."""
    home: dict[int, tuple[int, int]] = {}  # of a file: the family and its dump
    for place, facts in enumerate(families):
        for number, dump in enumerate(facts.dumps):
            for file in dump.files:
                home.setdefault(file.record_id, (place, number))
    by_id = {file.record_id: file for file in files}
    taken = {
        number: home[file.record_id] for file in files if file.record_id in home for number in _sources(file)
    }
    found: dict[int, _Passed] = defaultdict(_Passed)
    for file in files:
        times = renames_from(file)
        if not times or file.record_id in home:
            continue
        owner = _origin(file, by_id, home) or taken.get(file.record_id) or _inside(file, by_id, home)
        if owner is None:
            continue
        place, number = owner
        found[place].names.append(file)
        if times == 1:
            found[place].renames[number] += 1
        else:  # one name that each of the files has had, or all but the last ones
            found[place].renames.update(_spread(times, families[place].family.schedule.dumps))
    return found


def _spread(times: int, dumps: int) -> dict[int, int]:
    """So many renames in even shares among dumps, of which the first ones have one more."""
    return {dump: times // dumps + (dump < times % dumps) for dump in range(dumps)}


def _origin(
    file: FileFacts, by_id: Mapping[int, FileFacts], home: Mapping[int, tuple[int, int]]
) -> tuple[int, int] | None:
    """The family and dump of the file that came to a name, over other names if need be."""
    seen = set()
    while file.record_id not in seen:
        seen.add(file.record_id)
        sources = [number for number in _sources(file) if number in by_id]
        known = next((home[number] for number in sources if number in home), None)
        if known is not None or not sources:
            return known
        file = by_id[sources[0]]
    return None


def _sources(file: FileFacts) -> Iterator[int]:
    """Record ids of files that were renamed to a name, as far as its records tell."""
    posix = file.modules.get("POSIX")
    if posix is not None and posix.total("RENAME_TARGETS"):
        yield from (int(n) % 2**64 for n in posix.column("RENAMED_FROM").tolist() if n not in (0, -1))


def _inside(
    folder: FileFacts, by_id: Mapping[int, FileFacts], home: Mapping[int, tuple[int, int]]
) -> tuple[int, int] | None:
    """The family and dump of a file of a folder; None where a name is none."""
    start = f"{folder.name}/"
    return next((home[number] for number in home if by_id[number].name.startswith(start)), None)


def _renamed(facts: FamilyFacts, passed: _Passed) -> FamilyFacts:
    """A family with the renames of its files and of names that they have had; as it is where `renames` cannot say them."""
    family = facts.family
    counts = _of_each_dump(facts, passed)
    if not any(counts) or min(counts) < 0 or max(counts) > MAX_OPERATIONS:
        return facts
    contents = [
        family.content_of(dump).model_copy(update={"renames": count}) for dump, count in enumerate(counts)
    ]
    try:
        made = Family.model_validate(family.model_dump() | of_dumps(contents))
    except ValidationError:  # its dumps share a file
        return facts
    return replace(facts, family=made, passed=passed.names, rules=[*facts.rules, by(FileRule.RENAMED_ON)])


def _of_each_dump(facts: FamilyFacts, passed: _Passed) -> list[int]:
    """The renames of each dump beside those that the family says already; empty where these cannot be distinguished."""
    family = facts.family
    dumps = family.schedule.dumps
    own = [[renames_from(file) for file in dump.files] for dump in facts.dumps]
    files = facts.files()
    if len(own) == dumps and sum(map(len, own)) == len(files):
        if any(renames_from(file) > 1 and _is_opened(file) for file in files):  # several files of one name
            return []
        counts = [sum(of_dump) - family.rename * len(of_dump) for of_dump in own]
    else:
        made = sum(_writes(family, dump) for dump in range(dumps))
        said = (made - family.backup) * len(files) if family.rename or family.backup else 0
        left = sum(map(renames_from, files)) - said
        if not 0 <= left <= dumps:
            return []
        spread = _spread(left, dumps)
        counts = [spread[dump] for dump in range(dumps)]
    return [count + passed.renames[dump] for dump, count in enumerate(counts)]


def _writes(family: Family, dump: int) -> bool:
    return family.content_of(dump).moved(1, Direction.WRITE) > 0
