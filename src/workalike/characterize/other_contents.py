"""Other readings of a content: the same bytes in passes, in pieces, at equal distances, or in another order or pattern.

Each is the content changed, or None where it cannot be read so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from workalike.characterize.sizes import lower_bound, upper_bound
from workalike.darshan.bins import bin_of
from workalike.workload.model import Content, Direction, Entry, Pattern, Stream

MOST_PAIRS = 1000
"""Pairs of sizes in which operations of unknown sizes are spread."""


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

    def ordered(stream: Stream) -> Stream:
        sizes = sorted(stream.sizes, key=lambda entry: -entry.size)
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

    def spread(stream: Stream) -> Stream:
        sizes = []
        for entry in stream.sizes:
            if entry.size in known or entry.per_rank or entry.count <= most:
                sizes.append(entry)
            else:
                sizes += [Entry(count=count, size=size) for count, size in _spread(entry, known, most)]
        return stream.model_copy(update={"sizes": sizes})

    if any(stream.pieces > 1 or stream.pattern is Pattern.STRIDED for stream in content.streams):
        return content
    return content.model_copy(update={"streams": [spread(stream) for stream in content.streams]})


def _spread(entry: Entry, known: Container[int], most: int) -> list[tuple[int, int]]:
    """(operations, size) around the size of an entry, of the same bin and in all of the same bytes."""
    index = bin_of(entry.size)
    room = min(entry.size - lower_bound(index), upper_bound(index) - entry.size)
    pairs = -(-entry.count // most) // 2  # of sizes at the same distance from the entry's
    if not 0 < pairs <= min(room, MOST_PAIRS):
        return [(entry.count, entry.size)]
    apart = [d for d in range(1, room + 1) if entry.size - d not in known and entry.size + d not in known][
        :pairs
    ]
    if len(apart) < pairs:
        return [(entry.count, entry.size)]
    each, rest = divmod(entry.count, 2 * pairs + 1)
    of_pair = {d: each + (rest >= 2 * place) for place, d in enumerate(apart, start=1)}
    middle = entry.count - 2 * sum(of_pair.values())
    below = [(of_pair[d], entry.size - d) for d in reversed(apart)]
    return [*below, (middle, entry.size), *((of_pair[d], entry.size + d) for d in apart)]
