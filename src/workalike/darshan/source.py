"""The bytes of one log file: reads within bounds, inflation within a limit, and errors that name the place."""

from __future__ import annotations

import bz2
import importlib
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from workalike.darshan import layouts
from workalike.errors import ErrorKind, WorkalikeError


def _fastest_zlib() -> Any:
    """zlib-ng, which inflates faster, if it is installed; else zlib."""
    try:
        return importlib.import_module("zlib_ng.zlib_ng")
    except ImportError:
        return zlib


_ZLIB = _fastest_zlib()

REGION_CAP_VARIABLE = "WORKALIKE_MAX_REGION_BYTES"
"""Environment variable that replaces the default limit on the inflated size of a region."""

DEFAULT_REGION_CAP = 2 << 30
"""Default limit on the size of an inflated region, bytes."""

_LARGEST_CAP = 1 << 62
"""Largest limit: zlib and bz2 keep sizes in C's ssize_t."""

_READ_WHOLE = 1 << 20
"""Files up to this size are read at once; of larger ones, each region is read at its use. Bytes."""

_READ_FIRST = 4096
"""Bytes of a larger file that are read at once: the header, and usually the job region."""

_COPY_AGAIN = "copy the log again from its origin; if the original is the same, it cannot be read"


class Region(NamedTuple):
    """A range of the file, in bytes; compressed unless the header says otherwise."""

    name: str
    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Ratio:
    """The limit on the size of an inflated region, unless the caller sets one.

    Up to ``floor`` bytes, every ratio is allowed; above, at most ``factor`` times the compressed size. Counters, names
    and traces never compress like the zeros of a decompression bomb (1000 times with zlib, far more with bzip2), so a
    bomb is stopped long before it fills the memory.
    """

    floor: int
    factor: int


BULK = Ratio(64 << 20, 256)
"""The limit for regions that become arrays."""

OBJECTS = Ratio(16 << 20, 64)
"""The limit for the name region, in which every 9 bytes may become a Python object of a hundred bytes."""

SMALL = Ratio(1 << 20, 1)
"""The limit for the job region, which has 4096 bytes in Darshan."""


