"""Operations that begin again at the start of a file, of which the log has the largest offset."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workalike.characterize.contents.streams.repeated_access import within_extent
from workalike.characterize.readings.changes import changed, largest_first
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Content, Direction, Family, Pattern, SharingMode, Stream


def candidates(case: Case) -> Iterator[Family]:
    own = case.family.sharing.mode is SharingMode.PER_RANK
    for direction, extent in case.extents_off:
        yield from changed(
            case.family,
            partial(within, direction=direction, extent=extent, nprocs=case.nprocs, own_files=own),
        )


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


READING = Reading(
    id="within-extent",
    sentence="offsets: from the file's beginning again where its end is reached (the predicted counters fit better)",
    evidence="The largest offset is less than the bytes that were moved.",
    rank=140,
    candidates=candidates,
    off=("MAX_BYTE_",),
    applies=lambda case: case.is_one_file,
)
