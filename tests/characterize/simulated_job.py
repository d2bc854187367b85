"""A job of which every operation is known, and the log that Darshan would write of it.

The counters follow docs/reference/darshan-meaning.md.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workalike.darshan import Log, LogBuilder, layouts, open_log
from workalike.workload.model import Direction

BOUNDS = (100, 1024, 10240, 102400, 2**20, 4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30)
BINS = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
READ, WRITE = Direction.READ, Direction.WRITE
LARGEST = {"MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "FILE_ALIGNMENT", "MEM_ALIGNMENT", "MODE"}


def bin_of(size: int) -> int:
    return next((i for i, bound in enumerate(BOUNDS) if size <= bound), 9)


@dataclass(frozen=True)
class Op:
    """One read or write of one rank; times in seconds since the job's start."""

    direction: Direction
    offset: int
    size: int
    start: float = 1.0
    end: float = 1.5
    collective: bool = False


@dataclass
class TrueFile:
    """Everything that the ranks did to one file. A rank with an empty list only opened it."""

    name: str
    module: str
    ops: dict[int, list[Op]]
    opened: float = 0.5
    closed: float = 2.0
    extra: dict[str, float] = field(default_factory=dict)

    def bytes(self, direction: Direction) -> int:
        return sum(op.size for ops in self.ops.values() for op in ops if op.direction is direction)

    def operations(self, direction: Direction) -> int:
        return sum(op.direction is direction for ops in self.ops.values() for op in ops)

    def histogram(self, direction: Direction) -> list[int]:
        found = Counter(
            bin_of(op.size) for ops in self.ops.values() for op in ops if op.direction is direction
        )
        return [found[i] for i in range(10)]


def log_of(builder: LogBuilder) -> Log:
    """The built log, read back."""
    with tempfile.TemporaryDirectory() as folder:
        log = open_log(builder.write(Path(folder) / "job.darshan"))
        _ = log.names, log.lustre(), log.heatmaps(), log.dxt("DXT_POSIX"), log.dxt("DXT_MPIIO")
        for module in layouts.FIXED:
            log.records(module)
        return log


def add_file(builder: LogBuilder, file: TrueFile, *, reduce: bool = True, trace: bool = False) -> None:
    """Add one record per rank, or a single one where all ranks of the job have the file.

    See docs/reference/darshan-meaning.md#shared-file-reduction.
    """
    records = {rank: counters_of(file, ops) for rank, ops in file.ops.items()}
    everyone = len(records) == builder.job.nprocs
    if reduce and everyone:
        builder.record(file.module, file.name, -1, **reduced(records, file.module), **file.extra)
    else:
        for rank, counters in records.items():
            builder.record(file.module, file.name, rank, **counters, **file.extra)
    if trace:
        for rank, ops in file.ops.items():
            add_trace(builder, file, rank, ops)


def add_trace(builder: LogBuilder, file: TrueFile, rank: int, ops: Sequence[Op]) -> None:
    add = builder.dxt_posix if file.module == "POSIX" else builder.dxt_mpiio
    by_direction = [
        [(o.offset, o.size, o.start, o.end) for o in ops if o.direction is d] for d in (WRITE, READ)
    ]
    if any(by_direction):
        add(file.name, rank, writes=by_direction[0], reads=by_direction[1])


def counters_of(file: TrueFile, ops: Sequence[Op]) -> dict[str, float]:
    """The counters of one rank's record."""
    out: dict[str, float] = dict(_times(file, ops))
    for direction, word, moved in ((READ, "READ", "BYTES_READ"), (WRITE, "WRITE", "BYTES_WRITTEN")):
        chosen = [op for op in ops if op.direction is direction]
        out[moved] = sum(op.size for op in chosen)
        if file.module == "MPI-IO":
            out[f"COLL_{word}S"] = sum(op.collective for op in chosen)
            out[f"INDEP_{word}S"] = sum(not op.collective for op in chosen)
        else:
            out[f"{word}S"] = len(chosen)
            out["MAX_" + moved.replace("BYTES", "BYTE")] = max(
                (op.offset + op.size - 1 for op in chosen), default=0
            )
        if file.module == "STDIO":
            continue
        infix = "" if file.module == "POSIX" else "_AGG"
        for op in chosen:
            name = f"SIZE_{word}{infix}_{BINS[bin_of(op.size)]}"
            out[name] = out.get(name, 0) + 1
        if file.module == "POSIX":
            out |= _order(chosen, word)
    if file.module != "STDIO":
        out |= _common(Counter(op.size for op in ops))
    out["COLL_OPENS" if file.module == "MPI-IO" else "OPENS"] = 1
    return out


