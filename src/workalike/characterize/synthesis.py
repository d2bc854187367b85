"""Analysis by synthesis: other readings of a family, of which the one wins whose predicted counters are nearest to the log's.

What the rules have made of a family's counters is planned, and the counters that a log of its run would hold are predicted.
Where they differ from the log's, candidates are tried: the same bytes in one file that is opened anew for each dump, in
several passes over the same extent, or placed otherwise. A candidate is taken only if fewer determined counters are off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from pydantic import ValidationError

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import SynthesisRule
from workalike.errors import WorkalikeError
from workalike.facts.counters import bytes_name, kind_of
from workalike.facts.jobs import JobFacts
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts
from workalike.facts.rules import Decision, by
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import rows_of
from workalike.predict.determined import RULES, Determined, alignment_of, determined_of_log
from workalike.predict.prediction import predicted
from workalike.workload import units
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
    Workload,
)
from workalike.workload.quantities import MAX_REPEATS

MOST_CALLS = 200_000
"""Families with more calls are left as the rules have them: each candidate is walked through call by call."""
MOST_ROUNDS = 3
MOST_PASSES = MAX_REPEATS
PREDICTED = ("POSIX", "STDIO", "MPI-IO")
PLACED_BY = {
    Direction.READ: ("SEQ_READS", "CONSEC_READS", "MAX_BYTE_READ"),
    Direction.WRITE: ("SEQ_WRITES", "CONSEC_WRITES", "MAX_BYTE_WRITTEN"),
}
"""Counters that depend on where the operations of a direction land."""
CALLS = ("opens", "stats", "seeks", "fsyncs", "flushes")
MOST_STRIDES = 4
PATTERNS = (Pattern.INTERLEAVED, Pattern.CONTIGUOUS, Pattern.RANDOM, Pattern.REPLICATED)

Candidate = tuple[SynthesisRule, Family]


def refined(families: Sequence[FamilyFacts], job: JobFacts) -> list[FamilyFacts]:
    """The families, each as the candidate whose counters are nearest to the log's.

    Families that share a file are left alone: the log does not tell their counters apart.
    """
    users = Counter(file.key for family in families for file in family.files())
    return [
        _Refiner(family, job).best() if all(users[file.key] == 1 for file in family.files()) else family
        for family in families
    ]


def misfit_of(facts: FamilyFacts, job: JobFacts) -> list[str] | None:
    """The determined counters in which a family's prediction is off; None where they cannot be predicted."""
    refiner = _Refiner(facts, job)
    if not refiner.compares():
        return None
    return refiner.misfit(facts.family)


