"""One file that is opened anew for each of several dumps, whose operations and calls a log has summed up."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workalike.characterize.grouping.growth import apportion
from workalike.characterize.readings.dump_times import alike
from workalike.characterize.readings.reading import Case
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.workload import units
from workalike.workload.content import CALLS, count_of
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Entry,
    Family,
    Lifetime,
    Pattern,
    Schedule,
    SharingMode,
    Stream,
)
from workalike.workload.per_dump import of_dumps
from workalike.workload.words import AT_RANDOM


def in_dumps(
    family: Family,
    opens: int,
    dumps: int,
    members: int,
    single: bool,
    idle: Interval | None = None,
    extents: Mapping[Direction, int] | None = None,
) -> Iterator[dict[str, Any]]:
    """Changes that make the family one of so many dumps of one file, the simplest first.

    Args:
        family: as it is.
        opens: of the file, by all ranks.
        dumps: how many dumps there may be.
        members: ranks that open the file.
        single: one rank alone has the file, so that its operations need not be the same in all dumps.
        idle: from the first close of the file to its last open; None where that is not known.
        extents: bytes of the file that operations of a direction reach, where that is known.
    """
    if dumps < 2 or opens % dumps:
        return
    contents = [family.content_of(i) for i in range(family.schedule.dumps)]
    even = shares(contents, dumps, members, even=True)
    both = {stream.direction for content in contents for stream in content.streams} == set(Direction)
    if even is not None:
        even = [_in_order(content, family.sharing.mode, members) for content in even]
        if both and opens == 2 * dumps * members:  # written and read back, each with an open of its own
            yield as_dumps(family, [_part(content, d) for content in even for d in _order(content)], idle)
        yield as_dumps(family, even, idle)
    elif single:
        uneven = shares(contents, dumps, members, even=False, extents=extents)
        if uneven is not None:
            yield as_dumps(family, uneven, idle)


def families_opened_anew(case: Case, counts: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Changes that make the family one file, or one of each rank, that is opened anew for each of so many dumps."""
    family = case.family
    single = family.sharing.mode is SharingMode.ROOT
    posix = case.evidence.files[0].modules.get("POSIX")
    renamed = posix.total("RENAME_SOURCES") if posix is not None else 0
    extents = {
        direction: max((m.largest(f"MAX_BYTE_{past}") for m in case.evidence.modules()), default=0) + 1
        for direction, past in ((Direction.READ, "READ"), (Direction.WRITE, "WRITTEN"))
    }
    for count in counts:
        for changes in in_dumps(family, case.opens, count, case.members, single, case.idle, extents):
            if renamed == count == changes["schedule"].dumps:  # each takes a name, or the place of the last
                replaced = case.evidence.facts.same_name == count
                changes |= {"lifetime": Lifetime.REUSED if replaced else Lifetime.PER_DUMP, "rename": True}
            elif renamed < count:  # not each of its dumps is renamed
                changes |= {"rename": False}
            yield changes


