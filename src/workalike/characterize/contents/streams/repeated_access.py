"""Parts of a file that are accessed again: a read-modify-write, a header that is read again, a rewritten database."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.characterize.contents.streams.bytes_by_size import moved_by
from workalike.facts.counters import Pair
from workalike.facts.placement import ONE_PLACE
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even
from workalike.workload import units
from workalike.workload.model import Direction, Entry, Pattern, Stream


def reads_over_writes(
    writes: Sequence[Stream], parts: Sequence[ModuleFacts], nprocs: int
) -> list[Stream] | None:
    """Streams of the reads of a read-modify-write: whole repetitions of the writes' stream, then the remaining reads.

    The reads are fewer than the writes, since reads at the growing end of the file return nothing; no counter shows
    which ones. None when the writes are not repetitions of one stream.
    """
    main = max(writes, key=lambda s: s.repeat * sum(e.count * e.size for e in s.sizes), default=None)
    if main is None or main.repeat == 1 or main.collective:
        return None
    pairs = [pair for facts in parts for pair in moved_by(facts, Direction.READ).pairs]
    small = [pair for pair in pairs if pair[1] <= THRESHOLDS.small_operation]
    small_bytes, small_operations = _bytes(small), _operations(small)
    operations, total = _operations(pairs) - small_operations, _bytes(pairs) - small_bytes
    members = nprocs if main.ranks is None else units.count_ranks(main.ranks)
    once = [(e.total(members), e.size) for e in main.sizes]
    whole = min(total // max(1, _bytes(once)), operations // _operations(once), main.repeat)
    if whole and operations == whole * _operations(once) and total > whole * _bytes(once):
        whole -= 1  # the remaining bytes need an operation
    rest = split_even(total - whole * _bytes(once), operations - whole * _operations(once))
    streams = []
    for repeat, part in ((whole, once), (1, rest), (1, split_even(small_bytes, small_operations))):
        if repeat and part:
            entries = [Entry(count=count, size=size) for count, size in part]
            update = {"direction": Direction.READ, "repeat": repeat, "base": None, "sizes": entries}
            streams.append(main.model_copy(update=update))
    return streams


def _operations(pairs: Sequence[Pair]) -> int:
    return sum(count for count, _ in pairs)


def _bytes(pairs: Sequence[Pair]) -> int:
    return sum(count * size for count, size in pairs)


def length_accessed(file: FileFacts, direction: Direction) -> int:
    """One past the largest offset read or written; 0 where no module has it."""
    name = "MAX_BYTE_READ" if direction is Direction.READ else "MAX_BYTE_WRITTEN"
    return max((m.largest(name) + 1 for n, m in file.modules.items() if n in ("POSIX", "STDIO")), default=0)


def within_extent(
    streams: list[Stream], extent: int, nprocs: int, *, repetitions: bool = False
) -> list[Stream]:
    """The streams, with operations that would exceed the extent starting again at the file's beginning.

    Such operations access a header or a database again. An input file could be made longer, but a file that the run
    itself writes cannot be read beyond its end. With `repetitions`, those of a single stream that fit are gone over again,
    too: no reading finds passes where the calls of POSIX below are not predicted.
    """
    if repetitions and len(streams) == 1 and streams[0].repeat > 1:
        return _repeated_within(streams[0], extent, nprocs) or streams
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
        members = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
        pairs = [(e.total(members), e.size) for e in stream.sizes]
        kept, left = _fitting(pairs, extent - end)
        end += _bytes(kept)
        if kept:
            out.append(_with(stream, kept, None))
        for _ in range(THRESHOLDS.passes_most):
            kept, left = _fitting(left, extent)
            if kept:
                out.append(_with(stream, kept, 0))
        if left:  # too many passes for a stream each, or operations longer than the file
            out.append(_with(stream, left, 0, ONE_PLACE.pattern))
    return out if extent > 1 else streams


def _repeated_within(stream: Stream, extent: int, nprocs: int) -> list[Stream] | None:
    """A repeated stream in equal passes over the extent, each with the repetitions that fit; None where that is not so."""
    members = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
    fitting = extent // max(1, _bytes([(e.total(members), e.size) for e in stream.sizes]))
    passes = stream.repeat // max(1, fitting)
    if (
        stream.base is not None
        or fitting * passes != stream.repeat
        or not 1 < passes <= THRESHOLDS.passes_most
    ):
        return None
    once = stream.model_copy(update={"repeat": fitting})
    return [once, *[once.model_copy(update={"base": 0})] * (passes - 1)]


def _fitting(pairs: Sequence[Pair], room: int) -> tuple[list[Pair], list[Pair]]:
    """The operations that fit into `room` bytes one after the other, and the others."""
    kept: list[Pair] = []
    others: list[Pair] = []
    for count, size in pairs:
        fitting = count if size == 0 else min(count, max(0, room) // size)
        room -= fitting * size
        kept += [(fitting, size)] if fitting else []
        others += [(count - fitting, size)] if count - fitting else []
    return kept, others


def _with(stream: Stream, pairs: Sequence[Pair], base: int | None, pattern: Pattern | None = None) -> Stream:
    entries = [Entry(count=count, size=size) for count, size in pairs]
    return stream.model_copy(update={"sizes": entries, "base": base, "pattern": pattern or stream.pattern})
