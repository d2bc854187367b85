"""Other readings of a content: the same bytes in passes, in pieces, at equal distances, or in another order or pattern.

Each is the content changed, or None where it cannot be read so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence

from workalike.characterize.contents.streams.repeated_access import within_extent
from workalike.characterize.contents.streams.sizes import spread
from workalike.workload import units
from workalike.workload.model import Content, Direction, Entry, Pattern, Stream
from workalike.workload.quantities import MAX_OPERATION_BYTES


def _repeats_joined(streams: Sequence[Stream]) -> list[Stream]:
    """Streams over bytes that a stream before them went over, joined to it: a rule reads such bytes as written twice."""
    out: dict[str, Stream] = {}
    for stream in streams:
        key = stream.model_dump_json(exclude={"sizes", "base"})
        before = out.get(key)
        if before is None or stream.base != 0 or before.base not in (None, 0):
            out[key if before is None else f"{key} {len(out)}"] = stream
            continue
        counts = Counter({(entry.size, entry.per_rank): entry.count for entry in before.sizes})
        counts.update({(entry.size, entry.per_rank): entry.count for entry in stream.sizes})
        sizes = [Entry(count=n, size=size, per_rank=per_rank) for (size, per_rank), n in counts.items()]
        out[key] = before.model_copy(update={"sizes": sizes})
    return list(out.values())


def in_passes(content: Content, passes: int) -> Content | None:
    """The same operations in so many passes; None where they cannot be divided."""
    if content.passes > 1:
        return None
    streams = []
    for stream in _repeats_joined(content.streams):
        if stream.repeat % passes == 0:
            streams.append(stream.model_copy(update={"repeat": stream.repeat // passes}))
            continue
        if any(entry.count % passes for entry in stream.sizes) or stream.repeat > 1:
            return None
        sizes = [
            Entry(count=entry.count // passes, size=entry.size, per_rank=entry.per_rank)
            for entry in stream.sizes
        ]
        streams.append(stream.model_copy(update={"sizes": sizes}))
    return content.model_copy(update={"streams": streams, "passes": passes})


def in_pieces(content: Content, direction: Direction, pieces: int, pattern: Pattern) -> Content | None:
    """Each independent operation of a direction in so many pieces; None where that cannot be."""

    def cut(stream: Stream) -> Stream:
        if stream.direction is not direction:
            return stream
        return stream.model_copy(update={"pieces": pieces, "pattern": pattern})

    for stream in content.streams:
        if stream.direction is direction and (
            stream.collective
            or stream.mixed
            or stream.pieces > 1
            or stream.pattern not in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED)
            or any(entry.size % pieces for entry in stream.sizes)
        ):
            return None
    return content.model_copy(update={"streams": [cut(stream) for stream in content.streams]})


def placed(content: Content, direction: Direction, pattern: Pattern) -> Content | None:
    """All streams of a direction in another pattern."""

    def one_placed(stream: Stream) -> Stream:
        if stream.direction is not direction or stream.pattern is Pattern.STRIDED:
            return stream  # a stride is the log's own word
        return stream.model_copy(update={"pattern": pattern})

    if any(stream.pieces > 1 for stream in content.streams):
        return None
    return content.model_copy(update={"streams": [one_placed(stream) for stream in content.streams]})


def placed_in_passes(content: Content, direction: Direction, pattern: Pattern, passes: int) -> Content | None:
    """Both at once: each alone may change no counter for the better."""
    divided = in_passes(content, passes)
    return None if divided is None else placed(divided, direction, pattern)


def strided(content: Content, directions: Sequence[Direction], stride: int, passes: int) -> Content | None:
    """All streams of these directions with an operation every `stride` bytes, in so many passes."""

    def one_strided(stream: Stream) -> Stream:
        if stream.direction not in directions:
            return stream
        sizes = [entry.model_copy(update={"count": entry.count * stream.repeat}) for entry in stream.sizes]
        changes = {"pattern": Pattern.STRIDED, "stride": stride, "repeat": 1, "sizes": sizes}
        return stream.model_copy(update=changes)

    if any(stream.pieces > 1 or stream.mixed for stream in content.streams):
        return None
    if not any(stream.direction in directions for stream in content.streams):
        return content
    streams = [one_strided(stream) for stream in content.streams]
    divided = content.model_copy(update={"streams": streams})
    return divided if passes == 1 else in_passes(divided, passes)


def largest_first(content: Content) -> Content:
    """Each stream's operations by size, the largest first: what is read at the end of a file is less, or nothing."""
    return _by_size(content, lambda size: -size)


