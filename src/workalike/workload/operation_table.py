"""The operation table of a workload: operations that no rule expresses, as columns in a file beside the workload.

The file begins with `WAOPTAB2` and the number of rows (uint64, little endian). Four columns follow, each as the length
of its zlib stream (uint64) and that stream. Rows are in the order in which they began in the log.

* rank: uint32[rows], in the order of the rows. The other columns are ordered by rank, and within a rank as the rows.
* direction: uint8[rows], 0 read, 1 write; 2 more for a collective call.
* offset: int64[rows], the distance from the end of the rank's previous operation, of its first one from 0.
* length: int64[rows], the difference to the length of the rank's previous operation, of its first one to 0.

The columns of int64 are stored in byte planes: first the lowest byte of every row, then the next.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file, write_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]


FAMILY_OF_FORMATS = b"WAOPTAB"
MAGIC = FAMILY_OF_FORMATS + b"2"
ROWS_MAGIC = FAMILY_OF_FORMATS + b"1"
NAMES = ("ranks", "writes", "offsets", "lengths", "collective")
MAX_ROWS = 2**26
MAX_FILE = 2**31
"""Bytes of a file that are read."""
_DAMAGED = "is damaged: {0}"
_HINT = "copy it again from where the workload was written"


@dataclass(frozen=True, eq=False)
class OperationTable:
    """Operations in the order in which they began.

    Attributes:
        ranks: int64[rows], ranks of the job.
        writes: bool[rows], whether each is a write.
        offsets, lengths: int64[rows], bytes.
        collective: bool[rows], whether each is a collective call.
    """

    ranks: IntArray
    writes: npt.NDArray[np.bool_]
    offsets: IntArray
    lengths: IntArray
    collective: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def kinds(self) -> npt.NDArray[np.uint8]:
        """uint8[rows], the column of directions."""
        import numpy as np

        return self.writes.astype(np.uint8) + 2 * self.collective.astype(np.uint8)

    def part(self, first: int, count: int) -> OperationTable:
        """`count` rows from `first` on."""
        return self.chosen(slice(first, first + count))

    def chosen(self, which: slice | npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> OperationTable:
        """Some of the rows."""
        return OperationTable(*(getattr(self, name)[which] for name in NAMES))

    def by_rank(self) -> OperationTable:
        """The rows in order of rank, those of a rank in their own order."""
        import numpy as np

        return self.chosen(np.argsort(self.ranks, kind="stable"))

    def end(self, write: bool | None = None) -> int:
        """One past the largest byte, of one direction or of both; 0 without rows."""
        ends = self.offsets + self.lengths
        if write is not None:
            ends = ends[self.writes == write]
        return int(ends.max()) if len(ends) else 0

    def moved(self, write: bool) -> int:
        """Bytes of one direction."""
        return int(self.lengths[self.writes == write].sum())

    @functools.cached_property
    def encoded(self) -> bytes:
        """The content of the file."""
        import numpy as np

        rows = self.by_rank()
        ends = rows.offsets + rows.lengths
        before = np.concatenate([[0], ends[:-1]])
        shorter = np.concatenate([[0], rows.lengths[:-1]])
        first = np.diff(rows.ranks, prepend=-1) != 0
        before[first] = shorter[first] = 0
        columns = (
            self.ranks.astype("<u4").tobytes(),
            rows.kinds.tobytes(),
            _planes(rows.offsets - before),
            _planes(rows.lengths - shorter),
        )
        parts = [zlib.compress(column, 6) for column in columns]
        lengths = [struct.pack("<Q", len(part)) + part for part in parts]
        return MAGIC + struct.pack("<Q", len(self)) + b"".join(lengths)

    @functools.cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal."""
        return hashlib.sha256(self.encoded).hexdigest()

    def for_plan(self) -> bytes:
        """The columns as they are, in the order of the rows: the table of a plan (docs/plan-format.md)."""
        return b"".join(
            (
                ROWS_MAGIC,
                struct.pack("<Q", len(self)),
                self.ranks.astype("<u4").tobytes(),
                self.kinds.tobytes(),
                self.offsets.astype("<i8").tobytes(),
                self.lengths.astype("<i8").tobytes(),
            )
        )


def joined(parts: list[OperationTable]) -> OperationTable:
    """Several tables as one."""
    import numpy as np

    return OperationTable(*(np.concatenate([getattr(part, name) for part in parts]) for name in NAMES))


def file_name(sha256: str) -> str:
    """The name of a workload's table, in the folder of the workload."""
    return f"operations-{sha256[:16]}.table"


