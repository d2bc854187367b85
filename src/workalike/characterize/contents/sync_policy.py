"""Where in a dump its seeks, syncs and flushes are: with each operation, after every so many writes, or at its end.

A log has numbers only. As many seeks as operations are one each. As many syncs as writes, or twice as many, are amid the
writes; so are fewer, as long as each rank has several. One sync of each rank is taken to end the dump. Of streams, which
a sync flushes where something is not flushed, syncs are at flushes.
"""

from __future__ import annotations

from collections.abc import Sequence

from workalike.workload import units
from workalike.workload.amid import MOST_CALLS, AmidWrites
from workalike.workload.model import Assumption, Content, Direction, Level, SharingMode, Stream

PLACED_AT = (Level.POSIX, Level.STDIO, Level.MPIIO)
"""Levels whose calls a replica makes itself."""


def place_calls(content: Content, level: Level, mode: SharingMode, members: int) -> list[Assumption]:
    """Replace counts of a content by their places, where they have one; what remains assumed.

    Args:
        content: of streams, or of arrays in files of one rank each; changed in place.
        level: of the family.
        mode: how its files are shared.
        members: ranks of the family.
    """
    if level is Level.H5D and content.arrays and (members == 1 or mode is SharingMode.PER_RANK):
        return _amid_arrays(content, members)
    if level not in PLACED_AT or not content.streams:
        return _assumed(content.fsyncs + content.flushes)
    if content.seeks and content.seeks == _operations(content, members):
        content.seeks = "each"
    together = level is Level.MPIIO and mode not in (SharingMode.PER_RANK, SharingMode.ROOT)
    writers = _writers(content, members, together)
    if writers is None:
        return _assumed(content.fsyncs + content.flushes)
    ranks, writes = writers
    content.sync, content.fsyncs = amid_writes(content.fsyncs, ranks, writes)
    content.flush, content.flushes = amid_writes(content.flushes, ranks, writes)
    if level is Level.STDIO:
        content.sync, content.fsyncs = _after_flushes(content, ranks, writes)
    guessed = [amid for amid in (content.sync, content.flush) if amid.writes > 1]
    return _assumed(content.fsyncs + content.flushes + len(guessed))


def amid_writes(calls: int, ranks: int, writes: int) -> tuple[AmidWrites, int]:
    """(calls amid the writes, calls left for the end), of `calls` calls of `ranks` ranks that write `writes` times each."""
    each, odd = divmod(calls, ranks)
    if writes < 2 or each < 2:
        return AmidWrites(), calls
    if each % writes == 0 and not odd and each // writes <= MOST_CALLS:
        return AmidWrites(writes=1, calls=each // writes), 0
    if each > writes:
        return AmidWrites(), calls
    amid = AmidWrites(writes=-(-writes // each))
    return amid, calls - ranks * amid.total(writes)


def _after_flushes(content: Content, ranks: int, writes: int) -> tuple[AmidWrites, int]:
    """(syncs amid the writes, syncs at the end), moved to flushes: a sync elsewhere flushes its stream once more."""
    sync, flush = content.sync, content.flush
    if not sync or not flush or sync.writes <= flush.writes or flush.calls > 1:
        return sync, content.fsyncs
    amid = sync.total(writes)
    earlier = AmidWrites(writes=sync.writes // flush.writes * flush.writes)
    moved = earlier if earlier.total(writes) == amid else None
    moved = moved or AmidWrites(writes=-(-sync.writes // flush.writes) * flush.writes)
    return moved, content.fsyncs + ranks * (amid - moved.total(writes))


def _amid_arrays(content: Content, members: int) -> list[Assumption]:
    """Flushes of datasets in files of one rank each, amid its writes."""
    writes = sum(
        slab.count
        for array in content.arrays
        for access in array.access
        for slab in access.slabs
        if access.direction is Direction.WRITE
    )
    each, odd = divmod(writes, members)
    if content.streams or odd:
        return _assumed(content.fsyncs + content.flushes)
    content.flush, content.flushes = amid_writes(content.flushes, members, each)
    return _assumed(content.fsyncs + content.flushes + (content.flush.writes > 1))


def _assumed(calls: int) -> list[Assumption]:
    return [Assumption.SYNC_PLACE] if calls else []


def _operations(content: Content, members: int) -> int:
    return content.passes * sum(_of_stream(stream, members) for stream in content.streams)


def _of_stream(stream: Stream, members: int) -> int:
    n = members if stream.ranks is None else units.count_ranks(stream.ranks)
    return stream.repeat * sum(entry.total(n) for entry in stream.sizes)


def _writers(content: Content, members: int, together: bool) -> tuple[int, int] | None:
    """(ranks that sync, writes of each), where all of them write equally often; else None.

    Members that sync a file together do so after the writes of the busiest, whoever writes.
    """
    writes: dict[tuple[tuple[int, int, int], ...] | None, int] = {}
    for stream in content.streams:
        if stream.direction is not Direction.WRITE:
            continue
        n = members if stream.ranks is None else units.count_ranks(stream.ranks)
        own, odd = divmod(_of_stream(stream, members), n)
        if odd:
            return None
        key = None if stream.ranks is None else tuple(stream.ranks)
        writes[key] = writes.get(key, 0) + own * content.passes
    if not writes or len(set(writes.values())) > 1 or not _apart(list(writes)):
        return None
    (each,) = set(writes.values())
    ranks = sum(members if key is None else units.count_ranks(list(key)) for key in writes)
    if not together:
        return ranks, each
    return (members, each) if len(writes) == 1 else None


def _apart(sets: Sequence[tuple[tuple[int, int, int], ...] | None]) -> bool:
    """Whether no rank is in two of the sets."""
    if len(sets) == 1:
        return True
    if None in sets:
        return False
    named = [r for ranges in sets for first, last, step in ranges or () for r in range(first, last + 1, step)]
    return len(named) == len(set(named))
