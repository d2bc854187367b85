"""Lustre records: the layout of files on the servers (docs/reference/darshan-format.md#lustre)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from workalike.darshan import layouts
from workalike.darshan.records import Int64s, UInt64s, native_words
from workalike.darshan.source import Source, Warn

_HEAD = layouts.LUSTRE_HEAD_BYTES // 8
_COMPONENT = layouts.LUSTRE_COMPONENT_BYTES // 8
_HEAD_1 = 7
"""Words before the OST numbers of a version 1 record."""


@dataclass(frozen=True, slots=True, eq=False)
class LustreComponent:
    """One component of a file's layout; a plain file has one.

    Attributes:
        stripe_size: bytes.
        stripe_count: number of stripes, each on one OST.
        pattern, flags, mirror_id: as Lustre defines them; -1 if not stored.
        extent_start, extent_end: the range of the file in bytes; an end of -1 is the end of the file.
        pool: OST pool.
        osts: OST numbers, shape [stripe_count].
    """

    stripe_size: int
    stripe_count: int
    pattern: int
    flags: int
    extent_start: int
    extent_end: int
    mirror_id: int
    pool: str
    osts: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class LustreRecord:
    """The layout of one file, as one rank (or -1, all ranks) saw it."""

    id: int
    rank: int
    components: tuple[LustreComponent, ...]
    osts: Int64s

    @property
    def stripe_size(self) -> int:
        """Stripe size of the first component, bytes; 0 if there is none."""
        return self.components[0].stripe_size if self.components else 0

    @property
    def stripe_count(self) -> int:
        """Stripe count of the first component; 0 if there is none."""
        return self.components[0].stripe_count if self.components else 0


class LustreTable(Sequence[LustreRecord]):
    """The Lustre records of a log, as a list that creates each record at its use.

    Attributes:
        ids, ranks: of all records, shape [n].
    """

    def __init__(self, version: int, data: bytes, words: Int64s, starts: Int64s) -> None:
        self._version = version
        self._data = data
        self._words = words
        self._starts = starts
        self.ids: UInt64s = words[starts].view(np.uint64)
        self.ranks: Int64s = words[starts + 1]

    @classmethod
    def empty(cls) -> LustreTable:
        """A table without records."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(2, b"", nothing, nothing)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> LustreRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[LustreRecord]: ...
    def __getitem__(self, index: int | slice) -> LustreRecord | list[LustreRecord]:
        if isinstance(index, slice):
            return [self._record(int(start)) for start in self._starts[index]]
        return self._record(int(self._starts[index]))

    def __iter__(self) -> Iterator[LustreRecord]:
        return (self._record(start) for start in self._starts.tolist())

    def _record(self, start: int) -> LustreRecord:
        return (self._record_1 if self._version == 1 else self._record_2)(start)

    def _record_1(self, start: int) -> LustreRecord:
        number, rank, _osts, _mdts, _first, size, count = self._words[start : start + _HEAD_1].tolist()
        osts = self._words[start + _HEAD_1 : start + _HEAD_1 + count]
        component = LustreComponent(size, count, -1, -1, 0, -1, -1, "", osts)
        return LustreRecord(number & (1 << 64) - 1, rank, (component,), osts)

    def _record_2(self, start: int) -> LustreRecord:
        number, rank, count, stripes = self._words[start : start + _HEAD].tolist()
        first = start + _HEAD + count * _COMPONENT
        osts = self._words[first : first + stripes]
        components = []
        used = 0
        for at in range(start + _HEAD, first, _COMPONENT):
            size, stripe_count, pattern, flags, begin, until, mirror = self._words[at : at + 7].tolist()
            pool = self._data[8 * at + 56 : 8 * at + 72].split(b"\0", 1)[0]
            end = used + max(0, stripe_count)
            components.append(
                LustreComponent(
                    size,
                    stripe_count,
                    pattern,
                    flags,
                    begin,
                    until,
                    mirror,
                    pool.decode("utf-8", "backslashreplace"),
                    osts[used:end],
                )
            )
            used = end
        return LustreRecord(number & (1 << 64) - 1, rank, tuple(components), osts)


def decode_lustre(version: int, data: bytes, code: str, source: Source, warn: Warn) -> LustreTable:
    """Find the records of an inflated LUSTRE region.

    Raises:
        WorkalikeError: DAMAGED_LOG if a record exceeds the region.
    """
    words = native_words(data, code)
    starts, used = _find_records(version, words, source)
    if used < len(data):
        warn(f"module LUSTRE: {len(data) - used} bytes left over at inflated byte {used}")
    if version > 1:
        _check_stripes(words, starts, warn)
    return LustreTable(version, data, words, starts)


def _find_records(version: int, words: Int64s, source: Source) -> tuple[Int64s, int]:
    """The word index at which each record begins, shape [n], and the bytes that the records use."""
    head, size_of = (_HEAD_1, _words_1) if version == 1 else (_HEAD, _words_2)
    if len(words) >= head:
        # Files mostly have the same layout, and records then lie on a grid. If every point of the grid has the same
        # numbers, a walk from record to record would give the same result.
        size = size_of(*words[head - 2 : head].tolist())
        if size > 0 and len(words) % size == 0:
            counts = words.reshape(-1, size)[:, head - 2 : head]
            if (counts[:, 1] == counts[0, 1]).all() and (
                version == 1 or (counts[:, 0] == counts[0, 0]).all()
            ):
                return np.arange(0, len(words), size), 8 * len(words)
    starts: list[int] = []
    at = 0
    while at + head <= len(words):
        size = size_of(*words[at + head - 2 : at + head].tolist())
        if size < 0 or at + size > len(words):
            raise source.damaged(
                "exceeds the region",
                place=f"module LUSTRE, record {len(starts)}, inflated byte {8 * at}",
            )
        starts.append(at)
        at += size
    return np.array(starts, dtype=np.int64), 8 * at


def _check_stripes(words: Int64s, starts: Int64s, warn: Warn) -> None:
    """Warn if a record's number of OSTs differs from the sum over its components."""
    components = words[starts + 2]
    wrong = 0
    for count in set(components.tolist()):
        same_count = starts[components == count]
        counts = words[(same_count + _HEAD + 1)[:, None] + _COMPONENT * np.arange(count)]
        mismatch = (counts.sum(axis=1) != words[same_count + 3]) | (counts < 0).any(axis=1)
        wrong += int(np.count_nonzero(mismatch))
    if wrong:
        warn(f"module LUSTRE: {wrong} of {len(starts)} records have other OSTs than their components say")


def _words_1(_stripe_size: int, stripes: int) -> int:
    """Number of words of a version 1 record, from the last two words of its head; -1 if impossible."""
    return _HEAD_1 + stripes if stripes >= 0 else -1


def _words_2(components: int, stripes: int) -> int:
    """Number of words of a version 2 record, from the last two words of its head; -1 if impossible."""
    if components < 0 or stripes < 0:
        return -1
    return _HEAD + components * _COMPONENT + stripes
