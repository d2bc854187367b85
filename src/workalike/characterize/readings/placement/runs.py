"""Files of single ranks that are gone over again and again: in runs from the file's beginning, reads and writes in turn.

The counters of a record say how often a rank begins again (operations less SEQ), where it leaves a gap (strides), how far
it comes (MAX_BYTE), and how often reads follow writes (RW_SWITCHES). With operations of one size these are runs, and as
many blocks of one direction as there are switches. More switches than runs allow are of runs in which each operation is
followed by one of the other direction at the same place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workalike.characterize.readings.changes import valid
from workalike.characterize.readings.dumps_of_one_file import as_dumps
from workalike.characterize.readings.reading import OFFSETS, Case, Reading
from workalike.facts.counters import bytes_name, kind_of
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.predict.determined import PLACES
from workalike.workload import units
from workalike.workload.content import CALLS, count_of
from workalike.workload.model import Content, Direction, Entry, Family, Lifetime, SharingMode, Stream

Run = list[tuple[int, int]]
"""(place of the first operation, operations) of what a rank does without going back, in operations."""
Block = tuple[Direction, list[Run]]
"""Runs of one direction after each other."""


@dataclass(frozen=True)
class Behaviour:
    """What a rank's record says of reads and of writes, in operations of one size.

    It is equal for ranks that do the same.
    """

    runs: tuple[int, int]
    operations: tuple[int, int]
    reach: tuple[int, int]
    gaps: tuple[tuple[int, ...], tuple[int, ...]]
    switches: int
    first: Direction


DIRECTIONS = (Direction.READ, Direction.WRITE)


def applies(case: Case) -> bool:
    alone = case.family.sharing.mode in (SharingMode.PER_RANK, SharingMode.ROOT)
    known = case.evidence
    own = len(known.files) == case.members and case.opens % case.members == 0
    return alone and known.module == "POSIX" and own


def candidates(case: Case) -> Iterator[Family]:
    opens = case.opens // case.members
    contents = in_runs(case.family, case.evidence.files, case.evidence.module, opens, case.nprocs)
    if contents is not None and len(contents) > 1:
        changes = as_dumps(case.family, contents, None)
        lifetime = Lifetime.OVERWRITTEN if opens == 1 else Lifetime.REUSED
        yield from valid(case.family, **changes | {"lifetime": lifetime})


def in_runs(
    family: Family, files: Sequence[FileFacts], module: str, opens: int, nprocs: int
) -> list[Content] | None:
    """The content of each dump of a family whose ranks have files of their own; None where runs do not explain it.

    `opens` are those of one file: if there is one, all dumps are of the file as it stays open.
    """
    sizes = _sizes(family, nprocs)
    if sizes is None or len(sizes) != len(files):
        return None
    found = {
        _behaviour(file.modules[module], size)
        for file, size in zip(_by_rank(files, module), sizes.values(), strict=True)
    }
    behaviour = found.pop() if len(found) == 1 else None
    if behaviour is None:
        return None
    runs = [_runs(behaviour, direction) for direction in DIRECTIONS]
    if runs[0] is None or runs[1] is None:
        return None
    dumps = _dumps(behaviour, dict(zip(DIRECTIONS, (runs[0], runs[1]), strict=True)), opens)
    return None if dumps is None else _contents(family, dumps, sizes, opens)


def _sizes(family: Family, nprocs: int) -> dict[int, int] | None:
    """The size of each rank's operations, by rank; None where a rank has several."""
    out: dict[int, int] = {}
    for stream in (stream for content in family.all_contents() for stream in content.streams):
        if len({entry.size for entry in stream.sizes}) != 1:
            return None
        for first, last, step in stream.ranks or family.sharing.ranks or [(0, nprocs - 1, 1)]:
            for rank in range(first, last + 1, step):
                if out.setdefault(rank, stream.sizes[0].size) != stream.sizes[0].size:
                    return None
    return dict(sorted(out.items())) if all(out.values()) else None


def _by_rank(files: Sequence[FileFacts], module: str) -> list[FileFacts]:
    return sorted(files, key=lambda file: int(file.modules[module].ranks[0]))


