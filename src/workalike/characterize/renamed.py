"""Files that are written under another name first, and take the place of the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workalike.characterize.families import DataFile
from workalike.facts.records import FileFacts


def renames_of(files: Iterable[FileFacts]) -> dict[int, int]:
    """For the file that last took the name of another: how many files have taken that name."""
    found: dict[int, int] = {}
    for file in files:
        posix = file.modules.get("POSIX")
        if posix is None or not posix.total("RENAME_TARGETS"):
            continue
        sources = {
            int(value) % 2**64 for value in posix.column("RENAMED_FROM").tolist() if value not in (0, -1)
        }
        if len(sources) == 1:
            found[sources.pop()] = posix.total("RENAME_TARGETS")
    return found


def are_renamed(files: Sequence[DataFile]) -> bool:
    """Whether each file got another name."""
    return all(
        "POSIX" in data.file.modules and data.file.modules["POSIX"].total("RENAME_SOURCES") for data in files
    )


def replace_each_other(files: Sequence[DataFile], renames: Mapping[int, int]) -> bool:
    """Whether all of several files got the same name, so that the last one alone is left."""
    ids = {data.file.record_id % 2**64 for data in files}
    return len(files) > 1 and any(renames.get(number) == len(files) for number in ids)
