"""Reads archives that come from elsewhere: nothing is extracted, and only plain files with safe names are seen."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from workalike.errors import ErrorKind, WorkalikeError
from workalike.tar_file import PIECE, Entry, entries

MOST_ENTRIES = 50_000
MOST_BYTES = 1 << 30
"""Uncompressed."""
HINT = "ask for it again: it may be damaged"


class Files(Mapping[str, bytes]):
    """Path below the archive's first folder -> content. Contents lie in a file without a name, not in memory."""

    def __init__(self, held: BinaryIO) -> None:
        self._held = held
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Keep what an entry holds. Raises as `Entry.read`, and OSError."""
        begin = self._held.seek(0, 2)
        for piece in entry.pieces():
            self._held.write(piece)
        self._places[name] = (begin, entry.size)

    def __getitem__(self, name: str) -> bytes:
        begin, size = self._places[name]
        self._held.seek(begin)
        return self._held.read(size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def copy(self, name: str, place: Path) -> None:
        """Write a file to a place, in pieces. Raises KeyError, and OSError."""
        begin, left = self._places[name]
        with place.open("wb") as file:
            self._held.seek(begin)
            while left > 0:
                piece = self._held.read(min(left, PIECE))
                file.write(piece)
                left -= len(piece) or left

    def size(self, name: str) -> int:
        """Bytes of a file. Raises KeyError."""
        return self._places[name][1]


def files_in(
    path: Path, most_bytes: Callable[[str], int | None] = lambda _: MOST_BYTES, most_of_all: int = MOST_BYTES
) -> Files:
    """The plain files of an archive that are wanted.

    Args:
        path: the archive.
        most_bytes: how large the file of a path may be; None where it is not wanted.
        most_of_all: how large all may be together, with what is not wanted.

    Raises:
        WorkalikeError: MISSING; BAD_STUDY for what is not an archive, or too large; CANNOT_WRITE without space for it.
    """
    try:
        found = Files(tempfile.TemporaryFile())  # noqa: SIM115  (closed with its last user)
        for entry in entries(
            path, ErrorKind.BAD_STUDY, HINT, most_entries=MOST_ENTRIES, most_bytes=most_of_all
        ):
            name = _name_of(entry)
            most = None if name is None else most_bytes(name)
            if name is None or most is None:
                continue
            if entry.size > most:
                raise _bad(path, f"is larger than {most:,} bytes", name)
            if name in found:
                raise _bad(path, "is there twice", name)
            found.add(name, entry)
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            f"{error.strerror or 'failed'}, while the archive was read",
            file=path,
            hint="name a folder with space in TMPDIR",
        ) from error
    return found


def _name_of(entry: Entry) -> str | None:
    """The path below the first folder; None for what is not a plain file or has a path that leads elsewhere."""
    parts = PurePosixPath(entry.name).parts
    if not entry.is_file or len(parts) < 2 or ".." in parts or entry.name.startswith("/"):
        return None
    name = "/".join(parts[1:])
    return name if name.isprintable() else None


def _bad(path: Path, message: str, place: str | None = None) -> WorkalikeError:
    return WorkalikeError(ErrorKind.BAD_STUDY, message, file=path, place=place, hint=HINT)