def write_table(table: OperationTable, folder: Path) -> Path:
    """Write a table into the folder of its workload.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    path = folder / file_name(table.sha256)
    write_bytes(path, table.encoded)
    return path


def read_table(folder: Path, sha256: str, rows: int) -> OperationTable:
    """The table of a workload, from the workload's folder.

    Args:
        folder: the workload's folder.
        sha256: the hash that the workload states.
        rows: the number of rows that the workload states.

    Raises:
        WorkalikeError: MISSING, or BAD_WORKLOAD where the file is not the table that the workload names, or is damaged.
    """
    path = folder / file_name(sha256)
    try:
        with open_file(path, ErrorKind.BAD_WORKLOAD) as file:
            # A read takes memory for all that it asks for, not for what is there.
            data = file.read(min(os.fstat(file.fileno()).st_size, MAX_FILE) + 1)
    except (OSError, WorkalikeError) as error:
        if isinstance(error, WorkalikeError) and error.kind is not ErrorKind.MISSING:
            raise
        raise WorkalikeError(
            ErrorKind.MISSING,
            "the workload's operation table is not there",
            file=path,
            hint="copy it into the folder of the workload",
        ) from error
    return decode(data, path, sha256, rows)


def decode(data: bytes, path: Path, sha256: str, rows: int) -> OperationTable:
    """The rows of a table's file; errors name `path`.

    Raises:
        WorkalikeError: BAD_WORKLOAD.
    """

    def refuse(message: str) -> WorkalikeError:
        return WorkalikeError(ErrorKind.BAD_WORKLOAD, message, file=path, hint=_HINT)

    if data[:7] != FAMILY_OF_FORMATS or len(data) < 16:
        raise refuse("is not an operation table")
    if data[:8] != MAGIC:
        raise refuse(f"is an operation table of version {data[7:8].decode('ascii', 'replace')!r}, not 2")
    if hashlib.sha256(data).hexdigest() != sha256:
        raise refuse("is not the table of this workload: its SHA-256 differs")
    (count,) = struct.unpack_from("<Q", data, 8)
    if count != rows or count > MAX_ROWS:
        raise refuse(f"has {count} rows, not {rows}")
    columns = []
    at = 16
    for width in (4, 1, 8, 8):
        if len(data) - at < 8:
            raise refuse(_DAMAGED.format("it ends within a column"))
        (length,) = struct.unpack_from("<Q", data, at)
        column = _inflated(data[at + 8 : at + 8 + length], width * rows)
        if length > len(data) - at - 8 or column is None:
            raise refuse(_DAMAGED.format("a column has another length"))
        columns.append(column)
        at += 8 + length
    if at != len(data):
        raise refuse(_DAMAGED.format(f"{len(data) - at} bytes follow its columns"))
    if max(columns[1], default=0) > 3:
        raise refuse(_DAMAGED.format("a direction is none of 0 to 3"))
    return _undone(*columns)


def _undone(ranks: bytes, directions: bytes, offsets: bytes, lengths: bytes) -> OperationTable:
    """The rows of inflated columns."""
    import numpy as np

    rank = np.frombuffer(ranks, "<u4").astype(np.int64)
    order = np.argsort(rank, kind="stable")
    first = np.flatnonzero(np.diff(rank[order], prepend=-1))
    length = _summed(_unplaned(lengths), first)
    steps = _unplaned(offsets)
    begin = _summed(steps + length, first) - length
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    kind = np.frombuffer(directions, "u1")[back]
    return OperationTable(rank, (kind & 1) != 0, begin[back], length[back], (kind & 2) != 0)


def _summed(steps: IntArray, first: IntArray) -> IntArray:
    """Running sums that begin anew at each of the indices `first`; they wrap around as 64-bit integers do."""
    import numpy as np

    sums = np.cumsum(steps)
    before = np.where(first > 0, sums[first - 1], 0)
    counts = np.diff(np.append(first, len(steps)))
    out: IntArray = sums - np.repeat(before, counts)
    return out


def _planes(values: IntArray) -> bytes:
    import numpy as np

    return values.astype("<i8").view(np.uint8).reshape(-1, 8).T.tobytes()


def _unplaned(data: bytes) -> IntArray:
    import numpy as np

    planes = np.frombuffer(data, np.uint8).reshape(8, -1)
    return np.ascontiguousarray(planes.T).reshape(-1).view("<i8").astype(np.int64)


def _inflated(data: bytes, size: int) -> bytes | None:
    """The `size` bytes of a zlib stream; None if it is damaged, holds more or less, or is followed by anything."""
    stream = zlib.decompressobj()
    try:
        out = stream.decompress(data, size + 1)
    except zlib.error:
        return None
    whole = len(out) == size and stream.eof and not stream.unused_data and not stream.unconsumed_tail
    return out if whole else None
