"""Small file helpers whose errors are ours: which file, what to do."""

from __future__ import annotations

import os
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError

MAX_TEXT_BYTES = 256 * 2**20


def read_text(path: str | Path, bad: ErrorKind) -> str:
    """The text of a file of at most 256 MiB.

    Raises:
        WorkalikeError: MISSING when it cannot be read, `bad` when it is too large or not UTF-8.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise WorkalikeError(ErrorKind.MISSING, "is a folder", file=path, mend="name a file")
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise WorkalikeError(bad, f"larger than {MAX_TEXT_BYTES} bytes", file=path)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.MISSING, error.strerror or "cannot be read", file=path, mend="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise WorkalikeError(bad, "not UTF-8 text", file=path, place=f"byte {error.start}") from error


def write_text(path: str | Path, text: str) -> None:
    """Write a file whole or not at all (a temporary name, then rename).

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "cannot be written",
            file=path,
            mend="check folder and space",
        ) from error


def make_folder(path: Path) -> None:
    """A folder for results.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "cannot be made",
            file=path,
            mend="choose another folder",
        ) from error
