"""Whether several ranks wrote a file at once: by a trace, by the spans of the ranks, or by their times added up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.diagnose import counts
from workalike.diagnose.job import Job
from workalike.facts.columns import RecordColumns
from workalike.facts.records import BoolArray, FloatArray, IntArray

MOST_SEGMENTS = 20_000_000
"""Segments of a trace that are looked at."""
TWO = 1.5
"""Effective writers that are two rather than one."""


@dataclass(frozen=True)
class AtOnce:
    """What is known of N files, bool[N]: `proven` that two ranks wrote at once, `refuted` that any two did."""

    proven: BoolArray
    refuted: BoolArray


def writers_at_once(job: Job) -> AtOnce:
    """Whether two ranks wrote each file in POSIX at the same time.

    Records of single ranks tell when each of them began and ended writing. Of a reduced record the write times of all
    ranks add up to more than the span in which there were writes only where some of them were at once; less than that
    leaves it open.
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
    proven[_with_pair(table.file[spans], table.ranks[spans], start[spans], end[spans])] = True
    whole = np.unique(table.file[reduced | (wrote & ~known)])
    alone = np.setdiff1d(files, whole)  # every rank that wrote has its span
    refuted[alone] = ~proven[alone]
    refuted[np.setdiff1d(files[records < 2], np.unique(table.file[reduced]))] = True
    few = counts.writers(job)
    refuted[(few > 0) & (few < TWO) & ~proven] = True
    return AtOnce(proven, refuted)


def _stamps(table: RecordColumns, name: str) -> FloatArray:
    values = table.fcounters[:, table.fcounter_names.index(name)]
    return np.asarray(np.where(np.isfinite(values), values, 0.0), dtype=np.float64)


@dataclass(frozen=True)
class Contended:
    """By a trace: bool[N], the files in it; float64[N], their writes, and those in a stripe that another rank writes."""

    traced: BoolArray
    writes: FloatArray
    contended: FloatArray


def contended_writes(job: Job, which: BoolArray) -> Contended | None:
    """Writes of some files that lie in part in a stripe in which another rank writes at the same time.

    Returns None without a POSIX trace of a job of one log. The stripes are those of the files' layout.
    """
    table = job.logs[0].dxt("DXT_POSIX") if len(job.logs) == 1 else None
    if table is None or table.total_segments > MOST_SEGMENTS or job.is_partial("DXT_POSIX"):
        return None
    rows = {n: row for row, n in enumerate(job.facts.record_ids.tolist()) if which[row]}
    row_of = np.array([rows.get(number, -1) for number in table.ids.tolist()], dtype=np.int64)
    traced = np.zeros(len(job), dtype=bool)
    traced[row_of[row_of >= 0]] = True
    parts: list[tuple[IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]] = []
    for records, written, segments in table.chunks():
        kept = written & (row_of[records] >= 0) & (segments["length"] > 0)
        file, found = row_of[records[kept]], segments[kept]
        size = job.facts.stripe_size[file].clip(1)
        first, last = found["offset"] // size, (found["offset"] + found["length"] - 1) // size
        parts.append((file, table.ranks[records[kept]], first, last, found["start"], found["end"]))
    if not parts:
        return Contended(traced, np.zeros(len(job)), np.zeros(len(job)))
    file, rank, first, last, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Only the first and the last stripe of a write can be those of another one.
    at = np.concatenate([np.arange(len(file)), np.flatnonzero(last > first)])
    stripe = np.concatenate([first, last[last > first]])
    hit = np.zeros(len(file), dtype=bool)
    hit[at[_meets(file[at], stripe, rank[at], start[at], end[at])]] = True
    count = np.bincount(file, minlength=len(job)).astype(np.float64)
    return Contended(traced, count, np.bincount(file[hit], minlength=len(job)).astype(np.float64))


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
    begins, ends = start[order], np.maximum(start[order], end[order])
    lowest = float(begins.min())
    room = float(ends.max()) - lowest + 1.0
    shifted = ends - lowest + group * room
    newest = np.maximum.accumulate(shifted)
    latest = np.maximum.accumulate(np.where(shifted >= newest, np.arange(len(order)), 0))[:-1]
    same = group[latest] == group[1:]
    ranks = rank[order]
    met = same & (begins[1:] < ends[latest]) & (ranks[1:] != ranks[latest])
    out[order[1:][met]] = True
    out[order[latest[met]]] = True
    return out
