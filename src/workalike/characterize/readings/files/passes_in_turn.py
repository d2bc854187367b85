"""One file over which ranks go several times in one direction, then in the other, with an open for each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workalike.characterize.grouping.growth import apportion
from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.dump_times import alike
from workalike.characterize.readings.dumps_of_one_file import shares
from workalike.characterize.readings.reading import Case, Reading, Taken
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.predict.determined import RULES
from workalike.workload.content import CALLS, count_of
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Family,
    Lifetime,
    Pattern,
    Schedule,
    SharingMode,
)
from workalike.workload.per_dump import of_dumps

SYNCED = ("fsyncs", "flushes")


def candidates(case: Case) -> Iterator[Family]:
    logs = case.evidence.logs
    module = "POSIX" if "POSIX" in logs else case.evidence.module
    counters = RULES[module].determined(logs[module].counters)
    extents = {
        direction: counters.get(f"MAX_BYTE_{past}", 0) + 1
        for direction, past in ((Direction.READ, "READ"), (Direction.WRITE, "WRITTEN"))
    }
    changes = passes_in_turn(case.family, case.opens, case.members, extents, case.idle)
    if changes is not None:
        yield from valid(case.family, **changes)


def passes_in_turn(
    family: Family, opens: int, members: int, extents: Mapping[Direction, int], idle: Interval | None
) -> dict[str, Any] | None:
    """Changes that make the family a dump for each pass, where the passes have all opens; None where they have not.

    None, too, where both directions have as many passes, since the file may be read after each write pass, and where
    there are more passes than a schedule lists.

    Args:
        family: one file of all members, as it is.
        opens: of the file, by all ranks.
        members: ranks that open the file.
        extents: bytes of the file that operations of a direction reach.
        idle: from the first close of the file to its last open; None where that is not known.
    """
    contents = [family.content_of(dump) for dump in range(family.schedule.dumps)]
    order = list(dict.fromkeys(stream.direction for content in contents for stream in content.streams))
    passes = {
        direction: _passes(contents, members, direction, extents.get(direction, 0)) for direction in order
    }
    number = sum(passes.values())
    if len(set(passes.values())) < 2 or 0 in passes.values() or opens != members * number:
        return None
    if number > THRESHOLDS.reopened_listed:
        return None
    dumps: list[Content] = []
    for direction in order:
        own = [_only(content, direction) for content in contents]
        equal = shares([content for content in own if content.streams], passes[direction], members, even=True)
        if equal is None:
            return None
        dumps += equal
    schedule = _schedule(family.schedule, [passes[direction] for direction in order], idle)
    return {
        "lifetime": Lifetime.REUSED,
        "schedule": schedule,
        "sizes": None,
        **of_dumps(_with_calls(dumps, contents, members)),
        "assumed": list(dict.fromkeys([*family.assumed, Assumption.STATES, Assumption.SCHEDULE])),
    }


def _passes(contents: Sequence[Content], members: int, direction: Direction, extent: int) -> int:
    """How often ranks go over the file in a direction; 0 where that is not a whole number."""
    moved = sum(content.moved(members, direction) for content in contents)
    return moved // extent if extent > 0 and moved % extent == 0 else 0


def _only(content: Content, direction: Direction) -> Content:
    """The operations of one direction, without the calls that are counted; syncs go with the writes."""
    # All passes together were read as `same`, since they write places over again; a single pass does not.
    streams = [
        stream.model_copy(update={"pattern": Pattern.CONTIGUOUS})
        if stream.pattern is Pattern.SAME
        else stream
        for stream in content.streams
        if stream.direction is direction
    ]
    own: dict[str, Any] = {"streams": streams, "opens": 0}
    if content.seeks == "each":
        own["seeks"] = "each"
    if direction is Direction.WRITE:
        own |= {"sync": content.sync, "flush": content.flush}
    return Content(**own)


def _with_calls(dumps: Sequence[Content], before: Sequence[Content], members: int) -> list[Content]:
    """The dumps with the calls that were counted before: an open by each rank, and the others as evenly as possible."""
    totals = {name: sum(count_of(getattr(content, name)) for content in before) for name in CALLS}
    writes = [any(stream.direction is Direction.WRITE for stream in dump.streams) for dump in dumps]
    counts = {
        name: apportion(total, [float(own or name not in SYNCED) for own in writes])
        for name, total in totals.items()
    } | {"opens": [members] * len(dumps)}
    return [
        dump.model_copy(
            update={
                name: own[number]
                for name, own in counts.items()
                if name != "seeks" or isinstance(dump.seeks, int)
            }
        )
        for number, dump in enumerate(dumps)
    ]


def _schedule(old: Schedule, passes: Sequence[int], idle: Interval | None) -> Schedule:
    """Passes of one direction that take as long as each other, with equal times between all passes.

    The first pass ends, and the last one begins, where the file was first closed and last opened.
    """
    begin, end = old.starts()[0], max(old.ends())
    if idle is None or not begin <= idle.start <= idle.end <= end:
        each = (end - begin) / sum(passes)
        lengths = [each] * sum(passes)
    else:
        first, last = idle.start - begin, end - idle.end
        inner = [first] * (passes[0] - 1) + [last] * (passes[1] - 1)
        room = idle.end - idle.start
        fits = min(1.0, room / sum(inner)) if sum(inner) > 0 else 1.0
        lengths = [first, *(length * fits for length in inner), last]
    pause = (end - begin - sum(lengths)) / (len(lengths) - 1)
    starts = [begin + sum(lengths[:number]) + number * pause for number in range(len(lengths))]
    busy = sum(old.ends()) - sum(old.starts())
    computing = sum(old.compute_times()) / busy if busy > 0 else 0.0
    computes = [length * computing if computing > THRESHOLDS.compute_least else 0.0 for length in lengths]
    return Schedule(
        start=[round(start, 6) for start in starts],
        duration=alike(lengths),
        compute_time=alike(computes),
        barrier=old.barrier,
    )


READING = Reading(
    id="passes-in-turn",
    sentence="files: one file that each open begins anew (the predicted counters fit better)",
    evidence="As many opens of each rank as passes over the file's bytes in both directions together.",
    rank=1,
    candidates=candidates,
    applies=lambda case: (
        len(case.evidence.files) == 1 and case.family.sharing.mode is not SharingMode.PER_RANK
    ),
    taken=Taken.PREFERRED,
)
