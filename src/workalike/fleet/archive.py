"""Logs that were ingested -> one compressed archive per day, and back."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import io
import os
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder, write_bytes
from workalike.fleet.log_paths import located
from workalike.fleet.rows import LARGEST_LOG
from workalike.fleet.schema import INGESTED
from workalike.fleet.store import Store, lock_file
from workalike.leftovers import new_name, remove_leftovers
from workalike.tar_file import Entry, entries
from workalike.text import day_text

DAY_S = 86400.0
SUFFIX = ".tar.gz"
HINT = "restore it from a copy, or move it away; no log was removed"
MEMBER = re.compile(r"[0-9a-f]{64}/[^/]+")
"""A log in an archive: its SHA-256 and its name."""
HIDDEN = "log.darshan"
"""The name of each log in the archives of a database with a key."""


@dataclass
class Archived:
    """What an archiving did. `skipped` logs have changed or gone since they were ingested; of `unplaced` ones, a
    database with a key does not have the path any more."""

    days: int = 0
    packed: int = 0
    present: int = 0
    removed: int = 0
    skipped: int = 0
    unplaced: int = 0


@dataclass(frozen=True)
class _Log:
    path: Path
    sha256: str
    hides: bool

    @property
    def member(self) -> str:
        """Its name in an archive, which begins with the user's where names are not hidden."""
        return f"{self.sha256}/{HIDDEN if self.hides else self.path.name}"


def archive(
    store: Store, folder: Path, now: float, *, older_s: float = DAY_S, remove: bool = False
) -> Archived:
    """Pack ingested logs whose jobs began more than `older_s` seconds before `now` into `folder/DAY.tar.gz`.

    An archive is replaced whole, by one that has all its logs and the new ones. With `remove`, an original is removed
    after the archive was read back and has the log's very bytes, and only if the original has them still.

    Raises:
        WorkalikeError: MISSING where a database with a key has no file of paths, CANNOT_WRITE, BAD_FILE where an archive is damaged; originals are kept.
    """
    make_folder(folder)
    done = Archived()
    with _locked(folder):
        remove_leftovers(folder)
        days, done.unplaced = _by_day(store, now - older_s)
        for day, logs in sorted(days.items()):
            done.days += 1
            file = folder / f"{day}{SUFFIX}"
            held = _held(file)
            new = [log for log in logs if log.sha256 not in held]
            done.present += len(logs) - len(new)
            packed = _pack(file, new, store.hides) if new else set()
            done.packed += len(packed)
            done.skipped += len(new) - len(packed)
            if remove:
                done.removed += _remove(logs, _held(file))
    return done


def restore(folder: Path, sha256: str, output: Path) -> None:
    """Write the log with this SHA-256 (or its first 12 or more characters) from the archives of a folder.

    Raises:
        WorkalikeError: USAGE, MISSING where no archive has it, BAD_FILE where it is damaged, CANNOT_WRITE.
    """
    wanted = sha256.lower()
    if len(wanted) < 12 or not all(c in "0123456789abcdef" for c in wanted):
        raise WorkalikeError(ErrorKind.USAGE, "a log is named by 12 or more characters of its SHA-256")
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        for entry in _logs(file):
            known = entry.name.partition("/")[0]
            if known.startswith(wanted):
                data = b"".join(entry.pieces())
                if hashlib.sha256(data).hexdigest() != known:
                    raise _damaged(file, f"log {known[:12]} has other bytes")
                write_bytes(output, data)
                return
    raise WorkalikeError(ErrorKind.MISSING, "no archive has this log", file=folder, hint="see the table log")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = lock_file(folder / "lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _by_day(store: Store, before: float) -> tuple[dict[str, list[_Log]], int]:
    """The logs that are where they were read, by day; of how many the path is not known."""
    rows = store.connect().execute(
        "SELECT s.path, l.sha256, l.start FROM source s JOIN log l USING (log_id) "
        "WHERE s.outcome = ? AND l.start < ? ORDER BY s.path",
        [INGESTED, before],
    )
    logs = rows.fetchall()
    places = located(store, [name for name, _, _ in logs])
    found: dict[str, list[_Log]] = defaultdict(list)
    for name, sha256, start in logs:
        if name in places and places[name].exists():
            day = day_text(max(0.0, start))[:10].replace(" ", "")
            found[day].append(_Log(places[name], sha256, store.hides))
    return found, sum(name not in places for name, _, _ in logs)


def _pack(file: Path, logs: list[_Log], hides: bool) -> set[str]:
    """Write the archive anew with further logs; the hashes of those that were packed. `hides`: without old names, too."""
    temporary = file.with_name(new_name(".workalike-part"))
    packed: set[str] = set()
    try:
        # Without a time in the header of gzip, which a clock that is far off would exceed.
        with (
            temporary.open("wb") as raw,
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packing,
            tarfile.open(fileobj=packing, mode="w") as tar,
        ):
            for entry in _logs(file) if file.exists() else ():
                name = f"{entry.name.partition('/')[0]}/{HIDDEN}" if hides else entry.name
                _add(tar, name, entry.size, entry)
            for log in logs:
                content = _bytes_of(log)
                if content is not None and log.sha256 not in packed:
                    _add(tar, log.member, len(content), io.BytesIO(content))
                    packed.add(log.sha256)
        _sync(temporary)
        temporary.replace(file)
        _sync(file.parent)  # else a machine that stops may come back with the old name, and without originals
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "failed",
            file=file,
            hint="check space; no log was removed",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return packed


def _sync(path: Path) -> None:
    """Bring a file's bytes, or a folder's names, to storage."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _add(tar: tarfile.TarFile, name: str, size: int, content: Any) -> None:
    """Add a log; `content` has `read(size)`."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o640
    tar.addfile(member, content)


def _bytes_of(log: _Log) -> bytes | None:
    """The bytes of a log; None where they are no longer those that were ingested."""
    try:
        data = log.path.read_bytes() if log.path.stat().st_size <= LARGEST_LOG else b""
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == log.sha256 else None


def _held(file: Path) -> set[str]:
    """The hashes of the logs in an archive, each checked with its bytes."""
    if not file.exists():
        return set()
    found = set()
    for entry in _logs(file):
        hashed = hashlib.sha256()
        for piece in entry.pieces():
            hashed.update(piece)
        known, _, name = entry.name.partition("/")
        if hashed.hexdigest() != known:
            raise _damaged(file, f"{name} has other bytes")
        found.add(known)
    return found


def _logs(file: Path) -> Iterator[Entry]:
    """The logs of an archive. Raises WorkalikeError for what is not an archive of logs."""
    for entry in entries(file, ErrorKind.BAD_FILE, HINT):
        if not entry.is_file or not MEMBER.fullmatch(entry.name) or entry.size > LARGEST_LOG:
            raise _damaged(file, f"is not an archive of logs: it has {entry.name}")
        yield entry


def _damaged(file: Path, message: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.BAD_FILE, message, file=file, hint=HINT)


def _remove(logs: list[_Log], held: set[str]) -> int:
    """Remove originals that the archive holds, and that have the same bytes still; returns how many."""
    removed = 0
    for log in logs:
        if log.sha256 in held and _bytes_of(log) is not None:
            with contextlib.suppress(OSError):
                log.path.unlink()
                removed += 1
    return removed
