"""Reads archives that come from elsewhere: nothing is extracted, and only plain files with safe names are seen."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from workalike.errors import ErrorKind, WorkalikeError

MOST_MEMBERS = 200_000
MOST_BYTES = 2 * 2**30
"""Of all files that are kept, uncompressed."""


def files_in(path: Path, is_wanted: Callable[[str], bool] = lambda _: True) -> dict[str, bytes]:
    """Path below the archive's first folder -> content, of the plain files that are wanted.

    Raises:
        WorkalikeError: MISSING; BAD_STUDY for what is no archive, or too large.
    """
    found: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(path, "r|gz") as archive:
            for number, member in enumerate(archive):
                if number >= MOST_MEMBERS:
                    raise _bad(path, f"has more than {MOST_MEMBERS:,} entries")
                name = _name_of(member)
                if name is None or not is_wanted(name):
                    continue
                total += member.size
                if total > MOST_BYTES:
                    raise _bad(path, f"holds more than {MOST_BYTES // 2**30} GiB")
                if name in found:
                    raise _bad(path, "has a file twice", name)
                content = archive.extractfile(member)
                found[name] = content.read(member.size) if content else b""
    except FileNotFoundError as error:
        raise WorkalikeError(ErrorKind.MISSING, "does not exist", file=path, hint="check the path") from error
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError) as error:
        raise _bad(path, "is no archive that can be read (.tar.gz)") from error
    return found


def _name_of(member: tarfile.TarInfo) -> str | None:
    """The path below the first folder; None for what is no plain file or has a path that leads elsewhere."""
    parts = PurePosixPath(member.name).parts
    if not member.isreg() or len(parts) < 2 or ".." in parts or member.name.startswith("/"):
        return None
    name = "/".join(parts[1:])
    return name if name.isprintable() else None


def _bad(path: Path, message: str, place: str | None = None) -> WorkalikeError:
    return WorkalikeError(
        ErrorKind.BAD_STUDY, message, file=path, place=place, hint="ask for it again: it may be damaged"
    )