class _Refiner:
    def __init__(self, facts: FamilyFacts, job: JobFacts) -> None:
        self.facts = facts
        self.job = job
        self.files: list[FileFacts] = facts.files()
        self.module = MODULE_OF_LEVEL[facts.family.counted_at]
        self.logs: dict[str, Determined] = {}

    @property
    def log(self) -> Determined:
        """The log's counters at the family's level."""
        return self.logs[self.module]

    def compares(self) -> bool:
        """Whether the family's prediction can be compared with the log's counters, which it looks up."""
        contents = self.facts.family.all_contents()
        if self.module not in PREDICTED or not any(content.streams for content in contents):
            return False
        if any(content.arrays or content.fit or content.mesh for content in contents):
            return False
        if self._calls(self.facts.family) > MOST_CALLS:
            return False
        # What the library does below MPI-IO tells where the application's bytes lie.
        modules = (self.module, "POSIX") if self.module == "MPI-IO" else (self.module,)
        self.logs = {module: determined_of_log(self.files, module) for module in modules}
        return True

    def best(self) -> FamilyFacts:
        """The family as it is, or in its best other reading."""
        if not self.compares():
            return self.facts
        family = self.facts.family
        misfit = self.misfit(family)
        rules: list[Decision] = []
        for _ in range(MOST_ROUNDS):
            if not misfit:
                break
            judged = [(self.misfit(made), rule, made) for rule, made in self.candidates(family, misfit)]
            known = [(off, rule, made) for off, rule, made in judged if off is not None]
            if not known or min(len(off) for off, _, _ in known) >= len(misfit):
                break
            misfit, rule, family = min(known, key=lambda found: len(found[0]))
            rules.append(by(rule))
        if not rules:
            return self.facts
        return replace(
            self.facts, family=family, dumps=self._dumps_of(family), rules=[*self.facts.rules, *rules]
        )

    def _dumps_of(self, family: Family) -> list[DumpFacts]:
        """What the log says of each dump: where their number has changed, an equal share of all."""
        before, count = self.facts.dumps, family.schedule.dumps
        if count == len(before):
            return before
        written, read = (sum(getattr(d, f"bytes_{past}") for d in before) for past in ("written", "read"))
        return [
            DumpFacts(
                bytes_written=written * (i + 1) // count - written * i // count,
                bytes_read=read * (i + 1) // count - read * i // count,
                start_s=start,
                end_s=end,
                files=self.files,
            )
            for i, (start, end) in enumerate(
                zip(family.schedule.starts(), family.schedule.ends(), strict=True)
            )
        ]

    def _calls(self, family: Family) -> int:
        """Calls of all dumps over all ranks, at least one for each rank and dump."""
        members = family.members(self.job.nprocs)
        calls = [_calls_of(content, members) for content in family.all_contents()]
        uses = family.use if family.use is not None else range(len(calls))
        dumps = [calls[0]] * family.schedule.dumps if len(calls) == 1 else [calls[i] for i in uses]
        return sum(dumps) + members * len(dumps)

    def misfit(self, family: Family) -> list[str] | None:
        """The determined counters that are off; None where the family cannot be planned, or has too many calls."""
        workload = Workload(ranks=self.job.nprocs, runtime=max(0.0, self.job.run_time), families=[family])
        try:
            model = predicted(resolve(workload, Options()), [alignment_of(self.files)], MOST_CALLS)
        except WorkalikeError:
            return None
        found = model.get((family.role, family.number), {})
        if self.module not in found:
            return None
        # Random order has other distances in each run, so the log's common strides say nothing about a plan.
        left_out = ("STRIDE",) if _is_random(family) else ()
        rows = [
            row
            for module, log in self.logs.items()
            if module in found and log.counters
            for row in rows_of((), module, log, found[module], below=module != self.module)
        ]
        return [row.counter for row in rows if not row.agrees and not row.counter.startswith(left_out)]

    def candidates(self, family: Family, off: Sequence[str]) -> Iterator[Candidate]:
        """Other readings of the same bytes that may set right what is `off`, the simplest first."""
        if any(counter.startswith(("MAX_BYTE", "OPENS")) for counter in off):
            if family.lifetime is Lifetime.APPENDED and family.schedule.dumps > 1:
                yield from _valid(SynthesisRule.REUSED, family, lifetime=Lifetime.REUSED)
            yield from self._opened_anew(family)
        for direction, pieces in self._pieces():
            for pattern in (Pattern.INTERLEAVED, Pattern.CONTIGUOUS):
                cut = partial(_in_pieces, direction=direction, pieces=pieces, pattern=pattern)
                yield from _changed(SynthesisRule.PIECES, family, cut)
        several = list(self._passes(family))
        for passes in several:
            yield from _changed(SynthesisRule.PASSES, family, partial(_in_passes, passes=passes))
        misplaced = [d for d in Direction if any(counter in off for counter in PLACED_BY[d])]
        if misplaced or any(counter.startswith(("STRIDE", "FILE_NOT_ALIGNED")) for counter in off):
            yield from self._strided(family)
        for direction, pattern in product(misplaced, PATTERNS):
            placed = partial(_placed, direction=direction, pattern=pattern)
            yield from _changed(SynthesisRule.PLACED, family, placed)
            for passes in several:
                both = partial(_placed_in_passes, direction=direction, pattern=pattern, passes=passes)
                yield from _changed(SynthesisRule.PASSES, family, both)
        if "RW_SWITCHES" in off:
            yield from _changed(SynthesisRule.ORDER, family, _other_order)

    def _opened_anew(self, family: Family) -> Iterator[Candidate]:
        """One file that each open begins anew: as many equal dumps as it was opened."""
        opens = RULES[self.module].of(self.log.counters).get("OPENS", 0)
        members = 1 if family.sharing.mode is SharingMode.ROOT else family.members(self.job.nprocs)
        count = opens // max(1, members)
        if len(self.files) != 1 or count < 2 or opens % members or count > MOST_PASSES:
            return
        content = _share_of_all([family.content_of(i) for i in range(family.schedule.dumps)], count)
        if content is None:
            return
        starts, ends = family.schedule.starts(), family.schedule.ends()
        busy = sum(end - start for start, end in zip(starts, ends, strict=True))
        last = max(starts[-1], ends[-1] - busy / count)
        gap = (last - starts[0]) / (count - 1)
        schedule = Schedule(
            start=[round(starts[0] + i * gap, 6) for i in range(count)], duration=round(busy / count, 6)
        )
        assumed = dict.fromkeys([*family.assumed, Assumption.STATES, Assumption.SCHEDULE])
        yield from _valid(
            SynthesisRule.OPENED_ANEW,
            family,
            lifetime=Lifetime.REUSED,
            schedule=schedule,
            sizes=None,
            content=content,
            contents=[],
            use=None,
            assumed=list(assumed),
        )

    def _strided(self, family: Family) -> Iterator[Candidate]:
        """Operations at equal distances: of both directions, or of one."""
        for directions in ((Direction.WRITE, Direction.READ), (Direction.WRITE,), (Direction.READ,)):
            for stride, passes in self._strides(family, directions):
                strided = partial(_strided, directions=directions, stride=stride, passes=passes)
                yield from _changed(SynthesisRule.STRIDED, family, strided)

    def _strides(self, family: Family, directions: Sequence[Direction]) -> list[tuple[int, int]]:
        """(bytes from the start of an operation to that of the next, passes), by the log's common gaps or its extent."""
        sizes = {
            entry.size
            for content in family.all_contents()
            for stream in content.streams
            if stream.direction in directions
            for entry in stream.sizes
        }
        if len(sizes) != 1:
            return []
        (size,) = sizes
        counters = RULES[self.module].of(self.log.counters)
        past, kind = ("READ", "READS") if directions[0] is Direction.READ else ("WRITTEN", "WRITES")
        operations = counters.get(kind, 0) // self._files(family)
        room = counters.get(f"MAX_BYTE_{past}", 0) + 1 - size
        found = [size + gap for log in self.logs.values() for gap in log.common["STRIDE"]]
        if operations > 1 and room % (operations - 1) == 0:
            found.append(room // (operations - 1))
        strides = [stride for stride in dict.fromkeys(found) if stride > size][:MOST_STRIDES]
        out = []
        for stride in strides:
            passes = operations // (room // stride + 1) if room > 0 else 1
            out += [(stride, n) for n in sorted({1, passes}, reverse=True) if 0 < n <= MOST_PASSES]
        return out

    def _files(self, family: Family) -> int:
        """Files over which a dump's operations are spread, times the dumps that have files of their own."""
        dumps = family.schedule.dumps if family.lifetime is Lifetime.PER_DUMP else 1
        return max(1, len(self.files) // max(1, dumps)) * dumps

    def _pieces(self) -> Iterator[tuple[Direction, int]]:
        """Calls of POSIX for each call of MPI-IO, where both move the same bytes: the library did not sieve."""
        if self.module != "MPI-IO":
            return
        above, below = (RULES[module].of(log.counters) for module, log in self.logs.items())
        for direction in Direction:
            moved = bytes_name(direction)
            calls = f"{kind_of(direction)}S"
            made, needed = above.get(calls, 0), below.get(calls, 0)
            if made and needed > made and needed % made == 0 and above[moved] == below.get(moved):
                yield direction, needed // made

    def _passes(self, family: Family) -> Iterator[int]:
        """How often a dump may go over its extent: the bytes of a file by its largest offset."""
        rules = RULES[self.module].of(self.log.counters)
        files = self._files(family)
        found = set()
        for past in ("READ", "WRITTEN"):
            extent = rules.get(f"MAX_BYTE_{past}", 0) + 1
            passes = round(rules.get(f"BYTES_{past}", 0) / (files * extent))
            if 1 < passes <= MOST_PASSES:
                found.add(passes)
        yield from sorted(found)


def _is_random(family: Family) -> bool:
    return any(s.pattern is Pattern.RANDOM for content in family.all_contents() for s in content.streams)


def _calls_of(content: Content, members: int) -> int:
    operations = sum(
        stream.repeat
        * sum(
            entry.total(members if stream.ranks is None else units.count_ranks(stream.ranks))
            for entry in stream.sizes
        )
        for stream in content.streams
    )
    calls = sum(_count(getattr(content, name)) for name in CALLS)
    each = (content.seeks == "each") + content.sync.calls * bool(content.sync) + bool(content.flush)
    return content.passes * operations * (1 + each) + calls


def _count(calls: int | str) -> int:
    """Calls that a content counts; 0 for those that go with its operations."""
    return calls if isinstance(calls, int) else 0


def _valid(rule: SynthesisRule, family: Family, **changes: object) -> Iterator[Candidate]:
    """The family with these changes, if a workload may have it so."""
    try:
        yield rule, Family.model_validate(family.model_copy(update=changes).model_dump())
    except ValidationError:
        return


def _changed(
    rule: SynthesisRule, family: Family, change: Callable[[Content], Content | None]
) -> Iterator[Candidate]:
    """The family with its contents changed, if all of them can be, and any is."""
    before = family.all_contents()
    after = [change(content) for content in before]
    if any(content is None for content in after) or after == before:
        return
    if family.content is not None:
        yield from _valid(rule, family, content=after[0])
    else:
        yield from _valid(rule, family, contents=after)


def _share_of_all(contents: Sequence[Content], parts: int) -> Content | None:
    """The operations of all contents in so many equal contents; None where they cannot be divided."""
    streams: dict[str, Stream] = {}
    entries: dict[str, Counter[tuple[int, bool]]] = {}
    for content in contents:
        if content.passes > 1:
            return None
        for stream in content.streams:
            plain = stream.model_copy(update={"base": None, "repeat": 1})
            key = plain.model_dump_json(exclude={"sizes"})
            streams.setdefault(key, plain)
            for entry in stream.sizes:
                entries.setdefault(key, Counter())[entry.size, entry.per_rank] += entry.count * stream.repeat
    if any(count % parts for sizes in entries.values() for count in sizes.values()):
        return None
    placed = {(content.seeks == "each", content.sync.text(), content.flush.text()) for content in contents}
    if len(placed) > 1:
        return None
    calls: dict[str, Any] = {
        name: sum(_count(getattr(content, name)) for content in contents) // parts for name in CALLS
    }
    if contents[0].seeks == "each":
        calls["seeks"] = "each"
    return Content(
        **calls,
        sync=contents[0].sync,
        flush=contents[0].flush,
        streams=[
            stream.model_copy(
                update={
                    "sizes": [
                        Entry(count=count // parts, size=size, per_rank=per_rank)
                        for (size, per_rank), count in entries[key].items()
                    ]
                }
            )
            for key, stream in streams.items()
        ],
    )


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


def _in_passes(content: Content, passes: int) -> Content | None:
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


def _in_pieces(content: Content, direction: Direction, pieces: int, pattern: Pattern) -> Content | None:
    """Each independent operation of a direction in so many pieces; None where that cannot be."""

    def cut(stream: Stream) -> Stream:
        if stream.direction is not direction:
            return stream
        return stream.model_copy(update={"pieces": pieces, "pattern": pattern})

    for stream in content.streams:
        if stream.direction is direction and (
            stream.collective
            or stream.mixed
            or stream.pieces > 1
            or stream.pattern not in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED)
            or any(entry.size % pieces for entry in stream.sizes)
        ):
            return None
    return content.model_copy(update={"streams": [cut(stream) for stream in content.streams]})


def _placed(content: Content, direction: Direction, pattern: Pattern) -> Content | None:
    """All streams of a direction in another pattern."""

    def placed(stream: Stream) -> Stream:
        if stream.direction is not direction or stream.pattern is Pattern.STRIDED:
            return stream  # a stride is the log's own word
        return stream.model_copy(update={"pattern": pattern})

    if any(stream.pieces > 1 for stream in content.streams):
        return None
    return content.model_copy(update={"streams": [placed(stream) for stream in content.streams]})


def _placed_in_passes(
    content: Content, direction: Direction, pattern: Pattern, passes: int
) -> Content | None:
    """Both at once: each alone may change no counter for the better."""
    divided = _in_passes(content, passes)
    return None if divided is None else _placed(divided, direction, pattern)


def _strided(content: Content, directions: Sequence[Direction], stride: int, passes: int) -> Content | None:
    """All streams of these directions with an operation every `stride` bytes, in so many passes."""

    def strided(stream: Stream) -> Stream:
        if stream.direction not in directions:
            return stream
        sizes = [entry.model_copy(update={"count": entry.count * stream.repeat}) for entry in stream.sizes]
        changes = {"pattern": Pattern.STRIDED, "stride": stride, "repeat": 1, "sizes": sizes}
        return stream.model_copy(update=changes)

    if any(stream.pieces > 1 or stream.mixed for stream in content.streams):
        return None
    if not any(stream.direction in directions for stream in content.streams):
        return content
    streams = [strided(stream) for stream in content.streams]
    divided = content.model_copy(update={"streams": streams})
    return divided if passes == 1 else _in_passes(divided, passes)


def _other_order(content: Content) -> Content | None:
    """The other direction first."""
    directions = [stream.direction for stream in content.streams]
    if len(set(directions)) < 2:
        return None
    first = directions[0]
    streams = [s for s in content.streams if s.direction is not first]
    streams += [s for s in content.streams if s.direction is first]
    return content.model_copy(update={"streams": streams})
