"""Which files belong to which family: in an original by what characterization found, in a replica by the engine's names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from pathlib import PurePosixPath

from workalike import _core
from workalike.characterize.result import Characterization
from workalike.facts.records import FileFacts
from workalike.predict.agreement import Group
from workalike.predict.prediction import Key
from workalike.workload.words import Role


def key_of_name(name: str) -> Key | None:
    """The role and number in the name of a data file of the engine; None for any other name."""
    parsed = _core.parse_name(PurePosixPath(name).name)
    return (Role(parsed[0]), parsed[1]) if parsed else None


def file_of_name(name: str) -> int | None:
    """Which of its family's files a data file of the engine is."""
    parsed = _core.parse_name(PurePosixPath(name).name)
    return parsed[2] if parsed else None


def files_by_family(files: Iterable[FileFacts]) -> dict[Key, list[FileFacts]]:
    """The files of the engine's run, by the family in their names; a library may make a folder of a file."""
    out: dict[Key, list[FileFacts]] = defaultdict(list)
    for file in files:
        path = PurePosixPath(file.name)
        keys = (key_of_name(part) for part in reversed(path.parts[-3:]))
        key = next((key for key in keys if key is not None), None)
        if key is not None:
            out[key].append(file)
    return out


def groups_of(
    found: Characterization, by: Callable[[FileFacts], Hashable] = lambda file: file.key
) -> list[Group]:
    """The families of a log, those that share a file together; `by` says which files are the same."""
    home: dict[Hashable, int] = {}
    parent = list(range(len(found.families)))

    def root(place: int) -> int:
        while parent[place] != place:
            place = parent[place]
        return place

    for place, family in enumerate(found.families):
        for file in family.files():
            first = home.setdefault(by(file), place)
            parent[root(place)] = root(first)
    groups: dict[int, list[Key]] = defaultdict(list)
    for place, family in enumerate(found.families):
        groups[root(place)].append((family.family.role, family.family.number))
    return [tuple(keys) for keys in groups.values()]
