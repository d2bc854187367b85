"""Files of single ranks that other ranks read back: rank r writes a file, and the rank some places away reads it.

Each file then has a record of its writer, which only wrote, and one of its reader, which only read. Where the distance is
the same for all files, the family has a file for each rank and `reader: neighbour`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workalike.characterize.grouping.families import DataFile
from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import ReaderRule
from workalike.facts.counters import bytes_name, operations_of
from workalike.facts.rank_sets import RankSet
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.rules import by
from workalike.facts.times import Interval
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Entry,
    Family,
    Level,
    Lifetime,
    Reader,
    Schedule,
)
from workalike.workload.quantities import MAX_REPEATS

LEVELS = (Level.POSIX, Level.STDIO, Level.MPIIO)


@dataclass(frozen=True)
class Shift:
    """A family whose files are read by the rank `places` further back in their ranks than their writer."""

    places: int
    files: list[DataFile]  # with the records of the readers given to the writers


def shift_of(files: Sequence[DataFile]) -> Shift | None:
    """The constant distance from the readers to the writers of files; None where there is none."""
    pairs = [_writer_and_reader(data) for data in files]
    known = [pair for pair in pairs if pair is not None]
    writers = sorted({writer for writer, _ in known})
    if len(known) < len(files) or len(writers) < 2 or writers != sorted({reader for _, reader in known}):
        return None
    place = {rank: number for number, rank in enumerate(writers)}
    distances = {(place[writer] - place[reader]) % len(writers) for writer, reader in known}
    if len(distances) != 1:
        return None
    return Shift(
        distances.pop(),
        [_given_to_writer(data, *pair) for data, pair in zip(files, known, strict=True)],
    )


def _writer_and_reader(data: DataFile) -> tuple[int, int] | None:
    """The two ranks of a file, of which one only wrote and the other only read."""
    facts = data.file.modules.get(MODULE_OF_LEVEL[data.level])
    if facts is None or data.level not in LEVELS or len(facts.ranks) != 2 or (facts.ranks < 0).any():
        return None
    found: dict[Direction, int] = {}
    for row, rank in enumerate(facts.ranks.tolist()):
        only = facts.rows(np.array([row], dtype=np.intp))
        moved = [d for d in Direction if operations_of(only, d) or only.total(bytes_name(d))]
        if len(moved) != 1 or moved[0] in found:
            return None
        found[moved[0]] = rank
    writer, reader = found[Direction.WRITE], found[Direction.READ]
    return None if writer == reader else (writer, reader)


def _given_to_writer(data: DataFile, writer: int, reader: int) -> DataFile:
    modules = {name: _renamed(facts, reader, writer) for name, facts in data.file.modules.items()}
    file = data.file
    given = FileFacts(file.record_id, file.name, file.nprocs, modules, file.stripe)
    return replace(data, file=given, ranks=RankSet((writer,)))


def _renamed(facts: ModuleFacts, rank: int, to: int) -> ModuleFacts:
    sizes = {to if known == rank else known: pairs for known, pairs in facts.sizes.items()}
    return replace(facts, ranks=np.where(facts.ranks == rank, to, facts.ranks), sizes=sizes)


def rounds_of(files: Sequence[FileFacts], level: Level, contents: Sequence[Content]) -> int:
    """How often the files were written and read back, by their bytes and largest offsets; 1 if that does not come out."""
    found = set()
    for file in files:
        facts = file.modules[MODULE_OF_LEVEL[level]]
        for moved, largest in (("BYTES_WRITTEN", "MAX_BYTE_WRITTEN"), ("BYTES_READ", "MAX_BYTE_READ")):
            if not facts.has(largest):
                return 1
            rounds, rest = divmod(facts.total(moved), facts.largest(largest) + 1)
            found.add(0 if rest else rounds)
    rounds = found.pop() if len(found) == 1 else 1
    if not 1 < rounds <= MAX_REPEATS or any(share_of(content, rounds) is None for content in contents):
        return 1
    return rounds


def share_of(content: Content, rounds: int) -> Content | None:
    """The content of one round; None where its operations or calls cannot be divided."""
    counts = {name: getattr(content, name) for name in ("opens", "stats", "fsyncs", "flushes", "maps")}
    if isinstance(content.seeks, int):
        counts["seeks"] = content.seeks
    entries = [entry for stream in content.streams for entry in stream.sizes]
    if any(n % rounds for n in [*counts.values(), *(e.count for e in entries)]):
        return None
    streams = [
        stream.model_copy(
            update={
                "sizes": [
                    Entry(count=e.count // rounds, size=e.size, per_rank=e.per_rank) for e in stream.sizes
                ],
                "base": None,
            }
        )
        for stream in content.streams
    ]
    return content.model_copy(update={name: n // rounds for name, n in counts.items()} | {"streams": streams})


def spread(intervals: Sequence[Interval], rounds: int) -> list[Interval]:
    """Times of `rounds` dumps and loads in turn, evenly over the time of all."""
    start, end = min(i.start for i in intervals), max(i.end for i in intervals)
    length = (end - start) / (2 * rounds)
    return [Interval(start + k * length, start + (k + 1) * length) for k in range(2 * rounds)]


def read_by_neighbour(facts: FamilyFacts, places: int) -> FamilyFacts:
    """The family of a dump and its load as one that the rank so many places away reads back, in rounds where there are."""
    before = facts.family
    contents = [before.content_of(0), before.content_of(1)]
    rounds = rounds_of(facts.files(), before.counted_at, contents)
    changes: dict[str, Any] = {"reader": Reader.NEIGHBOUR, "shift": places, "lifetime": Lifetime.REUSED}
    dumps = facts.dumps
    if rounds > 1:
        intervals = spread([Interval(dump.start_s, dump.end_s) for dump in dumps], rounds)
        length = round(intervals[0].end - intervals[0].start, 6)
        computing = [min(length, seconds / rounds) for seconds in before.schedule.compute_times()]
        changes |= {
            "content": None,
            "contents": [share_of(content, rounds) for content in contents],
            "use": [0, 1] * rounds,
            "sizes": None,
            "schedule": Schedule(
                start=[round(i.start, 6) for i in intervals],
                duration=length,
                compute_time=[round(seconds, 6) for seconds in computing * rounds],
                barrier=before.schedule.barrier,
            ),
            "assumed": list(dict.fromkeys([*before.assumed, Assumption.SCHEDULE])),
        }
        dumps = [
            replace(
                dumps[k % 2],
                bytes_written=dumps[k % 2].bytes_written // rounds,
                bytes_read=dumps[k % 2].bytes_read // rounds,
                start_s=interval.start,
                end_s=interval.end,
                io_time_s=None,
            )
            for k, interval in enumerate(intervals)
        ]
    family = Family.model_validate(before.model_copy(update=changes).model_dump())
    rules = [*facts.rules, by(ReaderRule.NEIGHBOUR, places=places)]
    return replace(facts, family=family, dumps=dumps, rules=rules)
