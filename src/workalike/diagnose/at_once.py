"""Whether several ranks wrote a file at once: by a trace, by the spans of the ranks, or by their times added up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.darshan.dxt import DxtTable, Segments
from workalike.diagnose import counts
from workalike.diagnose.job import Job
from workalike.facts.columns import RecordColumns
from workalike.facts.records import BoolArray, FloatArray, IntArray

MOST_WRITES = 4_000_000
"""Writes of a trace that are looked at: they take about 1 GB of memory."""
CLOCK_S = 1.0
"""Seconds by which a write may end after the run: older logs have run times in whole seconds."""
LAST_BYTE = 2**63 - 1
ONE = 1.05
"""Effective writers that are one: the others have less than a fortieth of the bytes."""
LITTLE = 0.01
"""Bytes read, as a share of those written, that do not change who is taken to write."""
ROUNDING = 1e-9
"""By how much of itself a sum of times may exceed what it is compared with."""


@dataclass(frozen=True)
class AtOnce:
    """What is known of N files, bool[N]: `proven` that two ranks wrote at once, `refuted` that any two did."""

    proven: BoolArray
    refuted: BoolArray


def writers_at_once(job: Job) -> AtOnce:
    """Whether two ranks wrote each file in POSIX at the same time.

    Some of them did where the write times of all ranks add up to more than the time in which any could write: the union
    of the spans from a rank's first write to its last one, or of a reduced record the span of all. Spans that overlap
    leave it open, since a rank may pause within its own; spans that do not, and one writer, refute it.
    """
    proven, refuted = np.zeros(len(job), dtype=bool), np.zeros(len(job), dtype=bool)
    table = job.module("POSIX")
    if table is None:
        return AtOnce(proven, refuted)
    start, end = (_stamps(table, f"F_WRITE_{edge}_TIMESTAMP") for edge in ("START", "END"))
    spent = np.nan_to_num(table.fcounters[:, table.fcounter_names.index("F_WRITE_TIME")]).clip(0)
    wrote = (table.column("BYTES_WRITTEN") > 0) & ((spent > 0) | (end > start))
    known = (start > 0) & (end >= start)
    reduced = wrote & (table.ranks < 0)
    span = np.where(known, end - start, max(job.run_time, 0.0))
    proven[table.file[reduced & (spent > span)]] = True
    single = np.flatnonzero(wrote & (table.ranks >= 0))
    files, records = np.unique(table.file[single], return_counts=True)
    spans = single[known[single]]
    of_spans, first, last = table.file[spans], start[spans], end[spans]
    # Threads of one rank do not contend with each other: a rank writes for its span at most.
    written_s = np.bincount(of_spans, np.minimum(spent[spans], last - first), minlength=len(job))
    proven |= written_s > _union(of_spans, first, last, len(job)) * (1 + ROUNDING)
    apart = np.ones(len(job), dtype=bool)
    apart[_with_pair(of_spans, table.ranks[spans], first, last)] = False
    whole = np.unique(table.file[reduced | (wrote & ~known)])
    alone = np.setdiff1d(files, whole)  # every rank that wrote has its span
    refuted[alone] = apart[alone]
    refuted[np.setdiff1d(files[records < 2], np.unique(table.file[reduced]))] = True
    few = _writers(job, table)
    refuted[(few > 0) & (few <= ONE) & ~proven] = True
    return AtOnce(proven, refuted)


def _union(file: IntArray, start: FloatArray, end: FloatArray, files: int) -> FloatArray:
    """float64[files], seconds in which any of a file's spans lasts."""
    if not len(file):
        return np.zeros(files)
    order = np.lexsort((start, file))
    times, at = np.unique(np.concatenate([start[order], end[order]]), return_inverse=True)
    begins, ends, group = at[: len(order)], at[len(order) :], file[order]
    until = np.maximum.accumulate(ends + group * len(times)) - group * len(times)
    before = np.concatenate([[-1], until[:-1]])
    before[np.concatenate([[True], group[1:] != group[:-1]])] = -1
    new = np.maximum(begins, before)
    added = np.where(ends > new, times[ends] - times[new], 0.0)
    return np.asarray(np.bincount(group, added, minlength=files), dtype=np.float64)


def _writers(job: Job, table: RecordColumns) -> FloatArray:
    """float64[N], effective ranks that write each file; 0 where the log does not tell.

    Of records of one rank: (sum of bytes)^2 / sum of squares. The variance in a reduced record is that of bytes written
    and read together: it tells only where hardly any were read.
    """
    written = table.column("BYTES_WRITTEN").clip(0).astype(np.float64)
    single = table.ranks >= 0
    sums = np.bincount(table.file[single], written[single], minlength=len(job)).astype(np.float64)
    squares = np.bincount(table.file[single], written[single] ** 2, minlength=len(job)).astype(np.float64)
    of_ranks = np.bincount(table.file[single], minlength=len(job)) > 0
    of_all = np.zeros(len(job), dtype=bool)
    of_all[table.file[~single]] = True
    read, moved = job.total("POSIX", "BYTES_READ"), job.total("POSIX", "BYTES_WRITTEN")
    by_variance = np.where(of_all & ~of_ranks & (read <= LITTLE * moved), counts.writers(job), 0.0)
    return np.where(of_ranks & ~of_all, counts.ratio(sums**2, squares), by_variance)


def _stamps(table: RecordColumns, name: str) -> FloatArray:
    values = table.fcounters[:, table.fcounter_names.index(name)]
    return np.asarray(np.where(np.isfinite(values), values, 0.0), dtype=np.float64)


