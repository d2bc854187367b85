"""Records of fixed size: POSIX, MPI-IO, STDIO, H5F, H5D, PNETCDF_FILE, PNETCDF_VAR.

See docs/reference/darshan-format.md#modules.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workalike.darshan import layouts
from workalike.darshan.source import Warn

_HEAD_WORDS = 2
"""Every record begins with its id and its rank."""
HEAD_BYTES = 8 * _HEAD_WORDS

Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordTable:
    """All records of one module, converted to the module's current layout.

    Attributes:
        module: name of the module.
        ids: record ids, shape [n].
        ranks: the rank of each record, -1 for a sum over all ranks of the job, shape [n].
        counters: integer counters, -1 if not measured or not stored by an old version, shape [n, C].
        fcounters: real counters (seconds, variances), shape [n, F].
        file_ids: record id of the file of a dataset or variable, shape [n]; None for other modules and for old H5D
            records.

    ``table["BYTES_READ"]`` is a column of shape [n]. The arrays are read-only views of the inflated region if the log's
    version and byte order allow it.
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
        """One counter of all records: int64 [n], or float64 [n] for names that begin with F_.

        Raises:
            KeyError: the module has no such counter.
        """
        real, column = _columns(self.module)[name]
        return self.fcounters[:, column] if real else self.counters[:, column]

    def __contains__(self, name: object) -> bool:
        return name in _columns(self.module)

    def __iter__(self) -> Iterator[str]:
        """The names of all counters; without this method, iteration would call ``__getitem__`` with indices."""
        return iter(_columns(self.module))


@functools.cache
def _columns(module: str) -> dict[str, tuple[bool, int]]:
    """(whether it is real, column) of each counter of the current layout."""
    layout = layouts.FIXED[module].current
    columns = {name: (False, column) for column, name in enumerate(layout.counters)}
    columns.update({name: (True, column) for column, name in enumerate(layout.fcounters)})
    return columns


def native_words(data: bytes, code: str) -> Int64s:
    """The whole 8-byte words of a region as native int64, shape [len // 8].

    Except for text, all fields of all records are 8 bytes wide, so one byte swap converts a whole region. Data in this
    machine's byte order are not copied.
    """
    if len(data) < 8:
        return np.empty(0, dtype=np.int64)
    words: npt.NDArray[Any] = np.frombuffer(data, dtype=f"{code}i8", count=len(data) // 8)
    return words.astype(np.int64, copy=False)


def other_size(words: Int64s, usual: int, known: Collection[int] | None, nprocs: int) -> int | None:
    """The size of records, other than the usual one, at which each has an id and a rank of the job.

    Args:
        words: the words of a region, shape [w].
        usual: words of a record as its version has it.
        known: record ids that have a name, which all must be among; None: ids need only look like hashes, and records
            have between one and two times the usual size.
        nprocs: processes of the job.

    Returns:
        Words of a record, the smallest size that fits; None where none does. A single record shows its size
        only by what is left over, less than another record.
    """
    named = None if known is None else np.array(list(known), dtype=np.uint64)
    total = len(words)
    for count in range(total // _HEAD_WORDS, 0, -1):
        size = total // count
        by_a_part = (count == 1 or named is None) and not usual < size < 2 * usual
        if total % count or size == usual or by_a_part:
            continue
        table = words.reshape(count, size)
        ids, ranks = table[:, 0].view(np.uint64), table[:, 1]
        if not ((ranks >= -1) & (ranks < nprocs)).all():
            continue
        if named is None:
            if count > 1 and ((ids >= 1 << 32) & (ids < (1 << 64) - (1 << 32))).all():
                return size
        elif np.isin(ids[0], named) and np.isin(ids, named).all():
            return size
    return None


def decode_records(module: str, version: int, data: bytes, code: str, warn: Warn) -> RecordTable:
    """The records of an inflated region.

    Args:
        module: one of ``layouts.FIXED``.
        version: one of its versions.
        data: the inflated region.
        code: the log's byte order as the character of struct.
        warn: gets remarks on bytes left over at the end, and on what an old version lacks.
    """
    stored = layouts.FIXED[module].versions[version]
    current = layouts.FIXED[module].current
    size = 8 * stored.words
    count = len(data) // size
    if len(data) % size:
        warn(f"module {module}: {len(data) % size} bytes left over after {count} records")
    table = native_words(data, code)[: count * stored.words].reshape(count, stored.words)
    first = 2 + stored.file_id
    middle = first + len(stored.counters)
    counters = table[:, first:middle]
    fcounters = table[:, middle:].view(np.float64)
    if not np.isfinite(fcounters).all():
        warn(f"module {module}: some real counters are not finite numbers")
    if stored is not current:
        change = _change(module, version)
        if change.lost_names and counters[:, change.lost].any():
            warn(f"module {module}: version {version} also counts {change.lost_names}, which are left out")
        if current.file_id and not stored.file_id:
            warn(f"module {module}: version {version} does not say which file a record belongs to")
        counters = _upconvert(counters, change.defaults, change.counters)
        for column, parts in change.sums:
            counters[:, column] = table[:, first:middle][:, parts].sum(axis=1)
        fcounters = _upconvert(fcounters, change.real_defaults, change.fcounters)
    return RecordTable(
        module=module,
        ids=table[:, 0].view(np.uint64),
        ranks=table[:, 1],
        counters=counters,
        fcounters=fcounters,
        file_ids=table[:, 2].view(np.uint64) if stored.file_id else None,
    )


Columns = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Change:
    """How records of an old layout are converted to the current one.

    Attributes:
        counters, fcounters: columns of the new layout, and the old columns with their values.
        defaults, real_defaults: the values of a row of the new layout before columns are copied.
        sums: columns of the new layout, and the old counters of which each is the sum.
        lost: columns of old counters that the new layout does not have.
        lost_names: the names of these counters.
    """

    counters: tuple[Columns, Columns]
    fcounters: tuple[Columns, Columns]
    defaults: Int64s
    real_defaults: Float64s
    sums: tuple[tuple[int, list[int]], ...]
    lost: list[int]
    lost_names: str


@functools.cache
def _change(module: str, version: int) -> _Change:
    old = layouts.FIXED[module].versions[version]
    new = layouts.FIXED[module].current
    summed = {part for parts in old.sums.values() for part in parts}
    lost = [name for name in old.counters if name not in new.counters and name not in summed]
    missing = layouts.MISSING_VALUE
    return _Change(
        counters=_moves(old.counters, new.counters),
        fcounters=_moves(old.fcounters, new.fcounters),
        defaults=np.array([layouts.MISSING_VALUES.get(name, missing) for name in new.counters]),
        real_defaults=np.full(len(new.fcounters), float(missing)),
        sums=tuple(
            (new.counters.index(name), [old.counters.index(part) for part in parts])
            for name, parts in old.sums.items()
        ),
        lost=[old.counters.index(name) for name in lost],
        lost_names=", ".join(lost),
    )


def _moves(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[Columns, Columns]:
    """Pair the columns of both layouts that have the same name: (new columns, old columns)."""
    shared = [name for name in new if name in old]
    return np.array([new.index(name) for name in shared], np.intp), np.array(
        [old.index(name) for name in shared], np.intp
    )


def _upconvert(
    old: npt.NDArray[Any], defaults: npt.NDArray[Any], columns: tuple[Columns, Columns]
) -> npt.NDArray[Any]:
    """Copy columns into the new layout; what the old layout lacks is "not measured"."""
    new = np.empty((len(old), len(defaults)), dtype=defaults.dtype)
    new[:] = defaults
    new[:, columns[0]] = old[:, columns[1]]
    return new
