"""Files of which both POSIX and STDIO moved data: one file with streams of the C library, instead of two files.

Python and NumPy copy the descriptor of a file and make a stream of the copy (`fdopen`), which STDIO counts without an
open of its own; other programs open the file once more (`fopen`). Both families are characterized by themselves. What
STDIO counts then becomes `buffered` streams of the family that POSIX opened.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise

from pydantic import ValidationError

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import FileRule
from workalike.facts.counters import bytes_name, kind_of
from workalike.facts.jobs import JobFacts
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.rules import by
from workalike.plan.scale import bytes_of, fit_bytes
from workalike.workload import units
from workalike.workload.content import BufferedStream
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Level,
    Pattern,
    SharingMode,
    Stream,
)
from workalike.workload.per_dump import of_dumps

Files = Mapping[int, FileFacts]
LARGEST = {Direction.READ: "MAX_BYTE_READ", Direction.WRITE: "MAX_BYTE_WRITTEN"}


class _CannotSay(Exception):
    """The counters of a stream are none that buffered streams of the family have."""


@dataclass(frozen=True)
class _Part:
    """What a stream of one rank (-1: of all) moves in a direction, from `base` on; `times` over the same bytes."""

    direction: Direction
    entries: tuple[tuple[int, int], ...]
    base: int
    times: int
    by_name: bool
    number: int  # of those of a rank in this direction


def with_buffered(families: Sequence[FamilyFacts], job: JobFacts) -> list[FamilyFacts]:
    """The families, with those of STDIO that are a part of files of POSIX families in these.

    A family of STDIO is there as a whole or not at all.
    """
    of_streams = [facts for facts in families if facts.family.interface is Interface.STDIO]
    parts = {file.record_id: file for facts in of_streams for file in facts.files()}
    opened = [file for facts in families if _takes_streams(facts.family) for file in facts.files()]
    owners = Counter(file.record_id for file in opened)
    whole = {
        file.record_id: replace(file, modules=file.modules | parts[file.record_id].modules)
        for file in opened
        if file.record_id in parts and owners[file.record_id] == 1
    }
    joined = {number for number, file in whole.items() if _is_one_file(file)}
    streams = [{file.record_id for file in facts.files()} for facts in of_streams]
    made: dict[int, FamilyFacts] = {}
    before: set[int] | None = None
    while joined != before:
        before = set(joined)
        for numbers in streams:
            if not numbers <= joined:
                joined -= numbers
        for place, facts in enumerate(families):
            if _takes_streams(facts.family):
                found = _with_streams(facts, {number: whole[number] for number in joined}, job)
                made[place] = found or facts
                joined -= {file.record_id for file in facts.files()} if found is None else set()
    return [
        made.get(place, facts)
        for place, facts in enumerate(families)
        if not (facts.family.interface is Interface.STDIO and {f.record_id for f in facts.files()} <= joined)
    ]


def _is_one_file(file: FileFacts) -> bool:
    """Whether streams of the file are on descriptors of POSIX, or have opened the file for no more data than POSIX."""
    if set(file.modules) - {"H5F", "H5D"} != {"POSIX", "STDIO"}:
        return False
    posix, stdio = file.modules["POSIX"], file.modules["STDIO"]
    if posix.partial or stdio.partial or posix.doubted or stdio.doubted:
        return False
    opens, by_descriptor = stdio.totals(["OPENS", "FDOPENS"])
    if posix.total("OPENS") <= sum(posix.totals(["DUPS", "FILENOS"])):
        return False
    if by_descriptor:
        return by_descriptor == opens
    moved = [facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN") for facts in (posix, stdio)]
    return moved[1] <= moved[0]


def _takes_streams(family: Family) -> bool:
    """Whether its calls are those of POSIX, also where a library makes them for the application."""
    if family.counted_at is not Level.POSIX or family.direct or family.sharing.gather:
        return False
    return not any(c.dataset or c.mesh or c.arrays or c.fit for c in family.all_contents())


def _with_streams(facts: FamilyFacts, files: Files, job: JobFacts) -> FamilyFacts | None:
    """The family with the streams of those of its files that are in `files`; None if it cannot say what they do."""
    family = facts.family
    uses = Counter(file.record_id for dump in facts.dumps for file in dump.files if file.record_id in files)
    if not uses:
        return facts
    if len(facts.dumps) != family.schedule.dumps:
        return None
    turns: Counter[int] = Counter()
    contents, dumps = [], []
    try:
        for number, dump in enumerate(facts.dumps):
            own = [files[file.record_id] for file in dump.files if file.record_id in files]
            shares = [
                _Share(file.modules["STDIO"], turns[file.record_id], uses[file.record_id]) for file in own
            ]
            turns.update(file.record_id for file in own)
            buffered = list(_streams(shares, family.sharing.mode, job.nprocs))
            content = _of_its_bytes(family, number, family.members(job.nprocs))
            contents.append(content.model_copy(update={"buffered": buffered, "reopen": False}))
            dumps.append(_with_bytes(dump, files, contents[-1], job.nprocs))
        assumed = list(dict.fromkeys([*family.assumed, Assumption.PLACEMENT]))
        changes = {"interface": Interface.POSIX, "sizes": None, "growth": None, "assumed": assumed}
        changes |= of_dumps(contents)
        made = Family.model_validate(family.model_dump() | changes)
    except (_CannotSay, ValidationError):
        return None
    return replace(facts, family=made, dumps=dumps, rules=[*facts.rules, by(FileRule.BUFFERED)])


def _of_its_bytes(family: Family, number: int, members: int) -> Content:
    """The content of a dump, which alone says how many bytes it has."""
    content = family.content_of(number)
    stated = sum(content.moved(members, d) for d in Direction)
    size = stated if (sizes := family.dump_sizes()) is None else sizes[number]
    if size == stated:
        return content
    if content.table or any(s.base or s.stride or s.pieces > 1 or s.repeat > 1 for s in content.streams):
        raise _CannotSay
    before = [0, *accumulate(_bytes_of_stream(stream, members) for stream in content.streams)]
    ends = [round(Fraction(size * end, before[-1])) for end in before]
    if content.passes > 1 or not before[-1]:
        raise _CannotSay
    streams = [
        stream.model_copy(update={"sizes": _fitted(stream, end - begin, members)})
        for stream, (begin, end) in zip(content.streams, pairwise(ends), strict=True)
    ]
    return content.model_copy(update={"streams": streams})


def _pairs(stream: Stream, members: int) -> list[tuple[int, int]]:
    """(operations, size) of all ranks of a stream."""
    ranks = members if stream.ranks is None else units.count_ranks(stream.ranks)
    return [(entry.total(ranks), entry.size) for entry in stream.sizes]


def _bytes_of_stream(stream: Stream, members: int) -> int:
    return bytes_of(_pairs(stream, members))


def _fitted(stream: Stream, moved: int, members: int) -> list[Entry]:
    return [Entry(count=n, size=size) for n, size in fit_bytes(_pairs(stream, members), moved) if n]


def _with_bytes(dump: DumpFacts, files: Files, content: Content, nprocs: int) -> DumpFacts:
    of_streams = Content(buffered=content.buffered)
    return replace(
        dump,
        bytes_written=dump.bytes_written + of_streams.moved(nprocs, Direction.WRITE),
        bytes_read=dump.bytes_read + of_streams.moved(nprocs, Direction.READ),
        files=[files.get(file.record_id, file) for file in dump.files],
    )


@dataclass(frozen=True)
class _Share:
    """The streams of a file in one of the dumps that use it: in the dump number `turn` of `dumps`."""

    facts: ModuleFacts
    turn: int
    dumps: int

    def counted(self, row: int, name: str, direction: Direction | None = None) -> int:
        """The dump's share of a counter of a record; what cannot be shared out is the first's or, of reads, the last's."""
        if direction is None:
            return _cut(self._total(row, name), self.dumps)[self.turn]
        operations, moved = (self._total(row, n) for n in (f"{kind_of(direction)}S", bytes_name(direction)))
        if operations % self.dumps or moved % self.dumps:
            own = self.dumps - 1 if direction is Direction.READ else 0
            return self._total(row, name) if self.turn == own else 0
        return self._total(row, name) // self.dumps

    def _total(self, row: int, name: str) -> int:
        return max(0, int(self.facts.column(name)[row])) if self.facts.has(name) else 0


