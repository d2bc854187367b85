"""DXT: every read and write of a job, per file and rank (docs/reference/darshan-format.md#dxt).

Segments stay in NumPy arrays, because a trace may hold millions of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workalike.darshan import layouts
from workalike.darshan.records import Int64s, UInt64s, native_words
from workalike.darshan.source import Source, Warn

Segments = npt.NDArray[np.void]
"""Operations, with the fields offset and length (int64, bytes), start and end (float64, seconds since the job's start),
and thread (uint64) where the log has it."""

_FIELDS = [("offset", np.int64), ("length", np.int64), ("start", np.float64), ("end", np.float64)]
SEGMENT = np.dtype(_FIELDS)
THREAD_SEGMENT = np.dtype([*_FIELDS, ("thread", np.uint64)])

CHUNK = 1 << 17
"""Operations that are copied at a time."""
_HOST_AT, _HOST_WORDS, _COUNTS_AT = 24, 8, 88
_FIRST_VALID_MPIIO = 2


class DxtSlice(NamedTuple):
    """A bounded run of one record's writes or reads.

    Attributes:
        record: index of the record in the table.
        write: whether the operations are writes.
        first: index of the first operation among the record's writes (or reads).
        segments: the operations, shape [<= max_segments].
    """

    record: int
    write: bool
    first: int
    segments: Segments


class DxtRows(NamedTuple):
    """A copy of operations, of one record or many.

    Attributes:
        records: int64[S], index of each operation's record in the table.
        writes: bool[S], whether it is a write.
        segments: the operations, shape [S].
    """

    records: Int64s
    writes: npt.NDArray[np.bool_]
    segments: Segments


class DxtTable:
    """The trace records of one DXT module, one per file and rank.

    Attributes:
        module: "DXT_POSIX" or "DXT_MPIIO".
        version: version of the records.
        ids, ranks: shape [n].
        write_counts, read_counts: operations of each record, shape [n].
        hostnames: node of the rank, bytes without trailing NULs, shape [n].
        offsets_valid: False if the log has no usable offsets (DXT_MPIIO version 1); they are then -1.
    """

    def __init__(self, module: str, version: int, data: bytes, words: Int64s, starts: Int64s) -> None:
        self.module = module
        self.version = version
        self._dtype = SEGMENT if layouts.DXT_SEGMENT_BYTES[module, version] == 32 else THREAD_SEGMENT
        self._words = words
        self._starts = starts
        first = starts // 8
        self.ids: UInt64s = words[first].view(np.uint64)
        self.ranks: Int64s = words[first + 1]
        self.write_counts: Int64s = words[first + _COUNTS_AT // 8]
        self.read_counts: Int64s = words[first + _COUNTS_AT // 8 + 1]
        self.hostnames: npt.NDArray[np.bytes_] = _hostnames(data, first)
        self.offsets_valid = module != "DXT_MPIIO" or version >= _FIRST_VALID_MPIIO

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def total_segments(self) -> int:
        """The number of operations in all records."""
        return int(self.write_counts.sum() + self.read_counts.sum())

    def segments(self, record: int) -> tuple[Segments, Segments]:
        """The writes and the reads of a record, each in the order in which they were done."""
        writes = int(self.write_counts[record])
        reads = int(self.read_counts[record])
        return self._view(record, 0, writes), self._view(record, writes, reads)

    def slices(self, max_segments: int) -> Iterator[DxtSlice]:
        """All operations, record after record, in slices of at most ``max_segments``.

        Raises:
            ValueError: ``max_segments`` is not positive.
        """
        if max_segments < 1:
            raise ValueError("max_segments must be at least 1")
        for record in range(len(self)):
            writes, reads = int(self.write_counts[record]), int(self.read_counts[record])
            for write, base, count in ((True, 0, writes), (False, writes, reads)):
                for first in range(0, count, max_segments):
                    size = min(max_segments, count - first)
                    yield DxtSlice(record, write, first, self._view(record, base + first, size))

    def chunks(self, most: int = CHUNK) -> Iterator[DxtRows]:
        """Copies of at most `most` operations each, of many records together, in the order of `slices`."""
        of_record = self.write_counts + self.read_counts
        ends = np.cumsum(of_record)
        words = self._dtype.itemsize // 8
        for first in range(0, self.total_segments, most):
            index = np.arange(first, min(first + most, self.total_segments))
            records = np.searchsorted(ends, index, side="right")
            within = index - (ends - of_record)[records]
            places = (self._starts[records] + layouts.DXT_HEAD_BYTES) // 8 + within * words
            segments: Segments = self._words[places[:, None] + np.arange(words)].view(self._dtype)[:, 0]
            if not self.offsets_valid:
                segments["offset"] = -1
            yield DxtRows(records, within < self.write_counts[records], segments)

    def _view(self, record: int, first: int, count: int) -> Segments:
        at = int(self._starts[record]) + layouts.DXT_HEAD_BYTES + first * self._dtype.itemsize
        view: npt.NDArray[Any] = np.ndarray((count,), dtype=self._dtype, buffer=self._words.data, offset=at)
        if not self.offsets_valid:
            view = view.copy()
            view["offset"] = -1
        return view


def _hostnames(data: bytes, first: Int64s) -> npt.NDArray[np.bytes_]:
    """The host names, which are text and so do not depend on the file's byte order."""
    raw = native_words(data, "=")
    picked = raw[(first + _HOST_AT // 8)[:, None] + np.arange(_HOST_WORDS)]
    return np.ascontiguousarray(picked).view("S64").reshape(len(first))


def decode_dxt(module: str, version: int, data: bytes, code: str, source: Source, warn: Warn) -> DxtTable:
    """Find the records of an inflated DXT region.

    Raises:
        WorkalikeError: DAMAGED_LOG if a record exceeds the region.
    """
    segment = layouts.DXT_SEGMENT_BYTES[module, version]
    counts = struct.Struct(code + "2q").unpack_from
    starts: list[int] = []
    at = 0
    last = len(data) - layouts.DXT_HEAD_BYTES
    while at <= last:
        writes, reads = counts(data, at + _COUNTS_AT)
        end = at + layouts.DXT_HEAD_BYTES + (writes + reads) * segment
        if writes < 0 or reads < 0 or end > len(data):
            raise source.damaged(
                f"has {writes} writes and {reads} reads, which exceed the region",
                place=f"module {module}, record {len(starts)}, inflated byte {at}",
            )
        starts.append(at)
        at = end
    if at < len(data):
        warn(f"module {module}: {len(data) - at} bytes left over at inflated byte {at}")
    return DxtTable(module, version, data, native_words(data, code), np.array(starts, dtype=np.int64))
