"""A direction's last operations at the end of a shared file, which is further than they reach one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workalike.characterize.readings.changes import changed
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload import units
from workalike.workload.model import Content, Direction, Family, Pattern, SharingMode


def candidates(case: Case) -> Iterator[Family]:
    for direction, extent in case.extents_off:
        yield from changed(
            case.family, partial(up_to, direction=direction, extent=extent, nprocs=case.nprocs)
        )


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


READING = Reading(
    id="up-to-extent",
    sentence="offsets: the last operations at the file's end (the predicted counters fit better)",
    evidence="The largest offset is beyond the bytes that were moved.",
    rank=150,
    candidates=candidates,
    off=("MAX_BYTE_",),
    applies=lambda case: case.is_one_file and case.family.sharing.mode is not SharingMode.PER_RANK,
)
