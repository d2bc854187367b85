"""Records of fixed size: POSIX, MPI-IO, STDIO, H5F, H5D, PNETCDF_FILE, PNETCDF_VAR (facts A4, A5)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workalike.darshan import layouts

Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordTable:
    """All records of one module, brought to the module's current layout.

    Attributes:
        module: name of the module.
        ids: record ids, shape [n].
        ranks: the rank of each record, -1 where all ranks of the job were summed up, shape [n].
        counters: integer counters, shape [n, C], -1 where not measured or not stored by an old version.
        fcounters: real counters (seconds, variances), shape [n, F].
        file_ids: record id of the file a dataset or variable lies in, shape [n]; None for other
            modules and for old H5D records.

    ``table["BYTES_READ"]`` gives a column of shape [n]. The arrays are read-only views of the
    inflated region where the log allows it.
    """

    module: str
    ids: UInt64s
    ranks: Int64s
    counters: Int64s
    fcounters: Float64s
    file_ids: UInt64s | None = None

    @property
    def counter_names(self) -> tuple[str, ...]:
        return layouts.FIXED[self.module].current.counters

    @property
    def fcounter_names(self) -> tuple[str, ...]:
        return layouts.FIXED[self.module].current.fcounters

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Give one counter of all records: int64 [n], or float64 [n] for names that begin with F_.

        Raises:
            KeyError: the module has no such counter.
        """
        real, column = _columns(self.module)[name]
        return self.fcounters[:, column] if real else self.counters[:, column]

    def __contains__(self, name: object) -> bool:
        return name in _columns(self.module)

    def __iter__(self) -> Iterator[str]:
        """The names of all counters, so that ``dict``-like use does not fall back on indices."""
        return iter(_columns(self.module))


@functools.cache
def _columns(module: str) -> dict[str, tuple[bool, int]]:
    """Where each counter of the current layout is: (is it a real one, column)."""
    layout = layouts.FIXED[module].current
    columns = {name: (False, column) for column, name in enumerate(layout.counters)}
    columns.update({name: (True, column) for column, name in enumerate(layout.fcounters)})
    return columns


def native_words(data: bytes, code: str) -> Int64s:
    """See the whole 8-byte words of a region as native int64, shape [len // 8].

    All fields of all records are 8 bytes wide but for texts, so one swap serves a whole region.
    On data of this machine's byte order it is a view, otherwise a copy.
    """
    words: npt.NDArray[Any] = np.frombuffer(data, dtype=f"{code}i8", count=len(data) // 8)
    return words.astype(np.int64, copy=False)


def decode_records(module: str, version: int, data: bytes, code: str) -> tuple[RecordTable, int]:
    """See an inflated region as records.

    Args:
        module: one of ``layouts.FIXED``.
        version: one of its versions.
        data: the inflated region.
        code: struct sign of the log's byte order.

    Returns:
        The table and the number of bytes left over at the end (less than a record).
    """
    stored = layouts.FIXED[module].versions[version]
    size = 8 * stored.words
    count = len(data) // size
    words = native_words(data[: count * size] if len(data) % size else data, code)
    table = words.reshape(count, stored.words)
    first = 2 + stored.file_id
    middle = first + len(stored.counters)
    counters = table[:, first:middle]
    fcounters = table[:, middle:].view(np.float64)
    current = layouts.FIXED[module].current
    if stored.counters != current.counters:
        counters = _upconvert(counters, stored.counters, current.counters)
        for name, parts in stored.sums.items():
            columns = [stored.counters.index(part) for part in parts]
            counters[:, current.counters.index(name)] = table[:, first:middle][:, columns].sum(axis=1)
    if stored.fcounters != current.fcounters:
        fcounters = _upconvert(fcounters, stored.fcounters, current.fcounters)
    return (
        RecordTable(
            module=module,
            ids=table[:, 0].view(np.uint64),
            ranks=table[:, 1],
            counters=counters,
            fcounters=fcounters,
            file_ids=table[:, 2].view(np.uint64) if stored.file_id else None,
        ),
        len(data) - count * size,
    )


def _upconvert(
    old: npt.NDArray[Any], old_names: tuple[str, ...], new_names: tuple[str, ...]
) -> npt.NDArray[Any]:
    """Copy columns by name into the new layout; what the old one lacks is "not measured"."""
    new = np.full((len(old), len(new_names)), layouts.MISSING_VALUE, dtype=old.dtype)
    for column, name in enumerate(new_names):
        if name in old_names:
            new[:, column] = old[:, old_names.index(name)]
        elif name in layouts.MISSING_VALUES:
            new[:, column] = layouts.MISSING_VALUES[name]
    return new
