"""Logs that were ingested -> one compressed archive per day, and back."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import io
import os
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder, write_bytes
from workalike.fleet.rows import LARGEST_LOG
from workalike.fleet.schema import INGESTED
from workalike.fleet.store import Store, lock_file
from workalike.leftovers import new_name, remove_leftovers
from workalike.text import day_text

DAY_S = 86400.0
SUFFIX = ".tar.gz"


@dataclass
class Archived:
    """What an archiving did. `skipped` logs have changed or gone since they were ingested."""

    days: int = 0
    packed: int = 0
    present: int = 0
    removed: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class _Log:
    path: Path
    sha256: str

    @property
    def member(self) -> str:
        return f"{self.sha256}/{self.path.name}"


def archive(
    store: Store, folder: Path, now: float, *, older_s: float = DAY_S, remove: bool = False
) -> Archived:
    """Pack ingested logs whose jobs began more than `older_s` seconds before `now` into `folder/DAY.tar.gz`.

    An archive is replaced whole, by one that has all its logs and the new ones. With `remove`, an original is removed
    after the archive was read back and has the log's very bytes, and only if the original has them still.

    Raises:
        WorkalikeError: CANNOT_WRITE, BAD_FILE where an archive is damaged; originals are kept.
    """
    make_folder(folder)
    done = Archived()
    with _locked(folder):
        remove_leftovers(folder)
        for day, logs in sorted(_by_day(store, now - older_s).items()):
            done.days += 1
            file = folder / f"{day}{SUFFIX}"
            held = _held(file)
            new = [log for log in logs if log.sha256 not in held]
            done.present += len(logs) - len(new)
            packed = _pack(file, new) if new else set()
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
        for name, data in _members(file):
            known = name.partition("/")[0]
            if known.startswith(wanted):
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


def _by_day(store: Store, before: float) -> dict[str, list[_Log]]:
    rows = store.connect().execute(
        "SELECT s.path, l.sha256, l.start FROM source s JOIN log l USING (log_id) "
        "WHERE s.outcome = ? AND l.start < ? ORDER BY s.path",
        [INGESTED, before],
    )
    found: dict[str, list[_Log]] = defaultdict(list)
    for path, sha256, start in rows.fetchall():
        if Path(path).exists():
            found[day_text(max(0.0, start))[:10].replace(" ", "")].append(_Log(Path(path), sha256))
    return found


def _pack(file: Path, logs: list[_Log]) -> set[str]:
    """Write the archive anew with further logs; the hashes of those that were packed."""
    temporary = file.with_name(new_name(".workalike-part"))
    packed: set[str] = set()
    try:
        # Without a time in the header of gzip, which a clock that is far off would exceed.
        with (
            temporary.open("wb") as raw,
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packing,
            tarfile.open(fileobj=packing, mode="w") as tar,
        ):
            for name, data in _members(file) if file.exists() else ():
                _add(tar, name, data)
            for log in logs:
                content = _bytes_of(log)
                if content is not None and log.sha256 not in packed:
                    _add(tar, log.member, content)
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


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o640
    tar.addfile(member, io.BytesIO(data))


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
    for name, data in _members(file):
        if hashlib.sha256(data).hexdigest() != name.partition("/")[0]:
            raise _damaged(file, f"{PurePosixPath(name).name} has other bytes")
        found.add(name.partition("/")[0])
    return found


def _members(file: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(file, "r:gz") as tar:
            for member in tar:
                opened: Any = (
                    tar.extractfile(member) if member.isreg() and member.size <= LARGEST_LOG else None
                )
                if opened is not None:
                    yield member.name, opened.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise _damaged(file, str(error)) from error


def _damaged(file: Path, message: str) -> WorkalikeError:
    return WorkalikeError(
        ErrorKind.BAD_FILE,
        message,
        file=file,
        hint="restore it from a copy, or move it away; no log was removed",
    )


def _remove(logs: list[_Log], held: set[str]) -> int:
    """Remove originals that the archive holds, and that have the same bytes still; returns how many."""
    removed = 0
    for log in logs:
        if log.sha256 in held and _bytes_of(log) is not None:
            with contextlib.suppress(OSError):
                log.path.unlink()
                removed += 1
    return removed
