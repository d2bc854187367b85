"""Places gone over again: a read-modify-write, a header read again, a database rewritten."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.characterize.moved import moved_by
from workalike.facts.counters import Pair
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even
from workalike.workload import units
from workalike.workload.model import Direction, Entry, Pattern, Stream


def reads_over_writes(
    writes: Sequence[Stream], parts: Sequence[ModuleFacts], nprocs: int
) -> list[Stream] | None:
    """Reads of a read-modify-write: whole repetitions of the writes' stream, then what is left of the reads.

    Reads at the growing end of the file return nothing: they are fewer than the writes, which ones no counter tells.
    None when the writes are not repetitions of one stream.
    """
    main = max(writes, key=lambda s: s.repeat * sum(e.count * e.size for e in s.sizes), default=None)
    if main is None or main.repeat == 1 or main.collective:
        return None
    pairs = [pair for facts in parts for pair in moved_by(facts, Direction.READ).pairs]
    small = [pair for pair in pairs if pair[1] <= THRESHOLDS.small_operation]
    few, empty = _bytes(small), _operations(small)
    operations, total = _operations(pairs) - empty, _bytes(pairs) - few
    n = nprocs if main.ranks is None else units.count_ranks(main.ranks)
    once = [(e.total(n), e.size) for e in main.sizes]
    whole = min(total // max(1, _bytes(once)), operations // _operations(once), main.repeat)
    if whole and operations == whole * _operations(once) and total > whole * _bytes(once):
        whole -= 1  # the bytes that are left need an operation to move them
    rest = split_even(total - whole * _bytes(once), operations - whole * _operations(once))
    streams = []
    for repeat, some in ((whole, once), (1, rest), (1, split_even(few, empty))):
        if repeat and some:
            entries = [Entry(count=count, size=size) for count, size in some]
            update = {"direction": Direction.READ, "repeat": repeat, "base": None, "sizes": entries}
            streams.append(main.model_copy(update=update))
    return streams


def _operations(pairs: Sequence[Pair]) -> int:
    return sum(count for count, _ in pairs)


def _bytes(pairs: Sequence[Pair]) -> int:
    return sum(count * size for count, size in pairs)


def largest(file: FileFacts, direction: Direction) -> int:
    """One past the largest byte read or written, 0 where no module tells."""
    name = "MAX_BYTE_READ" if direction is Direction.READ else "MAX_BYTE_WRITTEN"
    return max((m.largest(name) + 1 for n, m in file.modules.items() if n in ("POSIX", "STDIO")), default=0)


def inside(streams: list[Stream], extent: int, nprocs: int) -> list[Stream]:
    """Operations beyond the largest byte that was touched go over the file again from its start (a header, a database).

    An input is made as long as the replica reads; what the run itself has written ends where it ends.
    """
    out: list[Stream] = []
    end = 0
    for stream in streams:
        if (
            stream.collective
            or stream.base is not None
            or stream.repeat > 1
            or stream.pattern not in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED)
        ):
            return streams
        n = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
        pairs = [(e.total(n), e.size) for e in stream.sizes]
        kept, left = _fitting(pairs, extent - end)
        end += _bytes(kept)
        if kept:
            out.append(_with(stream, kept, None))
        for _ in range(THRESHOLDS.passes_most):
            kept, left = _fitting(left, extent)
            if kept:
                out.append(_with(stream, kept, 0))
        if left:  # more passes than are worth a line each, or operations longer than the file
            out.append(_with(stream, left, 0, Pattern.SAME))
    return out if extent > 1 else streams


def _fitting(pairs: Sequence[Pair], room: int) -> tuple[list[Pair], list[Pair]]:
    """The operations that fit into `room` bytes one behind the other, and those that are left."""
    kept: list[Pair] = []
    left: list[Pair] = []
    for count, size in pairs:
        fit = count if size == 0 else min(count, max(0, room) // size)
        room -= fit * size
        kept += [(fit, size)] if fit else []
        left += [(count - fit, size)] if count - fit else []
    return kept, left


def _with(stream: Stream, pairs: Sequence[Pair], base: int | None, pattern: Pattern | None = None) -> Stream:
    entries = [Entry(count=count, size=size) for count, size in pairs]
    return stream.model_copy(update={"sizes": entries, "base": base, "pattern": pattern or stream.pattern})
