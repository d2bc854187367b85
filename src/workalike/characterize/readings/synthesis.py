"""Analysis by synthesis: other readings of a family, of which the one wins whose predicted counters are nearest to the log's.

What the rules have made of a family's counters is planned, and the counters that a log of its run would hold are predicted.
Where they differ from the log's, candidates are tried: the same bytes in one file that is opened anew for each dump, in
several passes over the same extent, in other sizes, or placed otherwise. A candidate is taken only if fewer determined
counters are off, or as many by less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product

from pydantic import ValidationError

from workalike.characterize.readings import other_contents
from workalike.characterize.readings.dump_times import timed
from workalike.characterize.readings.named_sizes import Unnamed
from workalike.characterize.readings.opened_anew import as_dumps, count_of, readings
from workalike.characterize.readings.passes_in_turn import passes_in_turn
from workalike.characterize.readings.runs import in_runs
from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import SynthesisRule
from workalike.errors import WorkalikeError
from workalike.facts.counters import bytes_name, kind_of
from workalike.facts.jobs import JobFacts
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.rules import Decision, by
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval, closed_interval
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.chance import families_at_random, refute_chance, without_rough_chance
from workalike.predict.determined import (
    REMOVALS,
    RULES,
    Determined,
    alignment_of,
    determined_of_log,
    is_apart,
)
from workalike.predict.prediction import Key, predicted
from workalike.workload import units
from workalike.workload.content import CALLS
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Family,
    Lifetime,
    Pattern,
    SharingMode,
    Workload,
)
from workalike.workload.quantities import MAX_REPEATS

MOST_PASSES = MAX_REPEATS
PREDICTED = ("POSIX", "STDIO", "MPI-IO")
PLACED_BY = {
    Direction.READ: ("SEQ_READS", "CONSEC_READS", "MAX_BYTE_READ"),
    Direction.WRITE: ("SEQ_WRITES", "CONSEC_WRITES", "MAX_BYTE_WRITTEN"),
}
"""Counters that depend on where the operations of a direction land."""
PATTERNS = (Pattern.INTERLEAVED, Pattern.CONTIGUOUS, Pattern.RANDOM, Pattern.SHUFFLED, Pattern.REPLICATED)

Candidate = tuple[SynthesisRule, Family]


def refined(families: Sequence[FamilyFacts], job: JobFacts) -> list[FamilyFacts]:
    """The families, each as the candidate whose counters are nearest to the log's.

    Families that share a file are left alone: the log does not tell their counters apart.
    """
    return [
        Refiner(family, job).best() if own else family
        for family, own in zip(families, families_of_own_files(families), strict=True)
    ]


def families_of_own_files(families: Sequence[FamilyFacts]) -> list[bool]:
    """Whether each family shares no file with another."""
    users = Counter(file.key for family in families for file in family.files())
    return [all(users[file.key] == 1 for file in family.files()) for family in families]


def misfit_of(facts: FamilyFacts, job: JobFacts) -> list[DeterminedRow] | None:
    """The determined counters in which a family's prediction is off; None where they cannot be predicted."""
    refiner = Refiner(facts, job)
    if not refiner.compares():
        return None
    return refiner.misfit(facts.family)


