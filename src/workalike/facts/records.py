"""The records of a log, merged by file: the input of every rule.

File names are held here only. No structure that leaves the process (workload, record, report) contains them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from workalike.capture.side_file import SizesOfRank
from workalike.workload.words import Direction, Level, Reason

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MODULE_OF_LEVEL = {
    Level.POSIX: "POSIX",
    Level.STDIO: "STDIO",
    Level.MPIIO: "MPI-IO",
    Level.H5D: "H5D",
    Level.PNETCDF: "PNETCDF_VAR",
}


@dataclass
class ModuleFacts:
    """All records of one file in one module (for H5D: of all its datasets).

    `counters` is int64[records, C], `fcounters` float64[records, F]. Rank -1 marks a record reduced over all ranks.
    `ids` are the records' own ids (for H5D and PNETCDF_VAR: of the dataset, not the file). `scope` int64[records, 2]
    has the first rank and the number of ranks of the log that a record comes from, where the job has several logs.
    Where it is None, a reduced record stands for the whole job.
    """

    module: str
    ids: npt.NDArray[np.uint64]
    ranks: IntArray
    counters: IntArray
    fcounters: FloatArray
    counter_names: tuple[str, ...]
    fcounter_names: tuple[str, ...]
    partial: bool = False
    doubted: bool = False  # bytes of a record could not be true (see `plausible`)
    scope: IntArray | None = None
    sizes: SizesOfRank = field(default_factory=dict)  # of STDIO calls, where a side file reports them

    def __post_init__(self) -> None:
        self._places = _places(self.counter_names)
        self._fplaces = _places(self.fcounter_names)

    def column(self, name: str) -> IntArray:
        """int64[records], one counter; -1 means not measured."""
        return self.counters[:, self._places[name]]

    def fcolumn(self, name: str) -> FloatArray:
        """float64[records], one floating-point counter: seconds, or a variance."""
        return self.fcounters[:, self._fplaces[name]]

    def of_first(self, name: str) -> float:
        """One floating-point counter of the first record."""
        return float(self.fcounters.item(0, self._fplaces[name]))

    def has(self, name: str) -> bool:
        """Whether the module has a counter of this name, of either kind."""
        return name in self._places or name in self._fplaces

    def total(self, name: str) -> int:
        """Sum over the records, where -1 (not measured) counts as 0. It is 0 if the module has no such counter."""
        place = self._places.get(name)
        if place is None:
            return 0
        if len(self.counters) == 1:  # a log may have thousands of files of one record
            return max(0, self.counters.item(0, place))
        return exact_sum(self.counters[:, place])

    def totals(self, names: Sequence[str]) -> list[int]:
        """Sums of several counters."""
        return [self.total(name) for name in names]

    def largest(self, name: str) -> int:
        if name not in self._places or not len(self.ranks):
            return 0
        return max(0, int(self.column(name).max()))

    def rows(self, which: npt.NDArray[np.intp]) -> ModuleFacts:
        """Some of the records."""
        return replace(
            self,
            ids=self.ids[which],
            ranks=self.ranks[which],
            counters=self.counters[which],
            fcounters=self.fcounters[which],
            scope=None if self.scope is None else self.scope[which],
        )

    def reported_sizes(self, direction: Direction) -> list[tuple[int, int]]:
        """(operations, size) of the calls that a side file reports; a reduced record stands for all ranks."""
        everyone = bool((self.ranks < 0).any())
        ranks = self.sizes if everyone else dict.fromkeys(self.ranks.tolist())
        reported = [self.sizes[rank] for rank in ranks if rank in self.sizes]
        return [pair for by_direction in reported for pair in by_direction[direction]]

    def first(self, name: str) -> float | None:
        """Smallest positive timestamp of the records in seconds; None without one."""
        column = self.fcolumn(name)
        column = column[np.isfinite(column) & (column > 0)]
        return float(column.min()) if len(column) else None

    def last(self, name: str) -> float | None:
        """Largest positive timestamp of the records in seconds; None without one."""
        column = self.fcolumn(name)
        column = column[np.isfinite(column) & (column > 0)]
        return float(column.max()) if len(column) else None


@functools.cache
def _places(names: tuple[str, ...]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def exact_sum(column: IntArray) -> int:
    """Sum of the positive values, exact where the sum of untrusted counters exceeds 64 bits."""
    positive = column[column > 0]
    if not len(positive):
        return 0
    if int(positive.max()) < 2**62 // len(positive):
        return int(positive.sum())
    return sum(positive.tolist())


@dataclass
class FileFacts:
    """One file of the job, with what every module says of it."""

    record_id: int
    name: str
    nprocs: int
    modules: dict[str, ModuleFacts] = field(default_factory=dict)
    stripe: tuple[int, int] | None = None  # size in bytes and count of a Lustre layout
    truncations: int = 0  # opens that emptied what the process had written, where a side file reports them
    removals: int | None = None  # how often the name was deleted; None where the log does not count that

    @property
    def key(self) -> tuple[int, bool]:
        """Identifies the file within the job. What STDIO moved of a file may be a file of its own."""
        return self.record_id, "STDIO" in self.modules and len(self.modules) == 1

    def bytes_at(self, level: Level, direction: Direction) -> int:
        facts = self.modules.get(MODULE_OF_LEVEL[level])
        return facts.total("BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN") if facts else 0


@dataclass
class Loss:
    """Bytes of a log that its workload cannot express, and the reason."""

    reason: Reason
    bytes: int
    files: int
    module: str = ""
