"""Reads compressed archives (.tar.gz) that come from elsewhere, in bounded memory. Nothing is extracted.

Only what archives of logs and of results have is read: entries with names of bounded length, one stream of gzip, and
the end that tar writes. Headers are read here and not by `tarfile`, which holds names and extended headers whole,
however long they say they are.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file

BLOCK = 512
PIECE = 1 << 18
"""Bytes that are held at a time."""
MOST_NAME_BYTES = 1 << 16
"""Of a long name or of an extended header."""
FREE_BYTES = 32 << 20
MOST_EXPANSION = 100
"""Bytes from each compressed byte, beyond the first 32 MiB. Records shrink to a tenth, logs hardly."""
MOST_AFTER_END = 1 << 20
"""Zeros after the last entry: tar fills its last record, mostly of 10 KiB."""

_LONG_NAME, _LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
_PAX, _PAX_OF_ALL = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE), tarfile.XGLTYPE
_OTHER_KINDS = {
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_RECORD = re.compile(rb"(\d{1,6}) ([^=]{1,1000})=")


@dataclass
class Entry:
    """An entry of an archive: a plain file of `size` bytes, or something else (`is_file` is false).

    Its bytes can be read until the next entry is asked for.
    """

    name: str
    size: int
    is_file: bool
    left: int
    """Bytes that were not read yet."""
    _stream: _Inflated = field(repr=False)

    def read(self, most: int) -> bytes:
        """The next `most` bytes, or as many as are left.

        Raises:
            WorkalikeError: of the kind that `entries` was given, where the archive is damaged.
        """
        data = self._stream.exactly(min(most, self.left))
        self.left -= len(data)
        return data

    def pieces(self) -> Iterator[bytes]:
        """The bytes that are left, in pieces of at most 256 KiB. Raises as `read`."""
        while data := self.read(PIECE):
            yield data


def entries(
    path: Path, bad: ErrorKind, hint: str, *, most_entries: int | None = None, most_bytes: int | None = None
) -> Iterator[Entry]:
    """The entries of a .tar.gz, one after another, in the order of the archive.

    Args:
        path: the archive.
        bad: the kind of error for what is no such archive, or for one that is damaged or too large.
        hint: how to fix it.
        most_entries: how many entries it may have; None: any number.
        most_bytes: how many bytes it may hold, uncompressed; None: any number.

    Raises:
        WorkalikeError: MISSING, or `bad`, naming the entry where there is one.
    """
    with open_file(path, bad) as file:
        stream = _Inflated(file, _Refused(path, bad, hint), most_bytes)
        for number, entry in enumerate(_entries(stream)):
            if most_entries is not None and number >= most_entries:
                raise stream.refused.error(f"has more than {most_entries:,} entries")
            yield entry
            stream.skip(entry.left + -entry.size % BLOCK)


def _entries(stream: _Inflated) -> Iterator[Entry]:
    long_name: str | None = None
    while True:
        header = stream.exactly(BLOCK)
        if not header.strip(b"\0"):
            stream.expect_end()
            return
        member = _member(header, stream)
        if member.type in (_LONG_NAME, _LONG_LINK, _PAX_OF_ALL, *_PAX):
            body = _extension(member, stream)
            if member.type == _LONG_NAME:
                long_name = _text(body.partition(b"\0")[0])
            elif member.type in _PAX:
                long_name = _path_of(body, stream) or long_name
            continue
        name, long_name = long_name or member.name, None
        if member.type == tarfile.GNUTYPE_SPARSE:
            raise stream.refused.error("has a sparse file", name)
        # Links state the size of what they point to; kinds that are unknown have bytes.
        has_bytes = member.isreg() or member.type not in tarfile.SUPPORTED_TYPES
        size = member.size if has_bytes else 0
        yield Entry(name, size, member.isreg(), size, stream)


def _member(header: bytes, stream: _Inflated) -> tarfile.TarInfo:
    try:
        member = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError) as error:
        raise stream.refused.error(f"has no header of tar at byte {stream.given - BLOCK:,}") from error
    if member.size < 0:
        raise stream.refused.error("has a negative size", member.name)
    return member


def _extension(member: tarfile.TarInfo, stream: _Inflated) -> bytes:
    if member.size > MOST_NAME_BYTES:
        raise stream.refused.error(f"has a name or header of {member.size:,} bytes")
    body = stream.exactly(member.size)
    stream.skip(-member.size % BLOCK)
    return body


def _path_of(body: bytes, stream: _Inflated) -> str | None:
    """The path that an extended header states, if any."""
    path, at = None, 0
    while at < len(body):
        found = _RECORD.match(body, at)
        length = int(found[1]) if found else 0
        if found is None or not found.end() - at < length <= len(body) - at or body[at + length - 1] != 0x0A:
            raise stream.refused.error("has an extended header that cannot be read")
        key = found[2]
        if key.startswith(b"GNU.sparse") or key == b"size":  # sizes of 8 GiB and more, which nothing here has
            raise stream.refused.error(
                "has a sparse file" if key != b"size" else "has a file of 8 GiB or more"
            )
        if key == b"path":
            path = _text(body[found.end() : at + length - 1])
        at += length
    return path


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class _Refused:
    """How an archive is refused."""

    path: Path
    kind: ErrorKind
    hint: str

    def error(self, message: str, place: str | None = None) -> WorkalikeError:
        return WorkalikeError(self.kind, message, file=self.path, place=place, hint=self.hint)


class _Inflated:
    """The bytes of a gzip file of one stream, read once from its beginning."""

    def __init__(self, file: BinaryIO, refused: _Refused, most_bytes: int | None) -> None:
        self.refused = refused
        self.given = 0
        self._file, self._most = file, most_bytes
        self._inflate = zlib.decompressobj(wbits=31)
        self._packed = self._first = b""
        self._taken = 0
        self._held = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """Bytes from where the last call ended: at least one, unless none are asked for.

        Raises:
            WorkalikeError: the archive ends, is damaged, or expands too far.
        """
        if size <= 0:
            return b""
        if self._at == len(self._held):
            self._held, self._at = self._next(), 0
            if not self._held:
                raise self.refused.error("ends amid its content")
        data = self._held[self._at : self._at + size]
        self._at += len(data)
        self.given += len(data)
        return data

    def exactly(self, size: int) -> bytes:
        """So many bytes. Raises as `read`."""
        data = self.read(size)
        while len(data) < size:
            data += self.read(size - len(data))
        return data

    def skip(self, size: int) -> None:
        """Pass over bytes. Raises as `read`."""
        while size > 0:
            size -= len(self.read(min(size, PIECE)))

    def expect_end(self) -> None:
        """Check that only zeros follow, and that the stream is whole.

        Raises:
            WorkalikeError: something else follows, or the checksum of the stream is wrong.
        """
        rest, after = self._held[self._at :], 0
        while True:
            after += len(rest)
            if rest.strip(b"\0") or after > MOST_AFTER_END:
                raise self.refused.error("goes on after its end")
            rest = self._next()
            if not rest:
                break
        if self._inflate.unused_data or self._file.read(1):
            raise self.refused.error("goes on after its end")

    def _next(self) -> bytes:
        """The next piece; empty at the end of the stream."""
        data = b""
        while not data and not self._inflate.eof:
            if not self._packed:
                self._packed = self._read_packed()
            try:
                data = self._inflate.decompress(self._packed, PIECE)
            except zlib.error as error:
                raise self.refused.error(self._fault()) from error
            self._packed = self._inflate.unconsumed_tail
        expanded = self.given + len(data)
        if self._most is not None and expanded > self._most:
            raise self.refused.error(f"holds more than {self._most >> 20:,} MiB")
        if expanded > FREE_BYTES + MOST_EXPANSION * self._taken:
            raise self.refused.error(f"expands more than {MOST_EXPANSION}-fold")
        return data

    def _read_packed(self) -> bytes:
        try:
            packed = self._file.read(PIECE)
        except OSError as error:
            raise self.refused.error(error.strerror or "cannot be read") from error
        if not packed:
            raise self.refused.error("ends amid its content" if self._taken else "is empty, not .tar.gz")
        if not self._taken:
            self._first = packed[:8]
        self._taken += len(packed)
        return packed

    def _fault(self) -> str:
        if self._first.startswith(b"\x1f\x8b"):
            return "is damaged"
        known = (name for mark, name in _OTHER_KINDS.items() if self._first.startswith(mark))
        return f"is {next((f'{name} data' for name in known), 'no archive')}, not .tar.gz"