class Refiner:
    """Judges readings of one family by the counters that a log of their run would hold."""

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
        if self._calls(self.facts.family) > THRESHOLDS.synthesis_calls:
            return False
        # What the library does below MPI-IO tells where the application's bytes lie.
        modules = (self.module, "POSIX") if self.module == "MPI-IO" else (self.module,)
        self.logs = {module: determined_of_log(self.files, module) for module in modules}
        for log in self.logs.values():
            log.counters.pop(REMOVALS, None)  # `removed` says them, after all other readings
        return True

    def best(self) -> FamilyFacts:
        """The family as it is, or in its best other reading."""
        if not self.compares():
            return self.facts
        family = self.facts.family
        misfit = self.misfit(family)
        rules: list[Decision] = []
        anew = self._plain_reopening(family, misfit)
        if anew is not None:
            family, misfit = anew
            rules.append(by(SynthesisRule.OPENED_ANEW))
        for _ in range(THRESHOLDS.synthesis_rounds):
            if not misfit:
                break
            off = [row.counter for row in misfit]
            made_of = chain(self.candidates(family, off), self._fewer_seeks(family, misfit))
            judged = [(self.misfit(made), rule, made) for rule, made in made_of]
            known = [(rows, rule, made) for rows, rule, made in judged if rows is not None]
            if not known or min(badness(rows) for rows, _, _ in known) >= badness(misfit):
                break
            misfit, rule, family = min(known, key=lambda found: badness(found[0]))
            rules.append(by(rule))
        together = self._shuffled(family, misfit)
        if together is not None:
            family = together
            rules.append(by(SynthesisRule.PLACED))
        if not rules:
            return self.facts
        timed_family, dumps = timed(self.facts, family, self.job.nprocs)
        return replace(self.facts, family=timed_family, dumps=dumps, rules=[*self.facts.rules, *rules])

    def _shuffled(self, family: Family, misfit: Sequence[DeterminedRow] | None) -> Family | None:
        """The ranks' operations at random over all of a file, where too few follow each other for regions of their own.

        Chance explains the predicted counters of both readings. Of n operations in random order within a region of n
        places, one follows the one before on average, whatever n is; over the whole file fewer do.
        """
        if misfit is None or Pattern.SHUFFLED not in self._patterns(family):
            return None
        if Assumption.PLACEMENT not in family.assumed:  # a trace shows it
            return None
        directions = [d for d in Direction if self._too_few_follow(family, d)]

        def shuffled(content: Content) -> Content:
            streams = [
                stream.model_copy(update={"pattern": Pattern.SHUFFLED})
                if stream.direction in directions
                else stream
                for stream in content.streams
            ]
            return content.model_copy(update={"streams": streams})

        for _, made in _changed(SynthesisRule.PLACED, family, shuffled):
            off = self.misfit(made)
            if off is not None and badness(off) <= badness(misfit):
                return made
        return None

    def _too_few_follow(self, family: Family, direction: Direction) -> bool:
        """Whether fewer operations of a direction follow each other than at random within regions of ranks."""
        expected = 0.0
        for dump in range(family.schedule.dumps):
            content = family.content_of(dump)
            for stream in (s for s in content.streams if s.direction is direction):
                if stream.pattern is not Pattern.RANDOM:
                    return False
                members = family.members(self.job.nprocs)
                ranks = members if stream.ranks is None else units.count_ranks(stream.ranks)
                operations = sum(entry.total(ranks) for entry in stream.sizes)
                if operations > ranks:
                    expected += ranks * (1 - ranks / operations) * stream.repeat * content.passes
        found = RULES[self.module].determined(self.log.counters).get(f"CONSEC_{kind_of(direction)}S", 0)
        return found < expected - THRESHOLDS.shuffled_deviations * math.sqrt(expected)

    def _patterns(self, family: Family) -> list[Pattern]:
        """The patterns that operations may have. Ranks with files of their own have no order together."""
        alone = family.sharing.mode is SharingMode.PER_RANK or family.members(self.job.nprocs) == 1
        return [pattern for pattern in PATTERNS if not (alone and pattern is Pattern.SHUFFLED)]

    def _plain_reopening(
        self, family: Family, misfit: Sequence[DeterminedRow] | None
    ) -> tuple[Family, list[DeterminedRow]] | None:
        """Passes over a file as dumps of it, where each rank opens it for each pass, or for each direction of a pass.

        Opens that serve no data are less plausible than opens that do.
        """
        if misfit is None:
            return None
        opens, members = self._opens(), family.members(self.job.nprocs)
        for _, made in self._passes_in_turn(family, opens, members):
            rows = self.misfit(made)
            if rows is not None and len(rows) <= len(misfit):
                return made, rows
        if family.schedule.dumps > 1:
            return None
        rounds = {n for n in self._passes(family) if opens in (n * members, 2 * n * members)}
        for _, made in self._opened_anew(family, rounds):
            rows = self.misfit(made)
            if rows is not None and len(rows) <= len(misfit):
                return made, rows
        return None

    def _calls(self, family: Family) -> int:
        """Calls of all dumps over all ranks, at least one for each rank and dump."""
        members = family.members(self.job.nprocs)
        calls = [_calls_of(content, members) for content in family.all_contents()]
        uses = family.use if family.use is not None else range(len(calls))
        dumps = [calls[0]] * family.schedule.dumps if len(calls) == 1 else [calls[i] for i in uses]
        return sum(dumps) + members * len(dumps)

    def misfit(self, family: Family) -> list[DeterminedRow] | None:
        """The determined counters that are off; None where the family cannot be planned, or has too many calls.

        What chance explains is not off. Operations that all go forward are in no random order: there, chance explains
        nothing, and strides count.
        """
        compared = self._compared(family)
        if compared is None:
            return None
        rows, at_random = compared
        if at_random and refute_chance(rows, at_random):
            at_random = set()
        return [row for row in without_rough_chance(rows, at_random) if not row.agrees]

    def _compared(self, family: Family) -> tuple[list[DeterminedRow], set[Key]] | None:
        """All determined counters, and the family if its operations are in random order; None as above."""
        workload = Workload(ranks=self.job.nprocs, runtime=max(0.0, self.job.run_time), families=[family])
        try:
            plan = resolve(workload, Options())
            model = predicted(
                plan,
                [alignment_of(self.files)],
                THRESHOLDS.synthesis_calls,
                [is_apart(self.files, self.module)],
            )
        except WorkalikeError:
            return None
        key = (family.role, family.number)
        found = model.get(key, {})
        if self.module not in found:
            return None
        rows = [
            row
            for module, log in self.logs.items()
            if module in found and log.counters
            for row in rows_of((key,), module, log, found[module], below=module != self.module)
        ]
        return rows, families_at_random(plan)

    def candidates(self, family: Family, off: Sequence[str]) -> Iterator[Candidate]:
        """Other readings of the same bytes that may set right what is `off`, the simplest first."""
        if any(counter.startswith(("MAX_BYTE", "OPENS", "SEEKS")) for counter in off):
            if family.lifetime is Lifetime.APPENDED and family.schedule.dumps > 1:
                single = family.sharing.mode is SharingMode.ROOT
                if self._opens() == len(self.files) * (1 if single else family.members(self.job.nprocs)):
                    yield from _valid(SynthesisRule.OVERWRITTEN, family, lifetime=Lifetime.OVERWRITTEN)
                yield from _valid(SynthesisRule.REUSED, family, lifetime=Lifetime.REUSED)
            opens, members = self._opens(), family.members(self.job.nprocs)
            counts = {opens // members} if opens % members == 0 else set()
            counts = {n for n in counts if n <= THRESHOLDS.synthesis_opened} | set(self._passes(family))
            yield from self._opened_anew(family, counts)
        if "CONSEC_WRITES" in off and family.lifetime is Lifetime.APPENDED:
            yield from self._opened_to_append(family)
        for direction, pieces in self._pieces():
            for pattern in (Pattern.INTERLEAVED, Pattern.CONTIGUOUS):
                cut = partial(other_contents.in_pieces, direction=direction, pieces=pieces, pattern=pattern)
                yield from _changed(SynthesisRule.PIECES, family, cut)
        several = list(self._passes(family))
        for passes in several:
            yield from _changed(
                SynthesisRule.PASSES, family, partial(other_contents.in_passes, passes=passes)
            )
        misplaced = [d for d in Direction if any(counter in off for counter in PLACED_BY[d])]
        if misplaced:
            yield from _changed(SynthesisRule.LARGEST_FIRST, family, other_contents.largest_first)
        if misplaced or any(counter.startswith(("STRIDE", "FILE_NOT_ALIGNED")) for counter in off):
            yield from self._strided(family)
        if "FILE_NOT_ALIGNED" in off:
            yield from _changed(SynthesisRule.IN_TURN, family, other_contents.sizes_in_turn)
            yield from _changed(SynthesisRule.LARGEST_FIRST, family, other_contents.largest_first)
            yield from _changed(SynthesisRule.SMALLEST_FIRST, family, other_contents.smallest_first)
        for direction, pattern in product(misplaced, self._patterns(family)):
            placed = partial(other_contents.placed, direction=direction, pattern=pattern)
            yield from _changed(SynthesisRule.PLACED, family, placed)
            for passes in several:
                both = partial(
                    other_contents.placed_in_passes, direction=direction, pattern=pattern, passes=passes
                )
                yield from _changed(SynthesisRule.PASSES, family, both)
        if "RW_SWITCHES" in off:
            yield from _changed(SynthesisRule.ORDER, family, other_contents.other_order)
        if misplaced or "RW_SWITCHES" in off:
            yield from self._in_runs(family)
        yield from self._within_extent(family, off)
        if any(counter.startswith("ACCESS") for counter in off):
            yield from self._other_sizes(family)

    def _in_runs(self, family: Family) -> Iterator[Candidate]:
        """Runs from the file's beginning, of ranks with files of their own."""
        alone = family.sharing.mode in (SharingMode.PER_RANK, SharingMode.ROOT)
        members = family.members(self.job.nprocs)
        if not alone or self.module != "POSIX" or len(self.files) != members or self._opens() % members:
            return
        opens = self._opens() // members
        contents = in_runs(family, self.files, self.module, opens, self.job.nprocs)
        if contents is not None and len(contents) > 1:
            changes = as_dumps(family, contents, None)
            lifetime = Lifetime.OVERWRITTEN if opens == 1 else Lifetime.REUSED
            yield from _valid(SynthesisRule.RUNS, family, **changes | {"lifetime": lifetime})

    def _within_extent(self, family: Family, off: Sequence[str]) -> Iterator[Candidate]:
        """Operations that begin again at the start of a file, of which the log has the largest offset."""
        own = family.sharing.mode is SharingMode.PER_RANK
        if len(self.files) != (family.members(self.job.nprocs) if own else 1):
            return
        for direction, past in ((Direction.READ, "MAX_BYTE_READ"), (Direction.WRITE, "MAX_BYTE_WRITTEN")):
            if past in off:
                extent = max(m.largest(past) for m in self._modules()) + 1
                nprocs = self.job.nprocs
                again = partial(
                    other_contents.within, direction=direction, extent=extent, nprocs=nprocs, own_files=own
                )
                yield from _changed(SynthesisRule.WITHIN_EXTENT, family, again)
                if not own:
                    up_to = partial(other_contents.up_to, direction=direction, extent=extent, nprocs=nprocs)
                    yield from _changed(SynthesisRule.UP_TO_EXTENT, family, up_to)

    def _fewer_seeks(self, family: Family, misfit: Sequence[DeterminedRow]) -> Iterator[Candidate]:
        """Without the seeks that the operations need anyway, which the content states as well."""
        left = sum(row.found - row.expected for row in misfit if row.counter == "SEEKS")
        contents = family.all_contents()
        uses = Counter(family.use if family.use is not None else range(len(contents)))
        fewer = []
        for place, content in enumerate(contents):
            times = family.schedule.dumps if len(contents) == 1 else uses[place]
            taken = min(count_of(content.seeks), max(0, left) // times) if times else 0
            fewer.append(
                content.model_copy(update={"seeks": count_of(content.seeks) - taken}) if taken else content
            )
            left -= taken * times
        yield from _with_contents(SynthesisRule.SEEKS, family, fewer)

    def _other_sizes(self, family: Family) -> Iterator[Candidate]:
        """Operations that the log does not name by size: in more sizes, or of all ranks where they were rank 0's.

        The log names the most frequent sizes, so that others are at most as frequent as the last of them.
        """
        shared = family.sharing.mode is not SharingMode.ROOT and self.job.nprocs > 1
        if shared:
            yield from _changed(SynthesisRule.SMALL_BY_ALL, family, other_contents.small_by_all)
        yield from self._unnamed_spread(family)
        known = self.log.common["ACCESS"]
        if "ACCESS" not in self.log.cut or not known or family.content is None:
            return
        most = min(known.values()) // family.schedule.dumps
        for share in _shares():
            if most >= share:
                spread = partial(other_contents.sizes_spread, known=known, most=most // share)
                yield from _changed(SynthesisRule.SIZES_SPREAD, family, spread)

    def _unnamed_spread(self, family: Family) -> Iterator[Candidate]:
        """Operations of sizes that the log does not name in other sizes: by the records of each dump's own files."""
        contents = family.all_contents()
        numbers = [family.content_number(dump) for dump in range(family.schedule.dumps)]
        own = family.lifetime is Lifetime.PER_DUMP and len(self.facts.dumps) == len(numbers)
        groups = [[place] for place in range(len(contents))] if own else [list(range(len(contents)))]
        for share, below in product(_shares(), (True, False)):
            made = list(contents)
            for group in groups:
                dumps = [dump for dump, number in enumerate(numbers) if number in group]
                log = self.log
                if own:
                    files = [file for dump in dumps for file in self.facts.dumps[dump].files]
                    log = determined_of_log(files, self.module)
                if "ACCESS" not in log.cut:
                    continue
                named = log.common["ACCESS"]
                unnamed = Unnamed(named, [contents[numbers[dump]] for dump in dumps], share, below)
                for place in group:
                    made[place] = unnamed.spread(contents[place], family.members(self.job.nprocs))
            yield from _with_contents(SynthesisRule.SIZES_SPREAD, family, made)

    def _modules(self) -> list[ModuleFacts]:
        """The files' records at the family's level."""
        return [file.modules[self.module] for file in self.files if self.module in file.modules]

    def _opens(self) -> int:
        return RULES[self.module].determined(self.log.counters).get("OPENS", 0)

    def _opened_anew(self, family: Family, counts: set[int]) -> Iterator[Candidate]:
        """One file, or one of each rank, that is opened anew for each dump, with so many dumps."""
        alone = family.sharing.mode is SharingMode.PER_RANK
        if len(self.files) != (family.members(self.job.nprocs) if alone else 1):
            return
        single = family.sharing.mode is SharingMode.ROOT
        members = family.members(self.job.nprocs)
        posix = self.files[0].modules.get("POSIX")
        renamed = posix.total("RENAME_SOURCES") if posix is not None else 0
        idle = self._idle(family)
        extents = {
            direction: max((m.largest(f"MAX_BYTE_{past}") for m in self._modules()), default=0) + 1
            for direction, past in ((Direction.READ, "READ"), (Direction.WRITE, "WRITTEN"))
        }
        for count in sorted(counts):
            for changes in readings(family, self._opens(), count, members, single, idle, extents):
                if renamed == count == changes["schedule"].dumps:  # each takes the place of the last
                    changes |= {"lifetime": Lifetime.PER_DUMP, "rename": True, "keep": 1}
                elif renamed < count:  # not each of its dumps is renamed
                    changes |= {"rename": False}
                yield from _valid(SynthesisRule.OPENED_ANEW, family, **changes)

    def _passes_in_turn(self, family: Family, opens: int, members: int) -> Iterator[Candidate]:
        """One file of all ranks that is opened for each pass in one direction, and then in the other."""
        if len(self.files) != 1 or family.sharing.mode is SharingMode.PER_RANK:
            return
        module = "POSIX" if "POSIX" in self.logs else self.module
        counters = RULES[module].determined(self.logs[module].counters)
        extents = {
            direction: counters.get(f"MAX_BYTE_{past}", 0) + 1
            for direction, past in ((Direction.READ, "READ"), (Direction.WRITE, "WRITTEN"))
        }
        changes = passes_in_turn(family, opens, members, extents, self._idle(family))
        if changes is not None:
            yield from _valid(SynthesisRule.OPENED_ANEW, family, **changes)

    def _idle(self, family: Family) -> Interval | None:
        """From the first close to the last open, of several files in the mean; None where it is not known of all."""
        found = [closed_interval(file, family.counted_at, self.job.run_time) for file in self.files]
        known = [interval for interval in found if interval is not None]
        if not known or len(known) < len(found):
            return None
        start, end = (
            sum(edges) / len(known) for edges in zip(*((i.start, i.end) for i in known), strict=True)
        )
        return Interval(start, end)

    def _opened_to_append(self, family: Family) -> Iterator[Candidate]:
        """One file that grows, and that each dump opens."""
        opens, members = self._opens(), family.members(self.job.nprocs)
        if len(self.files) != 1 or opens % members or opens // members > MOST_PASSES:
            return
        idle = closed_interval(self.files[0], family.counted_at, self.job.run_time)
        single = family.sharing.mode is SharingMode.ROOT
        for changes in readings(family, opens, opens // members, members, single, idle):
            yield from _valid(
                SynthesisRule.OPENED_TO_APPEND, family, **changes | {"lifetime": Lifetime.APPENDED}
            )

    def _strided(self, family: Family) -> Iterator[Candidate]:
        """Operations at equal distances: of both directions, or of one."""
        for directions in ((Direction.WRITE, Direction.READ), (Direction.WRITE,), (Direction.READ,)):
            for stride, passes in self._strides(family, directions):
                strided = partial(other_contents.strided, directions=directions, stride=stride, passes=passes)
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
        counters = RULES[self.module].determined(self.log.counters)
        past, kind = ("READ", "READS") if directions[0] is Direction.READ else ("WRITTEN", "WRITES")
        operations = counters.get(kind, 0) // self._files(family)
        room = counters.get(f"MAX_BYTE_{past}", 0) + 1 - size
        found = [size + gap for log in self.logs.values() for gap in log.common["STRIDE"]]
        if operations > 1 and room % (operations - 1) == 0:
            found.append(room // (operations - 1))
        strides = [stride for stride in dict.fromkeys(found) if stride > size][: THRESHOLDS.synthesis_strides]
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
        above, below = (RULES[module].determined(log.counters) for module, log in self.logs.items())
        for direction in Direction:
            moved = bytes_name(direction)
            calls = f"{kind_of(direction)}S"
            made, needed = above.get(calls, 0), below.get(calls, 0)
            if made and needed > made and needed % made == 0 and above[moved] == below.get(moved):
                yield direction, needed // made

    def _passes(self, family: Family) -> Iterator[int]:
        """How often a dump may go over its extent: the bytes of a file by its largest offset."""
        rules = RULES[self.module].determined(self.log.counters)
        files = self._files(family)
        found = set()
        for past in ("READ", "WRITTEN"):
            extent = rules.get(f"MAX_BYTE_{past}", 0) + 1
            passes = round(rules.get(f"BYTES_{past}", 0) / (files * extent))
            if 1 < passes <= MOST_PASSES:
                found.add(passes)
        yield from sorted(found)


def placed_alike(family: Family, pattern: Pattern) -> Iterator[Candidate]:
    """All streams of a family in one pattern, if it reads and writes."""

    def placed(content: Content) -> Content | None:
        written = other_contents.placed(content, Direction.WRITE, pattern)
        return None if written is None else other_contents.placed(written, Direction.READ, pattern)

    if {stream.direction for content in family.all_contents() for stream in content.streams} == set(
        Direction
    ):
        yield from _changed(SynthesisRule.PLACED, family, placed)


def _shares() -> list[int]:
    """Parts of how often the log's least frequent size occurs, to which sizes that it does not name are tried."""
    return [1 << bit for bit in range(THRESHOLDS.synthesis_finer.bit_length())]


def badness(misfit: Sequence[DeterminedRow]) -> tuple[int, float]:
    """How many counters are off; of equally many, how far."""
    return len(misfit), sum(min(1.0, row.error) for row in misfit)


def _calls_of(content: Content, members: int) -> int:
    operations = sum(
        stream.repeat
        * sum(
            entry.total(members if stream.ranks is None else units.count_ranks(stream.ranks))
            for entry in stream.sizes
        )
        for stream in content.streams
    )
    calls = sum(count_of(getattr(content, name)) for name in CALLS)
    amid = content.sync.total(operations) + content.flush.total(operations)
    each = operations if content.seeks == "each" else 0
    return content.passes * (operations + each + amid) + calls


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
    after = [change(content) for content in family.all_contents()]
    whole = [content for content in after if content is not None]
    if len(whole) == len(after):
        yield from _with_contents(rule, family, whole)


def _with_contents(rule: SynthesisRule, family: Family, after: list[Content]) -> Iterator[Candidate]:
    if after == family.all_contents():
        return
    if family.content is not None:
        yield from _valid(rule, family, content=after[0])
    else:
        yield from _valid(rule, family, contents=after)
