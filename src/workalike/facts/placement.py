"""Where in the file the operations of a stream are, by the POSIX counters of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workalike.facts.counters import STRIDE_COUNTS, STRIDES
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Level, Pattern


@dataclass(frozen=True)
class Placement:
    """The access pattern that counters or a trace show; `stride` in bytes, 0 where the pattern has none."""

    pattern: Pattern
    stride: int = 0
    pieces_per_rank: float = 1.0  # contiguous pieces of each rank, where the pattern is interleaved

    @property
    def repeats(self) -> bool:
        """Whether what a stream repeats lies after what it repeats."""
        return self.pattern in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED)

    @property
    def of_single_rank(self) -> Placement:
        """The placement for a single rank, which cannot interleave."""
        return CONTIGUOUS if self.pattern is Pattern.INTERLEAVED else Placement(self.pattern)


CONTIGUOUS = Placement(Pattern.CONTIGUOUS)
"""One operation after the other, of each rank in a region of its own."""
ONE_PLACE = Placement(Pattern.SAME)
"""All operations at the same offset."""


@dataclass(frozen=True)
class Order:
    """What is known of where the operations of one direction follow each other in a file."""

    one_rank: bool
    """Each file is one rank's."""
    follow: bool = False
    """Each rank's operations follow each other."""
    one_place: bool = False
    """They are all at one offset."""
    all_access_all: bool = False
    """Each rank accesses all of the file."""
    forward: bool = True
    """They go forward, most of them."""
    dense: bool = False
    """They leave no gaps."""
    stride: int = 0
    """Bytes from one operation of a rank to the next, where there are gaps."""
    round: int = 0
    """Bytes from one operation of each of several ranks to its next; 0 where rounds of all ranks follow each other."""
    pieces_per_rank: float = 1.0
    """Contiguous pieces of each of several ranks."""


def placed(order: Order) -> Placement:
    """The placement of operations in this order: the one place that decides it, for counters and traces alike."""
    if order.one_place:
        return ONE_PLACE
    if order.all_access_all:
        return Placement(Pattern.REPLICATED)
    if order.follow:
        return CONTIGUOUS
    if not order.forward:
        return Placement(Pattern.RANDOM)
    if not order.one_rank:
        return Placement(
            Pattern.INTERLEAVED, stride=order.round, pieces_per_rank=max(1.0, order.pieces_per_rank)
        )
    return CONTIGUOUS if order.dense else Placement(Pattern.STRIDED, stride=order.stride)


@dataclass(frozen=True)
class _Offsets:
    """What the POSIX counters of a dump's files say about offsets, in one direction."""

    files: int
    ranks: int  # accessing ranks, over all files
    operations: int
    moved: int
    consecutive: int
    sequential: int
    extent: int  # bytes, of the largest file
    order_known: bool = True  # both numbers above were measured
    gaps: bool = False  # gaps were counted


def place_of(files: Sequence[FileFacts], level: Level, direction: Direction) -> Placement:
    """The pattern, by shares of consecutive and sequential operations (docs/reference/reading-counters.md#strides).

    A rank has as many contiguous pieces as operations that do not directly follow the one before. One piece per rank
    means that each rank has its own region; one piece per operation means round-robin; anything between, segments. Where
    the order was not measured, operations go forward: those that cover the file without a gap follow each other.
    """
    if direction is Direction.READ and modifies(files, level):
        return place_of(files, level, Direction.WRITE)
    seen = _offsets(files, level, direction)
    if seen is None or seen.operations <= 2 * seen.files:
        return CONTIGUOUS
    one_rank = seen.ranks <= seen.files
    reads_again = seen.moved > THRESHOLDS.placed_replicated * seen.extent * seen.files
    dense = seen.moved >= THRESHOLDS.placed_covers * seen.extent * seen.files
    if seen.order_known:
        follow = one_rank and seen.consecutive >= THRESHOLDS.placed_consecutive * seen.operations
    else:
        follow = dense and (one_rank or not seen.gaps)
    return placed(
        Order(
            one_rank=one_rank,
            all_access_all=direction is Direction.READ and not one_rank and reads_again,
            follow=follow,
            forward=not seen.order_known or seen.sequential >= THRESHOLDS.placed_sequential * seen.operations,
            dense=dense,
            stride=_stride(files, direction, seen) if one_rank and not dense else 0,
            pieces_per_rank=(seen.operations - seen.consecutive) / seen.ranks,
        )
    )