def smallest_first(content: Content) -> Content:
    """Each stream's operations by size, the smallest first: a header; what is read past the end is nothing."""
    return _by_size(content, lambda size: size or MAX_OPERATION_BYTES)


def _by_size(content: Content, key: Callable[[int], int]) -> Content:
    def ordered(stream: Stream) -> Stream:
        sizes = sorted(stream.sizes, key=lambda entry: key(entry.size))
        plain = Pattern.CONTIGUOUS if stream.pattern is Pattern.STRIDED and len(sizes) > 1 else stream.pattern
        changes = {
            "sizes": sizes,
            "pattern": plain,
            "stride": stream.stride if plain is stream.pattern else 0,
        }
        return stream.model_copy(update=changes)

    return content.model_copy(update={"streams": [ordered(stream) for stream in content.streams]})


def other_order(content: Content) -> Content | None:
    """The other direction first."""
    directions = [stream.direction for stream in content.streams]
    if len(set(directions)) < 2:
        return None
    first = directions[0]
    streams = [s for s in content.streams if s.direction is not first]
    streams += [s for s in content.streams if s.direction is first]
    return content.model_copy(update={"streams": streams})


def sizes_in_turn(content: Content) -> Content:
    """Operations of several sizes in turn, not all of one size first."""
    streams = [
        stream.model_copy(update={"mixed": True}) if len(stream.sizes) > 1 and stream.pieces == 1 else stream
        for stream in content.streams
    ]
    return content.model_copy(update={"streams": streams})


def small_by_all(content: Content) -> Content:
    """What rank 0 alone does, done by all ranks in turn."""

    def by_all(stream: Stream) -> Stream:
        if stream.ranks != [(0, 0, 1)]:
            return stream
        return stream.model_copy(update={"ranks": None, "pattern": Pattern.INTERLEAVED})

    return content.model_copy(update={"streams": [by_all(stream) for stream in content.streams]})


def sizes_spread(content: Content, known: Container[int], most: int) -> Content:
    """Operations of unknown sizes in as many sizes as it takes that none is more frequent than `most`.

    Args:
        content: what is changed.
        known: sizes that stay as they are: those that the log names.
        most: operations of one size.
    """

    def rarer(stream: Stream) -> Stream:
        sizes = []
        for entry in stream.sizes:
            if entry.size in known or entry.per_rank or entry.count <= most:
                sizes.append(entry)
            else:
                parts = spread(entry.count, entry.count * entry.size, known, most)
                sizes += [Entry(count=count, size=size) for count, size in parts]
        return stream.model_copy(update={"sizes": sizes})

    if any(stream.pieces > 1 or stream.pattern is Pattern.STRIDED for stream in content.streams):
        return content
    return content.model_copy(update={"streams": [rarer(stream) for stream in content.streams]})


def within(content: Content, direction: Direction, extent: int, nprocs: int, *, own_files: bool) -> Content:
    """A direction's operations, the largest first, from the file's beginning again where the next exceeds the extent.

    With `own_files` streams of other ranks are in other files.
    """
    by_file: dict[str, list[Stream]] = {}
    others = [stream for stream in content.streams if stream.direction is not direction]
    for stream in largest_first(content).streams:
        if stream.direction is direction:
            plain = Pattern.INTERLEAVED if stream.pattern is Pattern.INTERLEAVED else Pattern.CONTIGUOUS
            file = str(stream.ranks) if own_files else ""
            by_file.setdefault(file, []).append(stream.model_copy(update={"pattern": plain, "stride": 0}))
    cut = [part for streams in by_file.values() for part in within_extent(streams, extent, nprocs)]
    first = bool(content.streams) and content.streams[0].direction is direction
    return content.model_copy(update={"streams": cut + others if first else others + cut})


def up_to(content: Content, direction: Direction, extent: int, nprocs: int) -> Content | None:
    """A direction's last contiguous stream, so that it ends at the extent."""
    contiguous = (s for s in reversed(content.streams) if s.pattern is not Pattern.SAME)
    last = next((s for s in contiguous if s.direction is direction), None)
    if last is None or last.pattern is not Pattern.CONTIGUOUS or last.repeat > 1 or last.pieces > 1:
        return None
    members = nprocs if last.ranks is None else units.count_ranks(last.ranks)
    base = extent - sum(entry.total(members) * entry.size for entry in last.sizes)
    if base < 0:
        return None
    streams = [s.model_copy(update={"base": base}) if s is last else s for s in content.streams]
    return content.model_copy(update={"streams": streams})
