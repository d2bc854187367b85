"""Logs with complete traces (DXT) of very many segments, made by rules: what characterization finds can be held against these.

The counters are counted here, in numpy, from the segments alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from workalike.darshan import LogBuilder
from workalike.darshan.bins import SIZE_BINS, bin_of
from workalike.darshan.dxt import SEGMENT

Array = npt.NDArray[np.int64]
BLOCK = 4096
RUN_TIME = 1000.0
Rule = Callable[[int, Array, int], tuple[Array, Array]]
"""(rank, numbers of its operations, ranks) -> (offsets, lengths) in bytes."""


def interleaved(rank: int, numbers: Array, ranks: int) -> tuple[Array, Array]:
    """Equal blocks of the ranks in turn."""
    size = 64 * 1024
    return (numbers * ranks + rank) * size, np.full(len(numbers), size)


def shuffled(rank: int, numbers: Array, ranks: int) -> tuple[Array, Array]:
    """Samples of a rank's part in random order, of sizes that differ: no rule gives them."""
    random = np.random.default_rng(rank)
    lengths = random.integers(1000, 9000, len(numbers))
    offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]) + rank * 9000 * len(numbers)
    order = random.permutation(len(numbers))
    return offsets[order], lengths[order]


def overlapping(rank: int, numbers: Array, ranks: int) -> tuple[Array, Array]:
    """Long blocks that begin close together: each one touches those of all ranks."""
    return (numbers * ranks + rank) * 64, np.full(len(numbers), 64 * 1024 * 1024)


RULES: dict[str, Rule] = {"interleaved": interleaved, "shuffled": shuffled}


def large_trace(path: Path, rule: Rule, segments: int, ranks: int) -> Path:
    """A log of one file that all ranks write, then read back, with about so many segments in its trace."""
    numbers = np.arange(segments // (2 * ranks))
    log = LogBuilder(nprocs=ranks, run_time=RUN_TIME)
    name = "/scratch/run/data.bin"
    for rank in range(ranks):
        offsets, lengths = rule(rank, numbers, ranks)
        parts = [
            _segments(offsets, lengths, first, RUN_TIME * 0.4 / max(1, len(numbers)))
            for first in (1.0, 500.0)
        ]
        log.dxt_posix(name, rank, writes=parts[0], reads=parts[1], hostname=f"node{rank // 32}")
        log.posix(name, rank, **_counters(offsets, lengths), **_times(parts))
    return log.write(path)


def _segments(offsets: Array, lengths: Array, first: float, step: float) -> npt.NDArray[np.void]:
    out = np.zeros(len(offsets), dtype=SEGMENT)
    out["offset"], out["length"] = offsets, lengths
    out["start"] = first + step * np.arange(len(offsets))
    out["end"] = out["start"] + step / 2
    return out


def _times(parts: list[npt.NDArray[np.void]]) -> dict[str, float]:
    times = {
        "F_OPEN_START_TIMESTAMP": 0.5,
        "F_OPEN_END_TIMESTAMP": 0.6,
        "F_CLOSE_START_TIMESTAMP": RUN_TIME - 1,
        "F_CLOSE_END_TIMESTAMP": RUN_TIME - 0.9,
    }
    for kind, part in zip(("WRITE", "READ"), parts, strict=True):
        times[f"F_{kind}_START_TIMESTAMP"] = float(part["start"][0])
        times[f"F_{kind}_END_TIMESTAMP"] = float(part["end"][-1])
        times[f"F_{kind}_TIME"] = float((part["end"] - part["start"]).sum())
    return times


def _counters(offsets: Array, lengths: Array) -> dict[str, int]:
    """The counters of a rank that does these operations twice: writes, then reads."""
    ends = offsets + lengths - 1
    last = np.concatenate([[0], ends[:-1]])
    gaps = offsets - last - 1
    forward = (offsets > last).sum()
    consecutive = ((gaps == 0) & (offsets > last)).sum()
    out = {"OPENS": 1, "RW_SWITCHES": 1, "FILE_ALIGNMENT": BLOCK}
    out["FILE_NOT_ALIGNED"] = 2 * int((offsets % BLOCK != 0).sum())
    for kind, past in (("WRITE", "WRITTEN"), ("READ", "READ")):
        out |= {
            f"{kind}S": len(offsets),
            f"BYTES_{past}": int(lengths.sum()),
            f"MAX_BYTE_{past}": int(ends.max()),
            f"SEQ_{kind}S": int(forward),
            f"CONSEC_{kind}S": int(consecutive),
        }
        sizes, counts = np.unique(lengths, return_counts=True)
        of_bin = np.bincount([bin_of(size) for size in sizes.tolist()], weights=counts)
        out |= {f"SIZE_{kind}_{SIZE_BINS[i]}": int(n) for i, n in enumerate(of_bin) if n}
    out |= _common("ACCESS", lengths, 2)
    out |= _common("STRIDE", gaps[(offsets > last) & (gaps > 0)], 2)
    return out


def _common(table: str, values: Array, times: int) -> dict[str, int]:
    found, counts = np.unique(values, return_counts=True)
    best = sorted(zip(counts.tolist(), found.tolist(), strict=True), reverse=True)[:4]
    out = {}
    for place, (count, value) in enumerate(best, start=1):
        out |= {f"{table}{place}_{table}": value, f"{table}{place}_COUNT": times * count}
    return out
