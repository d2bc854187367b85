"""What each log does to storage, as numbers that can be compared: one row per log, one column per measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workalike.darshan.bins import SIZE_BINS
from workalike.facts.records import FloatArray, IntArray
from workalike.fleet.report.period import Period
from workalike.workload.words import Interface, SharingMode

LOG_SCALE = 1.0
"""One unit of a measure on the logarithmic scale is a factor of e: runs of one workload rarely differ by more."""
SHARE_SCALE = 0.25
"""One unit of a share."""
WEIGHED = ("bytes", "I/O time", "metadata time", "jobs")
"""What a log counts by; each is a share of the centre's sum."""


@dataclass(frozen=True)
class Measured:
    """N logs.

    `values` float64[N, M] are scaled measures, called `names`; one unit is a difference that matters. `shares`
    float64[N, 4] are each log's part of the centre's bytes, rank time in I/O, rank time in metadata calls, and of the
    number of logs; each column adds up to 1, or is 0 throughout. `sizes` float64[N, 2, 10] are counts of reads and
    writes by size.
    """

    log_ids: IntArray
    names: tuple[str, ...]
    values: FloatArray
    shares: FloatArray
    amounts: FloatArray
    sizes: FloatArray

    @property
    def weights(self) -> FloatArray:
        """float64[N], the mean of the four shares, of those that the centre has; adds up to 1."""
        total = self.shares.sum(axis=1)
        return (
            np.asarray(total / total.sum())
            if total.sum() > 0
            else np.full(len(total), 1 / max(1, len(total)))
        )


def measured(connection: Any, period: Period) -> Measured:
    """The measures of all logs of a period that moved data."""
    where = f"{period.condition()} AND bytes_read::DOUBLE + bytes_written::DOUBLE > 0"
    log = connection.execute(
        "SELECT log_id, nprocs, files, run_time, bytes_read, bytes_written, reads, writes, opens, syncs, read_s, write_s, "
        "meta_s + stdio_meta_s AS meta, stdio_s, io_s, collective_writes, redundant_read, small_shared_writes, "
        f"read_sizes, write_sizes FROM log WHERE {where} ORDER BY log_id"
    ).fetchnumpy()
    ids = np.asarray(log["log_id"], dtype=np.int64)
    column = {name: np.nan_to_num(np.asarray(log[name], dtype=np.float64)) for name in _NUMBERS}
    measures = _amounts(column) | _shares(column) | _of_families(connection, where, ids)
    if len(ids):
        sizes = np.stack(
            [np.stack(log[f"{kind}_sizes"]).astype(np.float64) for kind in ("read", "write")], axis=1
        )
    else:
        sizes = np.zeros((0, 2, len(SIZE_BINS)))
    amounts = np.stack(
        [
            column["bytes_read"] + column["bytes_written"],
            column["read_s"] + column["write_s"] + column["meta"] + column["stdio_s"],
            column["meta"],
            np.ones(len(ids)),
        ],
        axis=1,
    )
    totals = amounts.sum(axis=0) if len(ids) else np.ones(4)
    shares = np.divide(amounts, totals, out=np.zeros_like(amounts), where=totals > 0)
    names = tuple(measures)
    values = np.stack([measures[name] for name in names], axis=1) if len(ids) else np.zeros((0, len(names)))
    return Measured(ids, names, values, shares, amounts, sizes.clip(0))


_NUMBERS = (
    "nprocs", "files", "run_time", "bytes_read", "bytes_written", "reads", "writes", "opens", "syncs", "read_s", "write_s",
    "meta", "stdio_s", "io_s", "collective_writes", "redundant_read", "small_shared_writes",
)  # fmt: skip


def _amounts(log: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Quantities on a logarithmic scale; what is below one operation or byte is 0."""
    ratio = {
        "bytes of a read": log["bytes_read"] / np.maximum(log["reads"], 1),
        "bytes of a write": log["bytes_written"] / np.maximum(log["writes"], 1),
        "files of a process": log["files"] / np.maximum(log["nprocs"], 1),
        "opens of a file": log["opens"] / np.maximum(log["files"], 1),
    }
    amounts = {
        "processes": log["nprocs"],
        "bytes read": log["bytes_read"],
        "bytes written": log["bytes_written"],
        "metadata seconds of a process": log["meta"] / np.maximum(log["nprocs"], 1),
    }
    return {name: np.log1p(np.maximum(values, 0)) / LOG_SCALE for name, values in (amounts | ratio).items()}


def _shares(log: dict[str, FloatArray]) -> dict[str, FloatArray]:
    spent = log["read_s"] + log["write_s"] + log["meta"] + log["stdio_s"]
    moved = log["bytes_read"] + log["bytes_written"]
    pairs = {
        "share of metadata time": (log["meta"], spent),
        "share of time in I/O": (log["io_s"], log["run_time"]),
        "share of bytes read": (log["bytes_read"], moved),
        "share of redundant reads": (log["redundant_read"], log["bytes_read"]),
        "share of small shared writes": (log["small_shared_writes"], log["writes"]),
        "share of collective writes": (log["collective_writes"], log["writes"]),
        "share of syncs": (log["syncs"], log["writes"] + log["syncs"]),
    }
    return {
        name: np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0).clip(0, 1) / SHARE_SCALE
        for name, (part, whole) in pairs.items()
    }


def _of_families(connection: Any, where: str, ids: IntArray) -> dict[str, FloatArray]:
    """Shares of a log's bytes by sharing and by interface of its families, and how often its largest one is written."""
    kinds = {"sharing": [m.value for m in SharingMode], "interface": [i.value for i in Interface]}
    parts = [
        f"sum(CASE WHEN {column} = '{word}' THEN moved ELSE 0 END)::DOUBLE / sum(moved)::DOUBLE AS \"{word} {column}\""
        for column, words in kinds.items()
        for word in words
    ]
    found = connection.execute(
        f"""
        WITH f AS (SELECT log_id, sharing, interface, dumps, bytes_written::HUGEINT + bytes_read AS moved
            FROM family WHERE bytes_written::HUGEINT + bytes_read > 0
                AND log_id IN (SELECT log_id FROM log WHERE {where}))
        SELECT log_id, {", ".join(parts)}, arg_max(dumps, (moved, dumps))::DOUBLE AS dumps FROM f GROUP BY log_id ORDER BY log_id
        """
    ).fetchnumpy()
    place = np.searchsorted(ids, np.asarray(found.pop("log_id"), dtype=np.int64))
    out = {}
    for name, values in found.items():
        whole = np.zeros(len(ids))
        whole[place] = np.nan_to_num(np.asarray(values, dtype=np.float64))
        out[f"share of {name}" if name != "dumps" else "dumps"] = (
            whole / SHARE_SCALE if name != "dumps" else np.log1p(whole) / LOG_SCALE
        )
    return out