def _streams(shares: Sequence[_Share], mode: SharingMode, nprocs: int) -> Iterator[BufferedStream]:
    """The buffered streams of a dump; ranks that do the same are in one."""
    if mode is SharingMode.GROUPS and any((share.facts.ranks < 0).any() for share in shares):
        raise _CannotSay  # of which ranks a file of several is
    ranks: dict[_Part, list[int]] = defaultdict(list)
    calls: dict[_Part, Counter[str]] = defaultdict(Counter)
    for share in shares:
        for row, rank in enumerate(share.facts.ranks.tolist()):
            parts = list(_parts(share, row, nprocs if rank < 0 else 1))
            for name in ("SEEKS", "FLUSHES"):
                counts = _cut(share.counted(row, name), len(parts)) if parts else []
                for part, count in zip(reversed(parts), counts, strict=True):
                    calls[part][name] += count
            for part in parts:
                ranks[part].append(rank)
    for part, of_part in ranks.items():
        if len(of_part) > 1 and -1 in of_part:
            raise _CannotSay
        everyone = of_part == [-1]
        members = nprocs if everyone else len(of_part)
        same = Pattern.SAME if part.times > 1 else Pattern.REPLICATED if members > 1 else Pattern.CONTIGUOUS
        yield BufferedStream(
            direction=part.direction,
            sizes=[Entry(count=count * part.times * members, size=size) for count, size in part.entries],
            pattern=Pattern.CONTIGUOUS if mode is SharingMode.PER_RANK and part.times == 1 else same,
            ranks=None if everyone else units.ranges_of(sorted(of_part)),
            base=part.base,
            by_name=part.by_name,
            seeks=calls[part]["SEEKS"],
            flushes=calls[part]["FLUSHES"],
        )


