"""Heatmap records: bytes over time per interface and rank (docs/reference/darshan-format.md#heatmap)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workalike.darshan import layouts
from workalike.darshan.hash import record_id
from workalike.darshan.records import Int64s, native_words
from workalike.darshan.source import Source, Warn

_HEAD = layouts.HEATMAP_HEAD_BYTES // 8
_PREFIX = "heatmap:"
_APIS = {record_id(_PREFIX + api): api for api in layouts.HEATMAP_APIS}
_WIDTH, _BINS = 2, 3
"""Indices of the words of a record's head with the bin width and the number of bins."""


@dataclass(frozen=True, slots=True, eq=False)
class Heatmap:
    """Bytes that each rank moved through one interface, in equal spans of time from the job's start on.

    Attributes:
        api: "POSIX", "MPIIO", "STDIO", "DFS" or "DAOS".
        bin_width: seconds per bin.
        ranks: rank of each row, shape [n].
        write, read: bytes per rank and bin, shape [n, bins].
    """

    api: str
    bin_width: float
    ranks: Int64s
    write: Int64s
    read: Int64s


def decode_heatmaps(
    data: bytes, code: str, name: Callable[[int], str], source: Source, warn: Warn
) -> dict[str, Heatmap]:
    """The heatmaps of an inflated HEATMAP region by interface; ``name`` gives the name of an unknown record id.

    Raises:
        WorkalikeError: DAMAGED_LOG if a record exceeds the region or contradicts the others.
    """
    words = native_words(data, code)
    starts = _find_records(words, source)
    used = 0
    if len(starts):
        used = int(starts[-1]) + _HEAD + 2 * int(words[starts[-1] + _BINS])
    if used * 8 < len(data):
        warn(f"module HEATMAP: {len(data) - used * 8} bytes left over at inflated byte {used * 8}")
    ids = words[starts].view(np.uint64)
    maps: dict[str, Heatmap] = {}
    for number in dict.fromkeys(ids.tolist()):
        api = _api(number, name, warn)
        maps[api] = _gather(api, words, starts[ids == number], source, warn)
    return maps


def _api(number: int, name: Callable[[int], str], warn: Warn) -> str:
    """The interface of a heatmap's record id."""
    if number in _APIS:
        return _APIS[number]
    known = name(number)
    if known.startswith(_PREFIX):
        return known[len(_PREFIX) :]
    warn(f"module HEATMAP: record id {number} belongs to no known interface")
    return f"id {number}"


def _find_records(words: Int64s, source: Source) -> Int64s:
    """The word index at which each record begins, shape [n]."""
    if len(words) >= _HEAD:
        # Nearly always, all records have the same number of bins, and so lie on a grid. If every point of the grid has
        # that number, a walk from record to record would give the same result.
        size = _HEAD + 2 * int(words[_BINS])
        if size >= _HEAD and len(words) % size == 0 and (words[_BINS::size] == words[_BINS]).all():
            return np.arange(0, len(words), size)
    starts: list[int] = []
    at = 0
    while at + _HEAD <= len(words):
        bins = int(words[at + _BINS])
        end = at + _HEAD + 2 * bins
        if bins < 0 or end > len(words):
            raise source.damaged(
                f"has {bins} bins, which exceed the region",
                place=f"module HEATMAP, record {len(starts)}, inflated byte {at * 8}",
            )
        starts.append(at)
        at = end
    return np.array(starts, dtype=np.int64)


def _gather(api: str, words: Int64s, starts: Int64s, source: Source, warn: Warn) -> Heatmap:
    """Stack the records of one interface; a record with fewer bins than others is padded with zeros."""
    place = f"module HEATMAP, {api}"
    bins: list[int] = words[starts + _BINS].tolist()
    widths: list[float] = words[starts + _WIDTH].view(np.float64).tolist()
    used = {width for width, count in zip(widths, bins, strict=True) if count}
    if not all(math.isfinite(width) and width > 0 for width in used):
        raise source.damaged(f"a bin is {min(used)} seconds wide", place=place)
    if len(used) > 1:
        raise source.damaged("records have bins of different width", place=place)
    most = max(bins)
    if min(bins) == most:
        both = _rows(words, starts + _HEAD, 2 * most)
        write, read = both[:, :most], both[:, most:]
    else:
        warn(f"{place}: records have different numbers of bins; missing bins are zero")
        if len(starts) * most > 8 * len(words):
            raise source.damaged("the numbers of bins of records differ too much", place=place)
        write = np.zeros((len(starts), most), dtype=np.int64)
        read = np.zeros_like(write)
        for row, (start, count) in enumerate(zip(starts.tolist(), bins, strict=True)):
            middle = start + _HEAD + count
            write[row, :count] = words[start + _HEAD : middle]
            read[row, :count] = words[middle : middle + count]
    return Heatmap(api, used.pop() if used else widths[0], words[starts + 1], write, read)


def _rows(words: Int64s, starts: Int64s, size: int) -> Int64s:
    """Stack the ``size`` words from each start on, shape [n, size]; a view if the starts are evenly spaced."""
    steps = np.diff(starts)
    if not len(steps) or (steps == steps[0]).all():
        step = int(steps[0]) if len(steps) else size
        rows: Int64s = np.ndarray(
            (len(starts), size),
            dtype=np.int64,
            buffer=words.data,
            offset=8 * int(starts[0]),
            strides=(8 * step, 8),
        )
        return rows
    stacked: Int64s = words[starts[:, None] + np.arange(size)]
    return stacked
