"""Where the logs of a database with a key were read: in a file that only its owner can read, and nowhere else.

FLEET/paths.jsonl has a line for each log: its pseudonym, which the table `source` has, and its path. What needs no path
works without it, so a database can be handed on without this file.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import writing
from workalike.fleet.site import Site
from workalike.fleet.store import Store

PATHS = "paths.jsonl"
LONGEST_LINE = 1 << 16
"""Bytes of a line; longer ones are no path."""


def keep_paths(store: Store, site: Site, paths: Iterable[str]) -> None:
    """Add the paths of logs that the file does not have; nothing for a database without a key.

    Raises:
        WorkalikeError: CANNOT_WRITE, also where the file is another user's.
    """
    if not site.hides:
        return
    place = store.folder / PATHS
    with writing(place, "who ingests into a database with a key owns its file of paths"):
        descriptor = os.open(
            place, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "r+b") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(0, "is not a regular file")
            os.fchmod(descriptor, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            known = {name for name, _ in _lines(file)}
            named = {site.shown_path(path): path for path in paths}
            new = [json.dumps([name, path]) for name, path in named.items() if name not in known]
            if new:
                torn = file.tell() and os.pread(descriptor, 1, file.tell() - 1) != b"\n"
                file.write(("\n" * bool(torn) + "\n".join(new) + "\n").encode())
                file.flush()
                os.fsync(descriptor)


def located(store: Store, names: Sequence[str]) -> dict[str, Path]:
    """The path of each log that `source` names so; without a key, the names are the paths.

    Names that the file does not have are left out.

    Raises:
        WorkalikeError: MISSING where a database with a key has no file of paths that can be read.
    """
    if not store.hides:
        return {name: Path(name) for name in names}
    wanted = set(names)
    place = store.folder / PATHS
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return {name: Path(path) for name, path in _lines(file) if name in wanted}
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.MISSING,
            f"this database has a key, and the paths of its logs cannot be read: {error.strerror or 'failed'}",
            file=place,
            hint="ask its owner, or ingest the folders of logs again with the site file",
        ) from error


def _lines(file: BinaryIO) -> Iterator[tuple[str, str]]:
    """(name, path) of each whole line; what an interrupted write left is none."""
    while line := file.readline(LONGEST_LINE):
        try:
            name, path = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        if isinstance(name, str) and isinstance(path, str):
            yield name, path