@dataclass(frozen=True)
class Contended:
    """By a trace, of N files: float64[N], the writes that it has, and those in a stripe that another rank writes.

    `share` is the part (0 to 1) of the traced writes' seconds that the latter took. bool[N] `traced` are the files of
    which the trace has enough writes to decide.
    """

    traced: BoolArray
    writes: FloatArray
    contended: FloatArray
    share: FloatArray


def contended_writes(job: Job, which: BoolArray, covered: float) -> Contended | None:
    """Writes of some files that lie in part in a stripe in which another rank writes at the same time.

    The stripes are those of the files' layout. `covered` is the share of a file's writes, by its counters, that the
    trace must have. Returns None without a whole POSIX trace of a job of one log, or with more than `MOST_WRITES`.
    """
    table = job.logs[0].dxt("DXT_POSIX") if len(job.logs) == 1 else None
    if table is None or job.is_partial("DXT_POSIX"):
        return None
    rows = {n: row for row, n in enumerate(job.facts.record_ids.tolist()) if which[row]}
    row_of = np.array([rows.get(number, -1) for number in table.ids.tolist()], dtype=np.int64)
    if int(table.write_counts[row_of >= 0].sum()) > MOST_WRITES:
        return None
    writes, contended, share = (np.zeros(len(job)) for _ in range(3))
    traced = _Writes.read(job, table, row_of)
    if len(traced.file):
        hit = traced.contended()
        spent = traced.end - traced.start
        writes = np.bincount(traced.file, minlength=len(job)).astype(np.float64)
        contended = np.bincount(traced.file[hit], minlength=len(job)).astype(np.float64)
        seconds = np.bincount(traced.file, spent, minlength=len(job)).astype(np.float64)
        of_hit = np.bincount(traced.file[hit], spent[hit], minlength=len(job)).astype(np.float64)
        share = np.where(seconds > 0, counts.ratio(of_hit, seconds), counts.ratio(contended, writes))
    made = job.total("POSIX", "WRITES")
    return Contended((writes > 0) & (writes >= covered * made), writes, contended, share)


@dataclass(frozen=True)
class _Writes:
    """Writes of a trace: file, rank, first and last stripe, start and end in seconds."""

    file: IntArray
    rank: IntArray
    first: IntArray
    last: IntArray
    start: FloatArray
    end: FloatArray

    @classmethod
    def read(cls, job: Job, table: DxtTable, row_of: IntArray) -> _Writes:
        """The writes of the files that have a row; those that cannot be true are left out."""
        parts: list[tuple[IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]] = []
        for records, written, segments in table.chunks():
            kept = written & (row_of[records] >= 0)
            file, rank, found = row_of[records[kept]], table.ranks[records[kept]], segments[kept]
            usable = _can_be_true(found, job.run_time)
            file, rank, found = file[usable], rank[usable], found[usable]
            size = job.facts.stripe_size[file].clip(1)
            last = found["offset"] + np.maximum(found["length"], 1) - 1
            parts.append((file, rank, found["offset"] // size, last // size, found["start"], found["end"]))
        none = np.zeros(0, dtype=np.int64)
        if not parts:
            return cls(none, none, none, none, np.zeros(0), np.zeros(0))
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def contended(self) -> BoolArray:
        """bool: writes with another rank in their first or last stripe: only these can be those of another write."""
        wide = self.last > self.first
        at = np.concatenate([np.arange(len(self.file)), np.flatnonzero(wide)])
        stripe = np.concatenate([self.first, self.last[wide]])
        hit = np.zeros(len(self.file), dtype=bool)
        hit[at[_meets(self.file[at], stripe, self.rank[at], self.start[at], self.end[at])]] = True
        return hit


def _can_be_true(found: Segments, run_time: float) -> BoolArray:
    """bool: segments with a time within the run and bytes that a file can have."""
    start, end, offset, length = (found[name] for name in ("start", "end", "offset", "length"))
    in_time = (start >= 0) & (end >= start) & (end <= run_time + CLOCK_S)  # false where one is not a number
    return np.asarray(in_time & (offset >= 0) & (length >= 0) & (offset <= LAST_BYTE - length.clip(0)))


def _with_pair(file: IntArray, rank: IntArray, start: FloatArray, end: FloatArray) -> IntArray:
    """The files of which the spans of two ranks overlap."""
    return np.unique(file[_meets(file, np.zeros(len(file), dtype=np.int64), rank, start, end)])


def _meets(file: IntArray, place: IntArray, rank: IntArray, start: FloatArray, end: FloatArray) -> BoolArray:
    """bool: spans of time that begin before one of another rank, at the same place of the same file, has ended.

    The spans of one rank are taken to follow each other: of those that began before, the one that ends last decides.
    """
    out = np.zeros(len(file), dtype=bool)
    if len(file) < 2:
        return out
    order = np.lexsort((start, place, file))
    new = np.concatenate([[True], (np.diff(file[order]) != 0) | (np.diff(place[order]) != 0)])
    group = np.cumsum(new) - 1
    # Times become their places in order, which are exact beside the number of a group.
    times, at = np.unique(np.concatenate([start[order], end[order]]), return_inverse=True)
    begins, ends = at[: len(order)], np.maximum(at[: len(order)], at[len(order) :])
    shifted = ends + group * len(times)
    newest = np.maximum.accumulate(shifted)
    latest = np.maximum.accumulate(np.where(shifted >= newest, np.arange(len(order)), 0))[:-1]
    same = group[latest] == group[1:]
    ranks = rank[order]
    met = same & (begins[1:] < ends[latest]) & (ranks[1:] != ranks[latest])
    out[order[1:][met]] = True
    out[order[latest[met]]] = True
    return out