def shares(
    contents: Sequence[Content],
    parts: int,
    members: int,
    *,
    even: bool,
    extents: Mapping[Direction, int] | None = None,
    by_bytes: bool = False,
) -> list[Content] | None:
    """All operations and calls in so many contents; None where that is not possible.

    With `even`, only if all have equal operations; the first makes the calls that cannot be divided. Otherwise the first
    moves the bytes of `extents`, if the others then have no more; with `by_bytes`, all move as many.
    """
    streams: dict[str, Stream] = {}
    entries: dict[str, Counter[tuple[int, bool]]] = {}
    for content in contents:
        if content.passes > 1:
            return None
        for stream in content.streams:
            plain = stream.model_copy(update={"base": None, "repeat": 1})
            if not even and stream.pattern is Pattern.SAME:  # rules read what is written over again so
                plain = plain.model_copy(update={"pattern": Pattern.CONTIGUOUS})
            key = plain.model_dump_json(exclude={"sizes"})
            streams.setdefault(key, plain)
            for entry in stream.sizes:
                entries.setdefault(key, Counter())[entry.size, entry.per_rank] += entry.count * stream.repeat
    if even and any(count % parts for sizes in entries.values() for count in sizes.values()):
        return None
    if len({(content.sync.text(), content.flush.text()) for content in contents}) > 1:
        return None
    each = all(content.seeks == "each" for content in contents)
    totals = {name: sum(count_of(getattr(content, name)) for content in contents) for name in CALLS}
    if not each:
        totals["seeks"] += sum(
            _operations(content, members) for content in contents if content.seeks == "each"
        )
    calls = {
        name: [total // parts + total % parts] + [total // parts] * (parts - 1)
        if even
        else apportion(total, [1.0] * parts)
        for name, total in totals.items()
    }
    if by_bytes:
        of_entries = _dealt_by_bytes(streams, entries, parts)
    else:
        of_entries = _dealt(streams, entries, parts, extents or {})
    out = []
    for k in range(parts):
        own: dict[str, Any] = {name: values[k] for name, values in calls.items()}
        if each:
            own["seeks"] = "each"
        built = []
        for key, stream in streams.items():
            sizes = [
                Entry(count=counts[k], size=size, per_rank=per_rank)
                for (size, per_rank), counts in sorted(of_entries[key].items())
                if counts[k]
            ]
            if sizes:
                built.append(stream.model_copy(update={"sizes": sizes}))
        if built:  # calls amid writes need writes
            own |= {"sync": contents[0].sync, "flush": contents[0].flush}
        out.append(Content(**own, streams=built))
    return out


def _dealt(
    streams: dict[str, Stream],
    entries: dict[str, Counter[tuple[int, bool]]],
    parts: int,
    extents: Mapping[Direction, int],
) -> dict[str, dict[tuple[int, bool], list[int]]]:
    """The operations of each stream and size in so many parts.

    What cannot be divided goes, the largest operations first, to the parts with the fewest bytes in its direction.
    """
    out: dict[str, dict[tuple[int, bool], list[int]]] = {key: {} for key in streams}
    bytes_of = {direction: [0] * parts for direction in Direction}
    moved = Counter[Direction]()
    for key, sizes in entries.items():
        for entry, count in sizes.items():
            moved[streams[key].direction] += count * entry[0]
    # Where one part reaches further than an equal share, it has what it reaches, and the others have the rest.
    room = {d: extents[d] if extents.get(d, 0) * parts > moved[d] else 0 for d in Direction}
    pool = [(entry, key, count) for key, sizes in entries.items() for entry, count in sizes.items()]
    for entry, key, count in sorted(pool, key=lambda item: (-item[0][0], item[1])):
        direction = streams[key].direction
        load = bytes_of[direction]
        first = min(count, room[direction] // entry[0]) if entry[0] else 0
        among = list(range(1 if extents.get(direction, 0) * parts > moved[direction] else 0, parts))
        room[direction] -= first * entry[0]
        each, rest = divmod(count - first, len(among))
        lightest = set(sorted(among, key=lambda part: load[part])[:rest])
        counts = [each + (part in lightest) for part in among]
        out[key][entry] = counts if len(among) == parts else [first, *counts]
        for part in range(parts):
            load[part] += out[key][entry][part] * entry[0]
    return out


def _dealt_by_bytes(
    streams: dict[str, Stream], entries: dict[str, Counter[tuple[int, bool]]], parts: int
) -> dict[str, dict[tuple[int, bool], list[int]]]:
    """The operations of each stream and size in so many parts: each, the largest first, where the fewest bytes are.

    Of parts with equally many bytes, the one with the fewest operations gets it, so that empty ones are spread, too.
    """
    out: dict[str, dict[tuple[int, bool], list[int]]] = {
        key: {entry: [0] * parts for entry in sizes} for key, sizes in entries.items()
    }
    lightest = {direction: [(0, 0, part) for part in range(parts)] for direction in Direction}
    pool = [(entry, key, count) for key, sizes in entries.items() for entry, count in sizes.items()]
    for entry, key, count in sorted(pool, key=lambda item: (-item[0][0], item[1])):
        heap = lightest[streams[key].direction]
        for _ in range(count):
            load, operations, part = heap[0]
            out[key][entry][part] += 1
            heapq.heapreplace(heap, (load + entry[0], operations + 1, part))
    return out


def _operations(content: Content, members: int) -> int:
    ranks = [(s, members if s.ranks is None else units.count_ranks(s.ranks)) for s in content.streams]
    return sum(stream.repeat * entry.total(n) for stream, n in ranks for entry in stream.sizes)


def _in_order(content: Content, sharing: SharingMode, members: int) -> Content:
    """The content, without a random order of operations of which each file has one."""

    def plain(stream: Stream) -> Stream:
        ranks = members if stream.ranks is None else units.count_ranks(stream.ranks)
        files = ranks if sharing is SharingMode.PER_RANK else 1
        alone = stream.repeat * sum(entry.total(ranks) for entry in stream.sizes) <= files
        if stream.pattern not in AT_RANDOM or not alone:
            return stream
        return stream.model_copy(update={"pattern": Pattern.CONTIGUOUS})

    return content.model_copy(update={"streams": [plain(stream) for stream in content.streams]})


def _order(content: Content) -> list[Direction]:
    return list(dict.fromkeys(stream.direction for stream in content.streams))


def _part(content: Content, direction: Direction) -> Content:
    """What a content does in one direction, of two that share its calls equally; syncs go with the writes."""
    writes = direction is Direction.WRITE
    changes: dict[str, Any] = {
        "streams": [stream for stream in content.streams if stream.direction is direction],
        "opens": content.opens // 2,
        "stats": content.stats // 2 + (content.stats % 2 if writes else 0),
        "maps": content.maps // 2 + (content.maps % 2 if writes else 0),
        "seeks": content.seeks,
    }
    if isinstance(content.seeks, int):
        changes["seeks"] = content.seeks // 2 + (content.seeks % 2 if writes else 0)
    if not writes:
        changes |= {"fsyncs": 0, "flushes": 0, "sync": {}, "flush": {}}
    return Content.model_validate(content.model_dump() | Content(**changes).model_dump(include=set(changes)))


def as_dumps(family: Family, contents: Sequence[Content], idle: Interval | None) -> dict[str, Any]:
    """A dump for each content, evenly over the time of the family's dumps.

    The first dump ends, and the last one begins, where the file was first closed and last opened (`idle`). Where these
    two last differently, they keep their durations, unless there are too many dumps to be listed.
    """
    count = len(contents)
    schedule = family.schedule
    starts, ends = schedule.starts(), schedule.ends()
    busy = sum(end - start for start, end in zip(starts, ends, strict=True))
    computing = sum(schedule.compute_times())
    io = max(0.0, busy - computing) / count
    duration = busy / count
    last = max(starts[-1], ends[-1] - duration)
    if idle is not None and not starts[0] <= idle.start <= idle.end <= ends[-1]:
        idle = None
    if idle is not None:
        last = idle.end
        duration = (idle.start - starts[0] + ends[-1] - last) / 2
    gap = (last - starts[0]) / (count - 1)
    begins, lengths = [starts[0] + i * gap for i in range(count)], [duration] * count
    if idle is not None:
        uneven = abs(idle.start - starts[0] - (ends[-1] - idle.end)) > THRESHOLDS.reopened_uneven * gap
        if uneven or duration > gap:
            begins, lengths = _between(starts[0], idle, ends[-1], count)
    least = THRESHOLDS.compute_least * duration
    computes = [length - io if computing and length - io > least else 0.0 for length in lengths]
    times: dict[str, Any] = {"start": [round(start, 6) for start in begins]}
    if count > THRESHOLDS.reopened_listed:
        times = {"count": count, "first": round(starts[0], 6), "every": round(gap, 6)}
        lengths, computes = [duration], [duration - io if any(computes) else 0.0]
    # Ranks that began the first one together are taken to begin the others so, too: the schedule is assumed.
    times["barrier"] = schedule.barrier
    return {
        "lifetime": Lifetime.REUSED,
        "schedule": Schedule(**times, duration=alike(lengths), compute_time=alike(computes)),
        "sizes": None,
        **of_dumps(contents),
        "assumed": list(dict.fromkeys([*family.assumed, Assumption.STATES, Assumption.SCHEDULE])),
    }


def _between(start: float, idle: Interval, end: float, count: int) -> tuple[list[float], list[float]]:
    """Starts and durations of dumps, of which the first and the last are known; the time between dumps is equal.

    The others last as long as the shorter one of both: a sync that once took long is one of a single dump.
    """
    first, last = idle.start - start, end - idle.end
    usual = min(first, last)
    pause = (idle.end - idle.start - (count - 2) * usual) / (count - 1)
    if pause < 0:
        usual, pause = (idle.end - idle.start) / max(1, count - 2), 0.0
    starts = [start, *(idle.start + k * pause + (k - 1) * usual for k in range(1, count))]
    return starts, [first, *[usual] * (count - 2), last]
