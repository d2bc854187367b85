"""Operations at equal distances: of both directions, or of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from workalike.characterize.readings.changes import changed, in_passes
from workalike.characterize.readings.reading import MAX_PASSES, OFFSETS, Case, Reading
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Content, Direction, Family, Pattern, Stream


def candidates(case: Case) -> Iterator[Family]:
    for directions in ((Direction.WRITE, Direction.READ), (Direction.WRITE,), (Direction.READ,)):
        for stride, passes in strides(case, directions):
            yield from changed(
                case.family, partial(strided, directions=directions, stride=stride, passes=passes)
            )


def strides(case: Case, directions: Sequence[Direction]) -> list[tuple[int, int]]:
    """(bytes from the start of an operation to that of the next, passes), by the log's common gaps or its extent."""
    sizes = {
        entry.size
        for content in case.family.all_contents()
        for stream in content.streams
        if stream.direction in directions
        for entry in stream.sizes
    }
    if len(sizes) != 1:
        return []
    (size,) = sizes
    counters = case.evidence.determined
    past, kind = ("READ", "READS") if directions[0] is Direction.READ else ("WRITTEN", "WRITES")
    operations = counters.get(kind, 0) // case.files
    room = counters.get(f"MAX_BYTE_{past}", 0) + 1 - size
    found = [size + gap for log in case.evidence.logs.values() for gap in log.common["STRIDE"]]
    if operations > 1 and room % (operations - 1) == 0:
        found.append(room // (operations - 1))
    out = []
    for stride in [n for n in dict.fromkeys(found) if n > size][: THRESHOLDS.synthesis_strides]:
        passes = operations // (room // stride + 1) if room > 0 else 1
        out += [(stride, n) for n in sorted({1, passes}, reverse=True) if 0 < n <= MAX_PASSES]
    return out


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


READING = Reading(
    id="strided",
    sentence="offsets: operations at equal distances (the predicted counters fit better)",
    evidence="A common gap between operations, or an extent that as many equal distances give.",
    rank=80,
    candidates=candidates,
    off=(*OFFSETS, "STRIDE", "FILE_NOT_ALIGNED"),
    alternative=1,
)
