"""The content of each event: streams or arrays, with the library's metadata calls."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.characterize.arrays import KnownExtents, build_arrays
from workalike.characterize.events import Event, metadata_of
from workalike.characterize.growth import apportion
from workalike.characterize.streams import build_streams
from workalike.plan.scale import fit_bytes
from workalike.workload import units
from workalike.workload.model import Assumption, Content, Entry, Level, Stream


def content_of_event(event: Event, nprocs: int, known: KnownExtents) -> tuple[Content, list[Assumption]]:
    """What one event does."""
    level = event.files[0].level
    files = [d.file for d in event.files]
    content = metadata_of(files, level)
    if event.parts > 1:
        content = _shared_out(content, event)
    assumed: list[Assumption] = []
    if level is Level.H5D:
        built = build_arrays(files, 1, known)
        if built is not None:
            content.arrays, assumed = built
            for arrays in content.arrays:
                arrays.access = [a for a in arrays.access if a.direction in event.directions]
            content.arrays = [a for a in content.arrays if a.access]
            return content, assumed
    for direction in event.directions:
        streams, why = build_streams(files, level, direction, nprocs)
        content.streams += streams
        assumed += why
    return content, list(dict.fromkeys(assumed))


def _shared_out(content: Content, event: Event) -> Content:
    """One event's part of a file's calls: opens, stats and seeks evenly, syncs where something is written."""
    writes = Direction.WRITE in event.directions
    return Content(
        opens=-(-content.opens // event.parts),
        stats=content.stats // event.parts,
        seeks=content.seeks // event.parts,
        fsyncs=content.fsyncs if writes else 0,
        flushes=content.flushes if writes else 0,
    )


def contents_of_states(
    event: Event, sizes: Sequence[int], nprocs: int, known: KnownExtents
) -> tuple[list[Content], list[Assumption]]:
    """The contents of the states of one file: operations shared out evenly, bytes as `sizes` say.

    Where sizes of operations are known (not STDIO), small operations are the same in every state and large
    ones go to the states in order of size, so that counts, bytes and histogram stay those of the file.
    """
    level = event.files[0].level
    count = len(sizes)
    files = [d.file for d in event.files]
    meta = metadata_of(files, level)
    if level is Level.H5D:
        built = build_arrays(files, count, known)
        if built is not None and all(a.extendible for a in built[0]):
            state = Content(opens=meta.opens, flushes=meta.flushes // count, arrays=built[0])
            return [state] * count, built[1]
    streams, assumed = [], []
    for direction in event.directions:
        some, why = build_streams(files, level, direction, nprocs)
        streams += some
        assumed += why
    counts = {
        name: apportion(getattr(meta, name), [1.0] * count)
        for name in ("stats", "seeks", "fsyncs", "flushes")
    }
    contents = [
        Content(
            opens=meta.opens if k == 0 else 0,
            **{name: values[k] for name, values in counts.items()},
        )
        for k in range(count)
    ]
    order = sorted(range(count), key=lambda k: sizes[k])
    for stream in streams:
        for rank_in_order, pairs in enumerate(_cut(stream, count, sizes, order, exact=level is Level.STDIO)):
            if pairs:
                part = stream.model_copy(
                    update={"sizes": [Entry(count=c, size=s) for c, s in pairs], "base": None}
                )
                contents[order[rank_in_order]].streams.append(part)
    return contents, list(dict.fromkeys([*assumed, Assumption.STATE_SIZES]))


def _cut(
    stream: Stream, count: int, sizes: Sequence[int], order: Sequence[int], exact: bool
) -> list[list[tuple[int, int]]]:
    """The stream's operations for each state, smallest state first."""
    n = 1 if stream.ranks is None else units.count_ranks(stream.ranks)
    pairs = sorted(((e.total(n), e.size) for e in stream.sizes), key=lambda p: p[1])
    shares = apportion(sum(c for c, _ in pairs), [1.0] * count)
    if exact:
        total = sum(c * s for c, s in pairs)
        bytes_of = apportion(total, [float(sizes[k]) for k in order])
        size = max(1, total // max(1, sum(shares)))
        return [
            fit_bytes([(share, size)], b) if share else [] for share, b in zip(shares, bytes_of, strict=True)
        ]
    # Small operations (library metadata) first: spread each size over all states; the rest by order of size.
    out: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    large: list[tuple[int, int]] = []
    for operations, size in pairs:
        if size <= 1024:
            for state, part in enumerate(apportion(operations, [1.0] * count)):
                if part:
                    out[state].append((part, size))
        else:
            large.append((operations, size))
    state, room = 0, 0
    budget = apportion(sum(c for c, _ in large), [1.0] * count)
    room = budget[0] if budget else 0
    for operations, size in large:
        left = operations
        while left:
            while room == 0 and state + 1 < count:
                state += 1
                room = budget[state]
            part = min(left, room) or left
            out[state].append((part, size))
            left -= part
            room -= min(part, room)
    return out
