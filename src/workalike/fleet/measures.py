"""What a log's counters add up to, for each file and for the log, by whole columns.

The three metrics are those of the Cray XE6 paper (docs/reference/fleet-tables.md#metrics).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from workalike.darshan.bins import SIZE_BINS
from workalike.facts.columns import Facts, RecordColumns
from workalike.facts.counters import ACCESSES, COUNTS, operation_names
from workalike.facts.records import BoolArray, FloatArray, IntArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.words import Direction

MOST = 2**62
"""Sums of untrusted counters stop here."""

_SMALL_BINS = SIZE_BINS[:5]
_MIB = 2**20
_TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")


@dataclass(frozen=True)
class Sums:
    """Sums over the records of each file in one module; all arrays have a row for each file of the job.

    Times float64[N] are seconds of all ranks together: read, write and metadata calls.
    """

    present: BoolArray
    shared: BoolArray
    bytes_read: IntArray
    bytes_written: IntArray
    reads: IntArray
    writes: IntArray
    opens: IntArray
    syncs: IntArray
    read_s: FloatArray
    write_s: FloatArray
    meta_s: FloatArray


def per_file(records: RecordColumns, values: IntArray, files: int) -> IntArray:
    """int64[N], the sums of the records' values (not measured counts as 0) by file, at most `MOST`."""
    out = np.zeros(files, dtype=np.int64)
    if not len(records):
        return out
    kept = np.clip(values, 0, MOST)
    starts = records.starts
    total = np.add.reduceat(kept, starts)
    about = np.add.reduceat(kept.astype(np.float64), starts)
    out[records.file[starts]] = np.where(about >= MOST, MOST, total)
    return out


def seconds_per_file(records: RecordColumns, values: FloatArray, files: int) -> FloatArray:
    """float64[N], the sums of the records' seconds by file, in any order; what cannot be true counts as 0."""
    out = np.zeros(files)
    if len(records):
        starts, seconds = records.starts, true_seconds(values)
        ascending = seconds[np.lexsort((seconds, records.file))]
        out[records.file[starts]] = np.add.reduceat(ascending, starts)
    return out


def largest_per_file(records: RecordColumns, values: IntArray, files: int) -> IntArray:
    """int64[N], the largest of the records' values by file, at least 0."""
    out = np.zeros(files, dtype=np.int64)
    if len(records):
        starts = records.starts
        out[records.file[starts]] = np.maximum.reduceat(np.maximum(values, 0), starts)
    return out


def true_seconds(values: FloatArray) -> FloatArray:
    """Seconds, with 0 for what no timer can hold."""
    finite = np.where(np.isfinite(values), values, 0.0)
    return np.where((finite > 0) & (finite <= THRESHOLDS.compute_most), finite, 0.0)


