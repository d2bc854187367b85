"""Changes of families and contents that several readings make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from pydantic import ValidationError

from workalike.characterize.contents.streams.stream_parts import Ranges
from workalike.workload import units
from workalike.workload.model import Content, Direction, Entry, Family, Pattern, Stream
from workalike.workload.quantities import MAX_OPERATION_BYTES


def valid(family: Family, **changes: object) -> Iterator[Family]:
    """The family with these changes, if a workload may have it so."""
    try:
        yield Family.model_validate(family.model_copy(update=changes).model_dump())
    except ValidationError:
        return


def changed(family: Family, change: Callable[[Content], Content | None]) -> Iterator[Family]:
    """The family with its contents changed, if all of them can be, and any is."""
    after = [change(content) for content in family.all_contents()]
    whole = [content for content in after if content is not None]
    if len(whole) == len(after):
        yield from with_contents(family, whole)


def with_contents(family: Family, contents: Sequence[Content]) -> Iterator[Family]:
    """The family with these contents, if any is another."""
    if list(contents) == family.all_contents():
        return
    if family.content is not None:
        yield from valid(family, content=contents[0])
    else:
        yield from valid(family, contents=list(contents))


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


def placed(content: Content, direction: Direction, pattern: Pattern) -> Content | None:
    """All streams of a direction in another pattern; None where operations have pieces, which have places of their own."""

    def one_placed(stream: Stream) -> Stream:
        if stream.direction is not direction or stream.stride:
            return stream  # a stride is the log's own word
        return stream.model_copy(update={"pattern": pattern})

    if any(stream.pieces > 1 for stream in content.streams):
        return None
    return content.model_copy(update={"streams": [one_placed(stream) for stream in content.streams]})


def placed_alike(family: Family, pattern: Pattern) -> Iterator[Family]:
    """All streams of a family in one pattern, if it reads and writes."""

    def both(content: Content) -> Content | None:
        written = placed(content, Direction.WRITE, pattern)
        return None if written is None else placed(written, Direction.READ, pattern)

    if {stream.direction for content in family.all_contents() for stream in content.streams} == set(
        Direction
    ):
        yield from changed(family, both)


Sizes = list[tuple[int, int]]
"""Pairs (operations, size)."""


def writes_by_size(content: Content, members: int) -> tuple[Sizes, list[Stream], Ranges]:
    """The writes of a rank by size, the streams that read, and the ranks that streams name; no writes where they differ."""
    writes: dict[int, int] = {}
    ranks = {str(stream.ranks): stream.ranks for stream in content.streams}
    for stream in content.streams:
        if stream.direction is Direction.READ:
            continue
        each = members if stream.ranks is None else units.count_ranks(stream.ranks)
        for entry in stream.sizes:
            count, rest = divmod(entry.total(each) * stream.repeat * content.passes, each)
            if rest or stream.collective or stream.pieces > 1:
                return [], [], None
            writes[entry.size] = writes.get(entry.size, 0) + count
    if len(ranks) != 1:
        return [], [], None
    reads = [stream for stream in content.streams if stream.direction is Direction.READ]
    return [(count, size) for size, count in writes.items()], reads, next(iter(ranks.values()))


def largest_first(content: Content) -> Content:
    """Each stream's operations by size, the largest first: what is read at the end of a file is less, or nothing."""
    return _by_size(content, lambda size: -size)


def smallest_first(content: Content) -> Content:
    """Each stream's operations by size, the smallest first: a header; what is read past the end is nothing."""
    return _by_size(content, lambda size: size or MAX_OPERATION_BYTES)


def _by_size(content: Content, key: Callable[[int], int]) -> Content:
    def ordered(stream: Stream) -> Stream:
        sizes = sorted(stream.sizes, key=lambda entry: key(entry.size))
        plain = Pattern.CONTIGUOUS if stream.stride and len(sizes) > 1 else stream.pattern
        changes = {
            "sizes": sizes,
            "pattern": plain,
            "stride": stream.stride if plain is stream.pattern else 0,
        }
        return stream.model_copy(update=changes)

    return content.model_copy(update={"streams": [ordered(stream) for stream in content.streams]})
