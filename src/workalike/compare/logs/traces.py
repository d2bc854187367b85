"""Numbers of traced operations and their bytes, by file. The operations themselves are not compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workalike.darshan import Log
from workalike.errors import WorkalikeError
from workalike.facts.columns import IdArray
from workalike.facts.records import IntArray

TRACES = ("DXT_POSIX", "DXT_MPIIO")
NAMES = ("SEGMENTS_WRITTEN", "SEGMENTS_READ", "SEGMENT_BYTES")
MOST_SEGMENTS = 4_000_000
"""Traces with more operations are not read."""


def trace_values(
    logs: Sequence[Log], record_ids: IdArray, warnings: list[str]
) -> dict[str, tuple[IntArray, tuple[str, ...], IntArray]]:
    """(rows of files, names, int64[R, 3]) of each trace module that all logs can give; damaged ones are warned of."""
    out: dict[str, tuple[IntArray, tuple[str, ...], IntArray]] = {}
    order = np.argsort(record_ids)
    for module in TRACES:
        sums = np.zeros((len(record_ids), len(NAMES)), dtype=np.int64)
        seen = np.zeros(len(record_ids), dtype=bool)
        for log in logs:
            if module in log.modules and not _add(log, module, record_ids, order, sums, seen, warnings):
                break
        else:
            rows = np.flatnonzero(seen)
            if len(rows):
                out[module] = rows, NAMES, sums[rows]
    return out


def _add(
    log: Log,
    module: str,
    record_ids: IdArray,
    order: IntArray,
    sums: IntArray,
    seen: np.typing.NDArray[np.bool_],
    warnings: list[str],
) -> bool:
    """Add a log's operations to the sums of their files; whether that could be done."""
    try:
        table = log.dxt(module)
    except WorkalikeError as error:
        warnings.append(f"module {module} is not compared: {error.message}")
        return False
    if table is None or not len(table) or not len(record_ids):
        return True
    if table.total_segments > MOST_SEGMENTS:
        warnings.append(f"module {module} is not compared: more than {MOST_SEGMENTS:,} operations")
        return False
    place = np.minimum(np.searchsorted(record_ids, table.ids, sorter=order), len(record_ids) - 1)
    rows = order[place]
    known = record_ids[rows] == table.ids
    moved = np.zeros(len(table), dtype=np.float64)
    for chunk in table.chunks():
        lengths = np.clip(chunk.segments["length"], 0, 2**53).astype(np.float64)
        moved += np.bincount(chunk.records, weights=lengths, minlength=len(table))
    columns = (table.write_counts, table.read_counts, np.minimum(moved, 2.0**62).astype(np.int64))
    for column, values in enumerate(columns):
        np.add.at(sums[:, column], rows[known], values[known])
    seen[rows[known]] = True
    return True