def total_of(records: RecordColumns, names: list[str]) -> IntArray:
    """int64[R], the sum of some counters of each record; counters that the module lacks count as 0."""
    total = np.zeros(len(records), dtype=np.int64)
    for name in names:
        if name in records.counter_names:
            total += np.clip(records.column(name), 0, MOST // 16)
    return total


def fcolumn(records: RecordColumns, name: str) -> FloatArray:
    """float64[R], one real counter; 0 where the module has none of this name."""
    if name not in records.fcounter_names:
        return np.zeros(len(records))
    return records.fcounters[:, records.fcounter_names.index(name)]


def sums_of(facts: Facts, module: str) -> Sums:
    """The sums of one module; all zero where the log does not have it."""
    files = len(facts)
    records = facts.modules.get(module)
    present = np.zeros(files, dtype=bool)
    none, never = np.zeros(files, dtype=np.int64), np.zeros(files)
    if records is None or not len(records):
        return Sums(present, present, none, none, none, none, none, none, never, never, never)
    present[records.file] = True
    whole = per_file(records, (records.ranks < 0).astype(np.int64), files) > 0
    several = per_file(records, np.ones(len(records), dtype=np.int64), files) > 1
    opens = [n for n in records.counter_names if n in ("OPENS", "INDEP_OPENS", "COLL_OPENS")]
    syncs = ["FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"]
    return Sums(
        present,
        (whole & (facts.nprocs > 1)) | several,
        per_file(records, total_of(records, ["BYTES_READ"]), files),
        per_file(records, total_of(records, ["BYTES_WRITTEN"]), files),
        per_file(records, total_of(records, operation_names(module, Direction.READ)), files),
        per_file(records, total_of(records, operation_names(module, Direction.WRITE)), files),
        per_file(records, total_of(records, opens), files),
        per_file(records, total_of(records, syncs), files),
        *(seconds_per_file(records, fcolumn(records, name), files) for name in _TIMES),
    )


def sizes_of(facts: Facts, direction: str, kept: BoolArray) -> list[int]:
    """How many POSIX calls of a direction (READ or WRITE) have a size in each of the ten bins."""
    records = facts.modules.get("POSIX")
    if records is None:
        return [0] * len(SIZE_BINS)
    rows = kept[records.file]
    names = [f"SIZE_{direction}_{name}" for name in SIZE_BINS]
    return [min(MOST, sum(np.maximum(records.column(n)[rows], 0).tolist())) for n in names]


def redundant_reads(facts: Facts) -> IntArray:
    """int64[N], bytes that were read of a file beyond its largest offset read (the paper's Eq. 1)."""
    records = facts.modules.get("POSIX")
    files = len(facts)
    if records is None:
        return np.zeros(files, dtype=np.int64)
    read = per_file(records, total_of(records, ["BYTES_READ"]), files)
    extent = largest_per_file(records, records.column("MAX_BYTE_READ"), files)
    return np.where(read > extent, np.maximum(read - extent - 1, 0), 0)


def small_writes(facts: Facts) -> IntArray:
    """int64[N], POSIX writes below 1 MiB of each file.

    Darshan's bin of sizes up to 1 MiB includes 1 MiB itself: where a record has only writes, its common size tells how
    many of them that were.
    """
    records = facts.modules.get("POSIX")
    if records is None:
        return np.zeros(len(facts), dtype=np.int64)
    small = total_of(records, [f"SIZE_WRITE_{name}" for name in _SMALL_BINS])
    for size, count in zip(ACCESSES, COUNTS, strict=True):
        exact = (records.column(size) == _MIB) & (records.column("READS") <= 0)
        small = small - np.where(exact, np.maximum(records.column(count), 0), 0)
    return per_file(records, np.maximum(small, 0), len(facts))


def collective_writes(facts: Facts) -> IntArray:
    """int64[N], collective and split MPI-IO writes of each file."""
    records = facts.modules.get("MPI-IO")
    if records is None:
        return np.zeros(len(facts), dtype=np.int64)
    return per_file(records, total_of(records, ["COLL_WRITES", "SPLIT_WRITES"]), len(facts))


def slowest_rank_seconds(facts: Facts, kept: BoolArray) -> float:
    """Seconds of I/O of the slowest rank, as Darshan's tools estimate them.

    The largest time of a rank in records of its own, plus for each reduced record the time of its slowest rank
    (docs/reference/terms.md#estimated-io-rate). A file's time is that of MPI-IO where MPI-IO saw it, else of POSIX;
    STDIO is added.
    """
    by_mpi = np.zeros(len(facts), dtype=bool)
    if "MPI-IO" in facts.modules:
        by_mpi[facts.modules["MPI-IO"].file] = True
    own: npt.NDArray[np.float64] = np.zeros(0)
    ranks: IntArray = np.zeros(0, dtype=np.int64)
    together = 0.0
    for module in ("POSIX", "MPI-IO", "STDIO"):
        records = facts.modules.get(module)
        if records is None or not len(records):
            continue
        chosen = kept & ~by_mpi if module == "POSIX" else kept
        rows = chosen[records.file]
        spent = sum((true_seconds(fcolumn(records, n)) for n in _TIMES), start=np.zeros(len(records)))
        slowest = true_seconds(fcolumn(records, "F_SLOWEST_RANK_TIME"))
        reduced = records.ranks < 0
        members = np.where(records.members > 0, records.members, facts.nprocs)
        shared = np.where((slowest > 0) & (members > 1), slowest, spent / np.maximum(members, 1))
        together += fsum(shared[rows & reduced].tolist())
        own = np.concatenate([own, spent[rows & ~reduced]])
        ranks = np.concatenate([ranks, records.ranks[rows & ~reduced]])
    if not len(ranks):
        return together
    order = np.lexsort((own, ranks))
    _, places = np.unique(ranks[order], return_inverse=True)
    return together + float(np.bincount(places.reshape(-1), weights=own[order]).max())