def _parts(share: _Share, row: int, ranks: int) -> Iterator[_Part]:
    """What the record's streams move, of each of `ranks` ranks."""
    directions = [d for d in Direction if share.counted(row, f"{kind_of(d)}S", d)]
    opens, by_descriptor = share.counted(row, "OPENS"), share.counted(row, "FDOPENS")
    by_name = not by_descriptor
    streams, odd = divmod(opens, ranks * len(directions)) if directions else (0, 0)
    if by_name and (odd or not streams):
        raise _CannotSay
    for direction in sorted(directions, key=lambda d: d is Direction.READ):
        operations = share.counted(row, f"{kind_of(direction)}S", direction)
        moved = share.counted(row, bytes_name(direction), direction)
        extent = _total_extent(share, row, direction)
        if operations % ranks or moved % ranks:
            raise _CannotSay
        yield from _in_parts(
            direction, operations // ranks, moved // ranks, extent, streams if by_name else 1, by_name
        )


def _total_extent(share: _Share, row: int, direction: Direction) -> int:
    return int(share.facts.column(LARGEST[direction])[row]) + 1


def _in_parts(
    direction: Direction, operations: int, moved: int, extent: int, streams: int, by_name: bool
) -> Iterator[_Part]:
    """Operations of one rank in its streams: one after the other, or over the same bytes if they would not fit."""
    if streams > 1 and (operations % streams or moved % streams):
        raise _CannotSay
    if moved <= extent:
        length = moved // streams
        for number in range(streams):
            entries = _entries(operations // streams, length)
            yield _Part(direction, entries, extent - moved + number * length, 1, by_name, number)
        return
    passes = next(
        (p for p in range(streams, operations + 1, streams) if _divides(p, operations, moved, extent)), None
    )
    if passes is None:
        raise _CannotSay
    length = moved // passes
    entries = _entries(operations // passes, length)
    if passes == operations:  # all operations are at one place
        for number in range(streams):
            yield _Part(direction, entries, extent - length, passes // streams, by_name, number)
        return
    for number in range(passes):
        yield _Part(direction, entries, extent - length, 1, by_name, number)


def _divides(passes: int, operations: int, moved: int, extent: int) -> bool:
    return not operations % passes and not moved % passes and moved // passes <= extent


def _entries(operations: int, moved: int) -> tuple[tuple[int, int], ...]:
    """The operations, in nearly equal sizes."""
    size, larger = divmod(moved, operations)
    return tuple((n, s) for n, s in ((larger, size + 1), (operations - larger, size)) if n)


def _cut(total: int, parts: int) -> list[int]:
    """The total in parts that differ by at most one, larger ones first."""
    return [total // parts + (part < total % parts) for part in range(parts)]
