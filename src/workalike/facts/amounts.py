"""What files amount to: bytes, calls and seconds, and their shares of all files of an application."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.facts.columns import Facts, RecordColumns
from workalike.facts.counters import NOT_OPENS
from workalike.facts.records import FileFacts, FloatArray
from workalike.facts.thresholds import THRESHOLDS

LEVELS = ("POSIX", "MPI-IO", "H5D", "PNETCDF_VAR")
"""Modules that see the same bytes, one above the other. What STDIO moves is apart."""
CALLS = {
    "POSIX": ("READS", "WRITES", "SEEKS", "STATS", "MMAPS", "FSYNCS", "FDSYNCS", "RENAME_SOURCES"),
    "STDIO": ("READS", "WRITES", "SEEKS", "FLUSHES"),
    "MPI-IO": (
        *("INDEP_OPENS", "COLL_OPENS", "INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
        *("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES", "SYNCS"),
    ),
}
"""Calls of a module beside the opens of POSIX and STDIO. Those of MPI-IO count where the log has none of the others."""
TIMERS = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")


@dataclass(frozen=True)
class Amounts:
    """Bytes, calls (opens, reads, writes, seeks, stats, maps, syncs, renames), and rank-seconds in calls."""

    bytes: int = 0
    calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.bytes + other.bytes, self.calls + other.calls, self.seconds + other.seconds)

    def shares(self, whole: Amounts) -> tuple[float, float, float]:
        """Of bytes, calls and seconds, each 0..1 of the whole; 0 where the whole has none."""
        return (
            _share(self.bytes, whole.bytes),
            _share(self.calls, whole.calls),
            _share(self.seconds, whole.seconds),
        )


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 0.0


def moved_bytes(file: FileFacts) -> int:
    """Bytes of a file at the level that saw most of them, since a level may be partial; bytes of STDIO are added."""
    moved = {
        name: facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN") for name, facts in file.modules.items()
    }
    return max(moved.get(module, 0) for module in LEVELS) + moved.get("STDIO", 0)


@dataclass(frozen=True)
class FileAmounts:
    """The amounts of N files, float64[N] each: bytes, calls, rank-seconds; `written` of the bytes, `stats` of the calls."""

    bytes: FloatArray
    calls: FloatArray
    seconds: FloatArray
    written: FloatArray
    stats: FloatArray

    def __getitem__(self, row: int) -> Amounts:
        return Amounts(int(self.bytes[row]), int(self.calls[row]), float(self.seconds[row]))

    def total(self, rows: Sequence[int]) -> Amounts:
        """Some files together."""
        which = np.asarray(rows, dtype=np.int64)
        return Amounts(
            int(self.bytes[which].sum()), int(self.calls[which].sum()), float(self.seconds[which].sum())
        )


def amounts_by_file(facts: Facts) -> FileAmounts:
    """The amounts of each file of a job.

    Bytes are those of the level that saw most of them, since a level may be partial; those of STDIO are added. Seconds
    of MPI-IO include those of POSIX below: the larger ones count.
    """
    files = len(facts)
    sums = {
        module: _Sums(table, files) for module, table in facts.modules.items() if module in (*LEVELS, "STDIO")
    }
    nothing = np.zeros(files)

    def largest(names: Iterable[str], modules: Iterable[str]) -> FloatArray:
        found = [sums[module].of_counters(names) for module in modules if module in sums]
        most: FloatArray = np.maximum.reduce([nothing, *found])
        return most

    stdio = sums.get("STDIO")
    written = largest(("BYTES_WRITTEN",), LEVELS) + (
        stdio.of_counters(("BYTES_WRITTEN",)) if stdio else nothing
    )
    moved = ("BYTES_READ", "BYTES_WRITTEN")
    bytes_ = largest(moved, LEVELS) + (stdio.of_counters(moved) if stdio else nothing)
    calls = sum((sums[module].calls() for module in ("POSIX", "STDIO") if module in sums), nothing)
    if "MPI-IO" in sums:
        calls = np.where(calls > 0, calls, sums["MPI-IO"].calls())
    seconds = np.maximum.reduce(
        [nothing, *(sums[module].seconds() for module in ("POSIX", "MPI-IO") if module in sums)]
    )
    seconds = seconds + (stdio.seconds() if stdio else nothing)
    # The time of a rename is counted at both names, the call at the first one alone.
    seconds = np.where((calls > 0) | (bytes_ > 0), seconds, 0.0)
    stats = sums["POSIX"].of_counters(("STATS",)) if "POSIX" in sums else nothing
    return FileAmounts(bytes_, calls, seconds, written, stats)


@dataclass(frozen=True)
class _Sums:
    """Sums of a module's counters over the records of each file."""

    table: RecordColumns
    files: int

    def of_counters(self, names: Iterable[str]) -> FloatArray:
        known = [name for name in names if name in self.table.counter_names]
        return self._by_file([self.table.column(name).clip(0).astype(np.float64) for name in known])

    def calls(self) -> FloatArray:
        module = self.table.module
        out = self.of_counters(CALLS[module])
        if module in NOT_OPENS:
            out = out + (self.of_counters(("OPENS",)) - self.of_counters(NOT_OPENS[module])).clip(0)
        return out

    def seconds(self) -> FloatArray:
        names = self.table.fcounter_names
        columns = [self.table.fcounters[:, names.index(name)] for name in TIMERS if name in names]
        return self._by_file(
            [np.where(np.isfinite(c), c, 0.0).clip(0, THRESHOLDS.compute_most) for c in columns]
        )

    def _by_file(self, columns: list[FloatArray]) -> FloatArray:
        if not columns:
            return np.zeros(self.files)
        weights = np.sum(columns, axis=0)
        return np.bincount(self.table.file, weights=weights, minlength=self.files).astype(np.float64)
