"""Reading and writing small files; each failure becomes a `WorkalikeError` with file and hint."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from workalike.errors import ErrorKind, WorkalikeError
from workalike.leftovers import make_locked, new_name

MAX_TEXT_BYTES = 256 * 2**20
LOG_MAGIC = 6567223
"""The second word of a Darshan log (docs/reference/darshan-format.md)."""


def open_file(path: str | Path, bad: ErrorKind) -> BinaryIO:
    """Open a regular file for reading. Others are refused: a pipe may never end, and a device holds no document.

    Raises:
        WorkalikeError: MISSING when it cannot be read, `bad` when it is not a regular file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not block
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise WorkalikeError(
            ErrorKind.MISSING,
            getattr(error, "strerror", None) or "cannot be read",
            file=path,
            hint="check the path",
        ) from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise WorkalikeError(ErrorKind.MISSING, "is a folder", file=path, hint="name a file")
    raise WorkalikeError(bad, "is not a regular file", file=path, hint="write it to a file and name that")


def read_text(path: str | Path, bad: ErrorKind, most: int = MAX_TEXT_BYTES) -> str:
    """The text of a file of at most `most` bytes.

    Raises:
        WorkalikeError: MISSING when it cannot be read, `bad` when it is too large or not UTF-8.
    """
    with open_file(path, bad) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise WorkalikeError(
                ErrorKind.MISSING, error.strerror or "cannot be read", file=path, hint="check the path"
            ) from error
    if len(data) > most:
        raise WorkalikeError(bad, f"larger than {most} bytes", file=path, hint="is it the right file?")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorkalikeError(
            bad, "not UTF-8 text", file=path, place=f"byte {error.start}", hint="is it the right file?"
        ) from error


def write_text(path: str | Path, text: str) -> None:
    """Write a file completely or not at all (under a temporary name, then renamed).

    A link stays, and the file that it points to is replaced. A device or pipe (`/dev/null`) is written to. A log is
    never replaced: whoever names one as output has mistaken it for another argument.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    if is_log(Path(path)):
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            "is a Darshan log, and would be lost",
            file=path,
            hint="choose another name for the output",
        )
    write_bytes(path, _utf8(text))


def _utf8(text: str) -> bytes:
    """The text in UTF-8. It may have names of files that Python could not decode, as in a locale of ASCII."""
    try:
        data = text.encode("utf-8", "surrogateescape")
        data.decode("utf-8")
    except UnicodeError:
        return text.encode("utf-8", "replace")
    return data


def is_decoded(path: str | Path) -> bool:
    """Whether Python could read the whole name of a path as text, in the encoding of the locale."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def path_for_core(path: Path) -> str:
    """A path as the core takes it, whatever the locale.

    Raises:
        WorkalikeError: USAGE for a name that is not UTF-8.
    """
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorkalikeError(
            ErrorKind.USAGE, "is not a name in UTF-8", file=path, hint="choose another folder"
        ) from error


def is_log(path: Path) -> bool:
    """Whether a regular file begins as a log: the version of the format, and the number of this kind of file."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(16)
    except (OSError, ValueError):
        return False
    return LOG_MAGIC.to_bytes(8, "little") == head[8:] or LOG_MAGIC.to_bytes(8, "big") == head[8:]


def write_bytes(path: str | Path, data: bytes) -> None:
    """As `write_text`, for bytes.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    try:
        place = Path(path)
        if not place.exists() or place.is_file():
            _replace(place.resolve(), data)
        else:
            place.write_bytes(data)
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links; a NUL in the name
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            getattr(error, "strerror", None) or "cannot be written",
            file=path,
            hint="check folder and space",
        ) from error


def _replace(path: Path, data: bytes) -> None:
    partial = path.with_name(new_name(".workalike-part"))
    with os.fdopen(make_locked(partial, folder=False), "wb") as file:
        try:
            file.write(data)
            file.flush()
            partial.replace(path)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(file: Path, hint: str) -> Iterator[None]:
    """What fails inside to write a file or folder is reported as that, with the system's reason.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise WorkalikeError(ErrorKind.CANNOT_WRITE, reason, file=file, hint=hint) from error


def make_folder(path: Path) -> None:
    """Create a folder for results, and its parents, unless it exists.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    with writing(path, "choose another folder"):
        path.mkdir(parents=True, exist_ok=True)


def make_data_folder(path: Path) -> None:
    """Create a folder for data unless it exists, but none above it: where a file system is not mounted, its folder is
    not there, and data would go to the disk of the root.

    Raises:
        WorkalikeError: MISSING where the folder above is not there; CANNOT_WRITE.
    """
    above = path.absolute().parent
    if not path.exists() and not above.is_dir():
        raise WorkalikeError(
            ErrorKind.MISSING,
            "does not exist, nor does the folder above it",
            file=path,
            hint=f"is the file system mounted? If so, make {above} first",
        )
    make_folder(path)


def make_private(folder: Path) -> None:
    """Let nobody but the owner of a folder look into it.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    with writing(folder, "is it another user's?"):
        folder.chmod(0o700)


def free_bytes(folder: Path) -> int | None:
    """Free bytes of a folder's file system; None where it does not tell, as CephFS does without a manager.

    Raises:
        OSError: the folder is gone.
    """
    held = os.statvfs(folder)
    return held.f_bavail * held.f_frsize if held.f_blocks else None


@contextlib.contextmanager
def alone_in(folder: Path, busy: str) -> Iterator[None]:
    """Lock a folder of results, because two commands in it would mix theirs; `busy` says what holds it.

    Raises:
        WorkalikeError: CANNOT_WRITE if another process holds the lock, or the folder cannot be opened.
    """
    with writing(folder, "choose another -o"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE, busy, file=folder, hint="wait for its end or choose another -o"
            ) from error
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)
