"""What readings share of a name that several files had one after the other, each of which a rename took it from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workalike.characterize.grouping.growth import apportion
from workalike.characterize.readings.evidence import operations_of
from workalike.facts.records import FileFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Content, Direction, Lifetime


def renames_of_name(files: Iterable[FileFacts]) -> int:
    """How often these names were taken away; 0 where a rename also gave them: a file that came back is not a new one."""
    modules = [file.modules["POSIX"] for file in files if "POSIX" in file.modules]
    if any(module.total("RENAME_TARGETS") for module in modules):
        return 0
    return sum(module.total("RENAME_SOURCES") for module in modules)


def numbers_of_files(renames: int, opens: int) -> list[int]:
    """How many files a name may have had: one for each rename, and one that kept it. Each was opened."""
    return [n for n in (renames + 1, renames) if 2 <= n <= min(opens, THRESHOLDS.files_of_one_name)]


def renamed_in_turn(files: int, renames: int, same_name: int) -> dict[str, Any]:
    """Changes of a family whose dumps write so many files of one name.

    `same_name` is how often one other name was taken.
    """
    if files > renames:
        return {"lifetime": Lifetime.REUSED, "backup": True, "rename": False}
    into_one = same_name == renames
    return {"lifetime": Lifetime.REUSED if into_one else Lifetime.PER_DUMP, "backup": False, "rename": True}


def opened(contents: Sequence[Content], opens: int) -> Iterator[list[Content]]:
    """The dumps of one rank with all opens: as many before the operations of each, or amid them.

    Each dump has one open. The others are shared out as the operations are, of all dumps or of those of a direction.
    """
    yield [
        content.model_copy(update={"opens": count, "reopen": False})
        for content, count in zip(contents, _shared_out(contents, opens, tuple(Direction)), strict=True)
    ]
    if opens <= len(contents):
        return
    for directions in (tuple(Direction), (Direction.WRITE,), (Direction.READ,)):
        counts = _shared_out(contents, opens, directions)
        yield [
            content.model_copy(update={"opens": count, "reopen": count > 1})
            for content, count in zip(contents, counts, strict=True)
        ]


def _shared_out(contents: Sequence[Content], opens: int, directions: Sequence[Direction]) -> list[int]:
    """One open for each dump, and the others as the further operations of those that move data in these directions."""
    further = [
        max(0, operations_of(content, 1) - 1)
        if any(s.direction in directions for s in content.streams)
        else 0
        for content in contents
    ]
    counts = apportion(max(0, opens - len(contents)), [float(count) for count in further])
    return [1 + count for count in counts]