def modifies(files: Sequence[FileFacts], level: Level) -> bool:
    """Whether the files are read and modified: each write comes after a read, which is where the write is."""
    if level is Level.STDIO:
        return False
    posix = [f.modules["POSIX"] for f in files if "POSIX" in f.modules]
    reads, writes = (sum(p.total(kind) for p in posix) for kind in ("READS", "WRITES"))
    switches = sum(p.total("RW_SWITCHES") for p in posix)
    shared = any((p.ranks < 0).any() or len(p.ranks) > 1 for p in posix)
    return shared and reads <= writes <= switches <= 2 * reads


def _offsets(files: Sequence[FileFacts], level: Level, direction: Direction) -> _Offsets | None:
    posix = [f.modules["POSIX"] for f in files if "POSIX" in f.modules and level is not Level.STDIO]
    kind = "READS" if direction is Direction.READ else "WRITES"
    size = "BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN"
    largest = "MAX_BYTE_READ" if direction is Direction.READ else "MAX_BYTE_WRITTEN"
    posix = [p for p in posix if p.total(kind)]
    if not posix:
        return None
    moved = sum(p.total(size) for p in posix)
    known = all((p.column(largest) >= 0).all() for p in posix)
    return _Offsets(
        files=len(posix),
        ranks=sum(_accessing_ranks(p, kind, nprocs=files[0].nprocs) for p in posix),
        operations=sum(p.total(kind) for p in posix),
        moved=moved,
        consecutive=sum(p.total(f"CONSEC_{kind}") for p in posix),
        sequential=sum(p.total(f"SEQ_{kind}") for p in posix),
        extent=max(p.largest(largest) for p in posix) + 1 if known else -(-moved // len(posix)),
        order_known=all((p.column(f"{way}_{kind}") >= 0).all() for p in posix for way in ("SEQ", "CONSEC")),
        gaps=any(p.total(name) for p in posix for name in STRIDE_COUNTS),
    )


def _stride(files: Sequence[FileFacts], direction: Direction, seen: _Offsets) -> int:
    """Bytes from one operation of a rank to the next: a gap and an operation, or without a prevailing gap the mean."""
    gap = _prevailing_gap(files, direction, seen.operations - seen.consecutive - seen.files)
    if gap:
        return gap + seen.moved // seen.operations
    return max(1, seen.extent * seen.files // seen.operations)


def _prevailing_gap(files: Sequence[FileFacts], direction: Direction, steps: int) -> int:
    """The gap in bytes of more than half of the `steps` between operations that do not touch; 0 where there is none.

    Reads and writes share one table of gaps, so files with both directions have none.
    """
    other = "WRITES" if direction is Direction.READ else "READS"
    counts: Counter[int] = Counter()
    for facts in (file.modules["POSIX"] for file in files if "POSIX" in file.modules):
        if facts.total(other):
            return 0
        for name, count_name in zip(STRIDES, STRIDE_COUNTS, strict=True):
            for stride, times in zip(
                facts.column(name).tolist(), facts.column(count_name).tolist(), strict=True
            ):
                if stride > 0 and times > 0:
                    counts[stride] += times
    gap, count = counts.most_common(1)[0] if counts else (0, 0)
    return gap if 2 * count > steps else 0


def _accessing_ranks(posix: ModuleFacts, kind: str, nprocs: int) -> int:
    if (posix.ranks < 0).any():
        return nprocs
    return len(set(posix.ranks[posix.column(kind) > 0].tolist()))