def _times(file: TrueFile, ops: Sequence[Op]) -> Iterable[tuple[str, float]]:
    yield "F_OPEN_START_TIMESTAMP", file.opened
    yield "F_OPEN_END_TIMESTAMP", file.opened
    yield "F_CLOSE_START_TIMESTAMP", file.closed
    yield "F_CLOSE_END_TIMESTAMP", file.closed
    for direction, word in ((READ, "READ"), (WRITE, "WRITE")):
        chosen = [op for op in ops if op.direction is direction]
        if chosen:
            yield f"F_{word}_START_TIMESTAMP", min(op.start for op in chosen)
            yield f"F_{word}_END_TIMESTAMP", max(op.end for op in chosen)


def _order(ops: Sequence[Op], word: str) -> dict[str, float]:
    """Sequential and consecutive operations, and the largest offset (docs/reference/darshan-meaning.md#offsets)."""
    seq = consec = largest = last = 0
    for op in ops:
        seq += op.offset > last
        consec += op.offset == last + 1 and last > 0
        last = op.offset + op.size - 1 if op.size else last
        largest = max(largest, last)
    end = "READ" if word == "READ" else "WRITTEN"
    return {f"SEQ_{word}S": seq, f"CONSEC_{word}S": consec, f"MAX_BYTE_{end}": largest}


def _common(counts: Counter[int]) -> dict[str, float]:
    """The four most frequent of the first 32 different sizes."""
    first = Counter(dict(list(counts.items())[:32]))
    out: dict[str, float] = {}
    for i, (size, count) in enumerate(sorted(first.items(), key=lambda p: (-p[1], -p[0]))[:4], 1):
        out |= {f"ACCESS{i}_ACCESS": size, f"ACCESS{i}_COUNT": count}
    return out


def reduced(records: Mapping[int, Mapping[str, float]], module: str) -> dict[str, float]:
    """All ranks' records as one: sums, maxima, first and last times, the variance of the bytes.

    See docs/reference/darshan-meaning.md#shared-file-reduction.
    """
    out: dict[str, float] = {}
    common: Counter[int] = Counter()
    for record in records.values():
        for i in range(1, 5):
            if record.get(f"ACCESS{i}_COUNT"):
                common[int(record[f"ACCESS{i}_ACCESS"])] += int(record[f"ACCESS{i}_COUNT"])
        for name, value in record.items():
            if name.startswith("ACCESS"):
                continue
            if name.endswith("START_TIMESTAMP"):
                out[name] = min(out.get(name, value), value)
            elif name.endswith("END_TIMESTAMP") or name in LARGEST:
                out[name] = max(out.get(name, value), value)
            else:
                out[name] = out.get(name, 0) + value
    if module != "STDIO":
        out |= _common(common)
    moved = {rank: r.get("BYTES_READ", 0) + r.get("BYTES_WRITTEN", 0) for rank, r in records.items()}
    if module in ("POSIX", "MPI-IO", "STDIO"):
        slowest = max(moved, key=lambda rank: moved[rank])
        out["F_VARIANCE_RANK_BYTES"] = float(np.var(list(moved.values())))
        out |= {"SLOWEST_RANK": slowest, "SLOWEST_RANK_BYTES": moved[slowest]}
    return out


def builder_of(nprocs: int, run_time: float = 100.0) -> LogBuilder:
    return LogBuilder(nprocs=nprocs, run_time=run_time)


def simple_file(
    name: str,
    module: str,
    ranks: Iterable[int],
    *,
    size: int = 1 << 20,
    count: int = 4,
    at: float = 1.0,
    lasts: float = 1.0,
    direction: Direction = WRITE,
    collective: bool = False,
) -> TrueFile:
    """Every rank moves `count` contiguous blocks of its own region, without a pause."""
    ops = {
        rank: [
            Op(
                direction,
                (i * count + k) * size,
                size,
                at + lasts * k / count,
                at + lasts * (k + 1) / count,
                collective,
            )
            for k in range(count)
        ]
        for i, rank in enumerate(ranks)
    }
    return TrueFile(name, module, ops, opened=at - 0.1, closed=at + lasts + 0.1)
