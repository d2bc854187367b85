"""Whether a file is a bundle for a tender or the archive of its results, by the names in it."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from itertools import islice
from pathlib import Path, PurePosixPath

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file
from workalike.tar_file import entries

GZIP = b"\x1f\x8b"
FIRST_ENTRIES = 64
"""Of an archive, whose names tell what it is."""


class ArchiveKind(StrEnum):
    """The archives of a tender (docs/bundle.md)."""

    BUNDLE = "bundle for a tender"
    RESULTS = "archive of a bundle's results"


def archive_kind_of(path: Path) -> ArchiveKind | None:
    """A bundle for a tender or the archive of its results, by the names of its first entries; None for other files.

    Raises:
        WorkalikeError: USAGE when it cannot be read.
    """
    with open_file(path, ErrorKind.USAGE) as file:
        if file.read(len(GZIP)) != GZIP:
            return None
    # Old logs are packed by gzip, too, and damaged archives end amid their entries.
    names: list[PurePosixPath] = []
    with suppress(WorkalikeError):
        names.extend(
            PurePosixPath(entry.name) for entry in islice(entries(path, ErrorKind.USAGE, ""), FIRST_ENTRIES)
        )
    below = {"/".join(name.parts[1:]) for name in names if len(name.parts) > 1}
    if {"CHECKSUMS", "RULES.json"} <= below:
        return ArchiveKind.BUNDLE
    if names and all(name.parts[:1] == ("results",) for name in names):
        return ArchiveKind.RESULTS
    return None
