"""The facts of a job as columns: one row per file and, for each module, one row per record, sorted by file.

Nothing in here refers to an open log: facts are small, and outlive the log.
File names are in one column, which can be left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workalike.capture.side_file import SizesOfRank
from workalike.facts.records import BoolArray, FileFacts, FloatArray, IntArray, ModuleFacts
from workalike.workload.words import Direction

IdArray = npt.NDArray[np.uint64]
DIRECTIONS = tuple(Direction)


@dataclass(frozen=True)
class RecordColumns:
    """All records of a module, sorted by file. The records of one file are in the order of their logs.

    `file` int64[R] is the row of the file. `ids` uint64[R] are the records' ids (for H5D and PNETCDF_VAR: of the
    dataset). `ranks` int64[R] is -1 for a reduced record. `counters` are int64[R, C], `fcounters` float64[R, F]
    (seconds, variances). `first_rank` and `members` int64[R] are the ranks of the log that a record comes from;
    `members` is -1 where the job has one log. `doubted` bool[R] marks records whose bytes cannot be true,
    `partial` bool[R] those whose module lost records.
    """

    module: str
    counter_names: tuple[str, ...]
    fcounter_names: tuple[str, ...]
    file: IntArray
    ids: IdArray
    ranks: IntArray
    counters: IntArray
    fcounters: FloatArray
    first_rank: IntArray
    members: IntArray
    doubted: BoolArray
    partial: BoolArray

    def __len__(self) -> int:
        return len(self.file)

    def column(self, name: str) -> IntArray:
        """int64[R], one counter; -1 where it was not measured."""
        return self.counters[:, self.counter_names.index(name)]

    @cached_property
    def starts(self) -> IntArray:
        """int64: the first row of each file that the module saw."""
        cuts = np.flatnonzero(np.diff(self.file)) + 1
        return np.concatenate([[0], cuts]).astype(np.int64)[: len(self)]

    @cached_property
    def bounds(self) -> list[tuple[int, int, int]]:
        """(file, first row, last row + 1) for each file that the module saw."""
        cuts = [0, *(np.flatnonzero(np.diff(self.file)) + 1).tolist(), len(self)]
        return list(zip(self.file[cuts[:-1]].tolist(), cuts[:-1], cuts[1:], strict=True)) if len(self) else []

    def rows(self, first: int, last: int) -> ModuleFacts:
        """The records of one file, as views of the columns."""
        part = slice(first, last)
        scope = None
        if self.members[first] >= 0:
            scope = np.stack([self.first_rank[part], self.members[part]], axis=1)
        return ModuleFacts(
            self.module,
            self.ids[part],
            self.ranks[part],
            self.counters[part],
            self.fcounters[part],
            self.counter_names,
            self.fcounter_names,
            bool(self.partial[part].any()),
            bool(self.doubted[part].any()),
            scope,
        )


@dataclass(frozen=True)
class CallColumns:
    """Sizes of STDIO calls, int64[K] each, where a side file reports them. `direction` is an index of `DIRECTIONS`."""

    file: IntArray
    rank: IntArray
    direction: IntArray
    operations: IntArray
    size: IntArray

    def by_file(self) -> dict[int, SizesOfRank]:
        """File -> rank -> direction -> (operations, size) pairs, in the order of the rows."""
        out: dict[int, SizesOfRank] = {}
        columns = (self.file, self.rank, self.direction, self.operations, self.size)
        for file, rank, direction, operations, size in zip(*(c.tolist() for c in columns), strict=True):
            sizes = out.setdefault(file, {}).setdefault(rank, {d: [] for d in Direction})
            if operations:
                sizes[DIRECTIONS[direction]].append((operations, size))
        return out


@dataclass(frozen=True)
class Facts:
    """What the logs of one job say of its N files.

    `nprocs` ranks ran for `run_time` seconds; `logs` is the number of logs. `record_ids` uint64[N] and `names` identify
    the files. `stripe_size` (bytes) and `stripe_count` int64[N] are their Lustre layout, 0 where it is not known.
    `truncations` int64[N] are the opens that emptied a written file, 0 where no side file reports them; `removals` int64[N]
    how often their names were deleted, -1 where the log does not count that. `cpu_share` is the share of their run for which processes used a core or waited for one (0 to 1), None where no side file reports it. `libraries` has the versions of I/O libraries by name, as far as a side file reports them. `unknown`
    is, by module, of how many files a number of calls or bytes is not measured or impossible; a table of facts in a
    file does not have it. Of `skipped_modules`, which are left out, those in `unreadable_modules` are damaged.
    """

    nprocs: int
    run_time: float
    logs: int
    record_ids: IdArray
    names: tuple[str, ...]
    stripe_size: IntArray
    stripe_count: IntArray
    truncations: IntArray
    removals: IntArray
    modules: dict[str, RecordColumns]
    calls: CallColumns
    partial_modules: tuple[str, ...] = ()
    skipped_modules: tuple[str, ...] = ()
    unreadable_modules: tuple[str, ...] = ()
    cpu_share: float | None = None
    libraries: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.record_ids)

    def files(self) -> list[FileFacts]:
        """One object per file, whose arrays are views of the columns."""
        return list(self.some_files(range(len(self))).values())

    def some_files(self, which: Iterable[int]) -> dict[int, FileFacts]:
        """As `files`, of some rows only."""
        sizes, counts = self.stripe_size.tolist(), self.stripe_count.tolist()
        numbers, emptied = self.record_ids.tolist(), self.truncations.tolist()
        removed = self.removals.tolist()
        out = {
            row: FileFacts(
                numbers[row],
                self.names[row],
                self.nprocs,
                stripe=(sizes[row], counts[row]) if sizes[row] else None,
                truncations=emptied[row],
                removals=removed[row] if removed[row] >= 0 else None,
            )
            for row in which
        }
        for module, columns in self.modules.items():
            for file, first, last in columns.bounds if out else ():
                if file in out:
                    out[file].modules[module] = columns.rows(first, last)
        for file, reported in self.calls.by_file().items():
            if file in out:
                out[file].modules["STDIO"].sizes = reported
        return out
