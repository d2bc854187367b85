"""Several files of one name, of which each but the last is renamed before the next is made: logs, backups."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.dumps_of_one_file import as_dumps, shares
from workalike.characterize.readings.reading import Case, Reading
from workalike.characterize.readings.renamed_in_turn import (
    numbers_of_files,
    opened,
    renamed_in_turn,
    renames_of_name,
)
from workalike.workload.model import Content, Direction, Entry, Family, Level, SharingMode
from workalike.workload.words import STAYS_OPEN


def applies(case: Case) -> bool:
    family = case.family
    alone = case.members == 1 or family.sharing.mode is SharingMode.ROOT
    changes = family.lifetime not in STAYS_OPEN and not (family.backup or family.sizes)
    return alone and changes and len(case.evidence.files) == 1 and family.counted_at is Level.POSIX


def candidates(case: Case) -> Iterator[Family]:
    renames = renames_of_name(case.evidence.files)
    if not renames:
        return
    family = case.family
    dumps = [family.content_of(dump) for dump in range(family.schedule.dumps)]
    writers = [content for content in dumps if content.moved(1, Direction.WRITE)]
    readers = [content for content in dumps if not content.moved(1, Direction.WRITE)]
    if not writers or dumps != [*writers, *readers]:
        return
    extents = _extents(case)
    for files in numbers_of_files(renames, case.opens - len(readers)):
        if files == renames and case.opens % files:
            continue  # each was opened alike where a rename ended it
        changes = renamed_in_turn(files, renames, case.evidence.facts.same_name)
        for parts in (
            shares(writers, files, 1, even=True),
            shares(writers, files, 1, even=False, extents=extents),
            shares(writers, files, 1, even=False, by_bytes=True),
        ):
            if parts is None:
                continue
            if readers:  # what is read is the last file, which must be the longest
                parts = _reaching(parts, extents[Direction.WRITE])[::-1]
            for contents in opened([*parts, *readers], case.opens):
                yield from valid(family, **as_dumps(family, contents, case.idle) | changes)


def _reaching(parts: list[Content], extent: int) -> list[Content]:
    """The contents, of which the first writes up to this extent: the few bytes that it lacks are those of another."""
    lacks = extent - parts[0].moved(1, Direction.WRITE)
    if lacks <= 0:
        return parts
    for place in range(1, len(parts)):
        more, less = _largest_changed(parts[0], lacks), _largest_changed(parts[place], -lacks)
        if more is not None and less is not None:
            return [more, *parts[1:place], less, *parts[place + 1 :]]
    return parts


def _largest_changed(content: Content, by: int) -> Content | None:
    """The content with one of its largest writes so many bytes larger; None where that is not less than twice as large."""
    found = [
        (entry.size, s, e)
        for s, stream in enumerate(content.streams)
        for e, entry in enumerate(stream.sizes)
        if stream.direction is Direction.WRITE and not entry.per_rank
    ]
    size, s, e = max(found, default=(0, 0, 0))
    if abs(by) >= size:
        return None
    stream = content.streams[s]
    entry = stream.sizes[e]
    rest = [entry.model_copy(update={"count": entry.count - 1})] if entry.count > 1 else []
    changed = [*rest, Entry(count=1, size=size + by)]
    sizes = [*stream.sizes[:e], *changed, *stream.sizes[e + 1 :]]
    streams = [*content.streams]
    streams[s] = stream.model_copy(update={"sizes": sizes})
    return content.model_copy(update={"streams": streams})


def _extents(case: Case) -> dict[Direction, int]:
    modules = case.evidence.modules()
    return {
        direction: max((m.largest(f"MAX_BYTE_{past}") for m in modules), default=0) + 1
        for direction, past in ((Direction.READ, "READ"), (Direction.WRITE, "WRITTEN"))
    }


READING = Reading(
    id="replaced",
    sentence="files: several of one name, which each but the last gave up (the predicted counters fit better)",
    evidence="A rename took the name away several times, and the bytes are more than the largest offset.",
    rank=28,
    candidates=candidates,
    off=("RENAME_SOURCES", "MAX_BYTE", "SEQ_"),
    applies=applies,
)