def _behaviour(facts: ModuleFacts, size: int) -> Behaviour | None:
    if len(facts.ranks) != 1 or not facts.has("RW_SWITCHES"):
        return None
    kinds = [kind_of(direction) for direction in DIRECTIONS]
    operations = [facts.total(f"{kind}S") for kind in kinds]
    runs = [n - facts.total(f"SEQ_{kind}S") for n, kind in zip(operations, kinds, strict=True)]
    reach = [
        facts.largest(f"MAX_{name.replace('BYTES', 'BYTE')}") + 1 for name in map(bytes_name, DIRECTIONS)
    ]
    strides = [
        (facts.total(f"STRIDE{place}_STRIDE"), facts.total(f"STRIDE{place}_COUNT"))
        for place in range(1, PLACES + 1)
    ]
    if sum(runs) > THRESHOLDS.runs_most or sum(times for _, times in strides) > THRESHOLDS.runs_most:
        return None
    if min(operations) < 1 or any(value % size for value in (*reach, *(gap for gap, _ in strides))):
        return None
    jumps = [facts.total(f"SEQ_{kind}S") - facts.total(f"CONSEC_{kind}S") for kind in kinds]
    gaps = tuple(gap // size for gap, times in strides for _ in range(times))
    if sum(jumps) != len(gaps) or min(jumps) > 0:
        return None
    starts = [facts.first(f"F_{kind}_START_TIMESTAMP") or 0.0 for kind in kinds]
    return Behaviour(
        runs=(runs[0], runs[1]),
        operations=(operations[0], operations[1]),
        reach=(reach[0] // size, reach[1] // size),
        gaps=(gaps, ()) if jumps[0] else ((), gaps),
        switches=facts.total("RW_SWITCHES"),
        first=Direction.READ if starts[0] < starts[1] else Direction.WRITE,
    )


def _runs(behaviour: Behaviour, direction: Direction) -> list[Run] | None:
    """The runs of a direction: one goes as far as the file was used, those with a gap are short, the others equally long."""
    place = DIRECTIONS.index(direction)
    number, left, reach = behaviour.runs[place], behaviour.operations[place], behaviour.reach[place]
    gaps = sorted(behaviour.gaps[place], reverse=True)
    if number < max(1, len(gaps)):
        return None
    runs: list[Run] = []
    if gaps:
        before, after = -(-(reach - gaps[0]) // 2), (reach - gaps[0]) // 2
        if after < 1:
            return None
        runs = [[(0, before), (before + gap, after)] for gap in gaps]
    elif number > 1:
        runs = [[(0, reach)]]
    left -= sum(length for run in runs for _, length in run)
    others = number - len(runs)
    if left < others or (left and not others):
        return None
    each, more = divmod(left, others) if others else (0, 0)
    runs += [[(0, each + (place < more))] for place in range(others)]
    return runs if all(start + length <= reach for run in runs for start, length in run) else None


def _dumps(behaviour: Behaviour, runs: dict[Direction, list[Run]], opens: int) -> list[list[Block]] | None:
    """The blocks of each dump: as many as there are opens, or of a file that stays open."""
    first = behaviour.first
    other = DIRECTIONS[1 - DIRECTIONS.index(first)]
    blocks = behaviour.switches + 1
    if -(-blocks // 2) <= len(runs[first]) and blocks // 2 <= len(runs[other]) and blocks > 1:
        dealt_to = {first: _dealt(runs[first], -(-blocks // 2)), other: _dealt(runs[other], blocks // 2)}
        in_order = [((first, other)[k % 2], dealt_to[(first, other)[k % 2]][k // 2]) for k in range(blocks)]
        number = opens if opens > 1 else -(-blocks // 2)
        ends = [k * blocks // number for k in range(number + 1)]
        return [in_order[a:b] for a, b in itertools.pairwise(ends)] if blocks >= number else None
    if opens > 1:
        return None
    return _alternating(behaviour, runs, first, other)


def _alternating(
    behaviour: Behaviour, runs: dict[Direction, list[Run]], first: Direction, other: Direction
) -> list[list[Block]] | None:
    """Runs of both directions in which each operation is followed by one at its place, and runs of a direction alone.

    Such a pair of runs of n operations each switches 2n - 1 times, and once more before the next runs.
    """
    whole = runs[first][0]
    if any(run != whole for of_direction in runs.values() for run in of_direction):
        return None
    if sum(length for _, length in whole) > THRESHOLDS.runs_places:
        return None
    places = [start + k for start, length in whole for k in range(length)]
    pairs = round((behaviour.switches - 1) / (2 * len(places)))
    alone, after = len(runs[first]) - pairs, len(runs[other]) - pairs
    if pairs < 1 or alone < 0 or after < 0:
        return None
    pair = [(direction, [[(place, 1)]]) for place in places for direction in (other, first)]
    dumps: list[list[Block]] = [[(first, [whole])]] * alone
    for k in range(pairs):
        dumps.append(pair)
        dumps += [[(other, [whole])]] * ((k + 1) * after // pairs - k * after // pairs)
    return dumps


def _dealt(runs: Sequence[Run], blocks: int) -> list[list[Run]]:
    """The runs in so many blocks; the first ones have one more where they cannot be divided."""
    each, more = divmod(len(runs), blocks)
    ends = [k * each + min(k, more) for k in range(blocks + 1)]
    return [list(runs[a:b]) for a, b in itertools.pairwise(ends)]


def _contents(
    family: Family, dumps: Sequence[Sequence[Block]], sizes: dict[int, int], opens: int
) -> list[Content] | None:
    """The content of each dump, with its share of the calls of all; the first makes those that cannot be divided."""
    before = [family.content_of(dump) for dump in range(family.schedule.dumps)]
    if any(content.sync or content.flush or content.seeks == "each" for content in before):
        return None
    totals = {name: sum(count_of(getattr(content, name)) for content in before) for name in CALLS}
    of_size = {size: [rank for rank in sizes if sizes[rank] == size] for size in sizes.values()}
    rest = len(dumps) - 1
    calls = {
        name: [total - total // len(dumps) * rest] + [total // len(dumps)] * rest
        for name, total in totals.items()
    }
    if opens == 1:
        calls["opens"] = [totals["opens"]] + [0] * (len(dumps) - 1)
    return [
        Content(
            **{name: values[number] for name, values in calls.items()},
            streams=[
                Stream(
                    direction=direction,
                    sizes=[Entry(count=length, size=size, per_rank=len(ranks) > 1)],
                    ranks=units.ranges_of(ranks) if len(ranks) < len(sizes) or len(sizes) == 1 else None,
                    base=start * size,
                )
                for direction, of_block in blocks
                for run in of_block
                for start, length in run
                for size, ranks in of_size.items()
            ],
        )
        for number, blocks in enumerate(dumps)
    ]


READING = Reading(
    id="runs",
    sentence="operations: in runs from the file's beginning, as often as ranks go back and change direction (the predicted "
    "counters fit better)",
    evidence="Operations that go back, gaps, the largest offset and changes of direction of each rank.",
    rank=130,
    candidates=candidates,
    off=(*OFFSETS, "RW_SWITCHES"),
    applies=applies,
)