class Source:
    """One log file, which is opened for each read, so that many logs need no open descriptors.

    Args:
        path: the log file.
        max_region_bytes: limit on the inflated size of each region; None: the environment's, or else the default
            together with ``Ratio``.

    Raises:
        WorkalikeError: MISSING if it cannot be opened; UNSUPPORTED_LOG if it is not a regular file.
    """

    def __init__(self, path: str | os.PathLike[str], max_region_bytes: int | None = None) -> None:
        self.path = Path(path)
        cap = max_region_bytes if max_region_bytes is not None else _cap_from_environment()
        self._cap = None if cap is None else min(cap, _LARGEST_CAP)
        with self._open() as (file, status):
            self._identity = _identity(status)
            self.size = status.st_size
            self._head = self._read_exactly(file, self.size if self.size <= _READ_WHOLE else _READ_FIRST)

    def read(self, offset: int, length: int) -> bytes:
        """Read exactly ``length`` bytes at ``offset`` (the caller has checked them against ``size``)."""
        end = offset + length
        if end <= len(self._head):
            return self._head[offset:end]
        with self._open() as (file, status):
            if _identity(status) != self._identity:
                raise self.damaged("the file changed while it was read", hint="try again")
            os.lseek(file, offset, os.SEEK_SET)
            return self._read_exactly(file, length)

    @contextmanager
    def _open(self) -> Iterator[tuple[int, os.stat_result]]:
        """Open the file; an OSError inside becomes a WorkalikeError."""
        try:
            # Opening a named pipe would otherwise wait for its writer.
            file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                status = os.fstat(file)
                if not stat.S_ISREG(status.st_mode):
                    raise self.unsupported("is not a regular file", hint="give the log file itself")
                yield file, status
            finally:
                os.close(file)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise WorkalikeError(
                ErrorKind.MISSING,
                f"cannot be read: {reason}",
                file=self.path,
                hint="check the path and its permissions",
            ) from error

    def _read_exactly(self, file: int, length: int) -> bytes:
        """Read ``length`` bytes; a single call may return fewer."""
        data = os.read(file, length)
        while len(data) < length:
            more = os.read(file, length - len(data))
            if not more:
                raise self.damaged("the file became shorter while it was read")
            data += more
        return data

    def inflate(self, region: Region, compression: int, ratio: Ratio = BULK) -> bytes:
        """Read a region and decompress all of its streams (docs/reference/darshan-format.md#file-skeleton).

        Raises:
            WorkalikeError: DAMAGED_LOG if a stream is broken, truncated, or larger than the limit.
        """
        cap = self._cap
        if cap is None:
            cap = min(DEFAULT_REGION_CAP, max(ratio.floor, ratio.factor * region.length))
        try:
            if region.length > cap:  # possible in a small sparse file
                raise _StreamError("", 0, too_big=True)
            data = self.read(region.offset, region.length)
            return data if compression == layouts.UNCOMPRESSED else _inflate(data, cap, _STREAMS[compression])
        except _StreamError as error:
            place = f"{region.name}, byte {region.offset + error.at}"
            if error.too_big:
                raise self.damaged(
                    f"{region.length} bytes inflate to more than {cap}",
                    place=place,
                    hint=f"if the log is trustworthy, set {REGION_CAP_VARIABLE} to a larger number of bytes",
                ) from error
            raise self.damaged(error.message, place=place) from error

    @contextmanager
    def within_memory(self, region: Region) -> Iterator[None]:
        """Turn a MemoryError while a region is read into a WorkalikeError."""
        try:
            yield
        except MemoryError as error:
            raise self.damaged(
                "inflates to more than fits into memory",
                place=region.name,
                hint=f"use a machine with more memory, or lower {REGION_CAP_VARIABLE}",
            ) from error

    def damaged(self, message: str, *, place: str | None = None, hint: str = _COPY_AGAIN) -> WorkalikeError:
        """A DAMAGED_LOG error for this file."""
        return WorkalikeError(ErrorKind.DAMAGED_LOG, message, file=self.path, place=place, hint=hint)

    def unsupported(self, message: str, *, place: str | None = None, hint: str) -> WorkalikeError:
        """An UNSUPPORTED_LOG error for this file."""
        return WorkalikeError(ErrorKind.UNSUPPORTED_LOG, message, file=self.path, place=place, hint=hint)


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _cap_from_environment() -> int | None:
    text = os.environ.get(REGION_CAP_VARIABLE)
    if text is None:
        return None
    if not re.fullmatch("[1-9][0-9]{0,30}", text):
        raise WorkalikeError(
            ErrorKind.USAGE, f"{REGION_CAP_VARIABLE} is not a number of bytes", hint="give a whole number > 0"
        )
    return int(text)


class _Stream(Protocol):
    """The common interface of the decompressors of zlib and bz2."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: memoryview, max_length: int, /) -> bytes: ...


_STREAMS: dict[int, Callable[[], _Stream]] = {
    layouts.ZLIB: _ZLIB.decompressobj,
    layouts.BZIP2: bz2.BZ2Decompressor,
}


class _StreamError(Exception):
    """A compressed stream that cannot be used, ``at`` bytes into its region."""

    def __init__(self, message: str, at: int, too_big: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.too_big = too_big


def _inflate(data: bytes, cap: int, new_stream: Callable[[], _Stream]) -> bytes:
    """Inflate consecutive streams into one byte string of at most ``cap`` bytes."""
    pieces: list[bytes] = []
    room = cap
    at = 0
    # The first stream, mostly the only one, gets all data. Later ones get a window of about the size of a stream:
    # unused data is copied, and thousands of streams would copy the whole region thousands of times.
    window = len(data)
    view = memoryview(data)
    try:
        while at < len(data):
            stream = new_stream()
            fed = at
            while not stream.eof:
                if fed >= len(data):
                    raise _StreamError("a compressed stream is cut short", at)
                chunk = view[fed : fed + window]
                fed += len(chunk)
                window *= 2
                piece = stream.decompress(chunk, room + 1)
                room -= len(piece)
                if room < 0:
                    raise _StreamError("", at, too_big=True)
                pieces.append(piece)
            start, at = at, fed - len(stream.unused_data)
            window = max(512, 2 * (at - start))
    except (_ZLIB.error, OSError, ValueError, EOFError) as error:  # all except the first come from bzip2
        raise _StreamError(f"a compressed stream is broken ({error})", at) from error
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


Warn = Callable[[str], None]
"""A function that takes a remark on something odd that does not stop the reading."""
