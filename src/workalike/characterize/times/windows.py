"""When in a dump its reads and writes are, and how long ranks are in them (docs/reference/reading-counters.md#windows).

The timers and timestamps of a file are those of all its operations of a direction. Where several dumps share them, only
a complete trace tells the dumps apart; without one their windows are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.times.rank_times import (
    ends_of,
    first_starts,
    last_ends,
    of_last_streams,
    share_of,
    starts_of,
)
from workalike.characterize.times.skew import delays_of, skew_at_edges, skew_of
from workalike.characterize.times.stated_windows import DumpTimes, Span, scheduled, tolerance
from workalike.facts.jobs import JobFacts
from workalike.facts.lives import lives_of
from workalike.facts.records import FileFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Accesses, Interval, accesses_of, closed_interval, metadata_seconds
from workalike.facts.traces import Trace, Traces
from workalike.workload.model import (
    Content,
    Direction,
    Family,
    Interface,
    SharingMode,
    Turns,
)
from workalike.workload.schedule import Skew

Key = tuple[int, bool]


def with_windows(
    families: Sequence[FamilyFacts], job: JobFacts, traces: Traces
) -> tuple[list[FamilyFacts], list[str]]:
    """The families with the windows of their dumps, and a warning where times contradict each other."""
    out, contradictory = [], 0
    for facts in families:
        family = _Family(facts, job, traces)
        times = family.times()
        contradictory += sum(span.contradictory for dump in times for span in dump.spans.values())
        late = {direction: family.skew[direction] or family.edges[direction] for direction in Direction}
        schedule = scheduled(facts.family.schedule, times, job.run_time, late)
        changed = facts.family.model_copy(update={"schedule": schedule})
        out.append(replace(facts, family=changed) if schedule is not facts.family.schedule else facts)
    warning = (
        f"times of {contradictory} reads or writes of dumps contradict each other: they end before they begin, take "
        "longer than from first to last, or are collective and of ranks that never meet"
    )
    return out, [warning] if contradictory else []


class _Uses:
    """The dumps that read, or write, one file."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}  # dump -> its number among them
        self.starts: list[float] = []
        self.bytes = 0  # that they move in all, in this file and others

    def add(self, place: int, dump: DumpFacts, direction: Direction) -> None:
        self.places[place] = len(self.starts)
        self.starts.append(dump.start_s)
        self.bytes += dump.bytes_in(direction)


class _Family:
    """The times of one family's dumps."""

    def __init__(self, facts: FamilyFacts, job: JobFacts, traces: Traces) -> None:
        self.facts = facts
        self.family = facts.family
        self.job = job
        self.traces = traces
        self.members = facts.family.members(job.nprocs)
        self.lives = lives_of(job) if calls_are_its_own(facts.family) else None
        self.dumps_of_file: Counter[Key] = Counter(file.key for dump in facts.dumps for file in dump.files)
        self.uses: dict[tuple[Key, Direction], _Uses] = defaultdict(_Uses)
        for place, dump in enumerate(facts.dumps):
            for direction in directions_of(dump):
                for file in dump.files:
                    self.uses[file.key, direction].add(place, dump, direction)
        self.accesses: dict[tuple[Key, Direction], Accesses | None] = {}
        self.known: dict[tuple[Key, Direction], Trace | None] = {}
        self.skew = {direction: self._skew(direction) for direction in Direction}
        self.delays = {direction: delays_of(groups) for direction, groups in self.skew.items()}
        self.edges = {
            direction: [] if self.skew[direction] else self._skew_at_edges(direction)
            for direction in Direction
        }

    def _skew_at_edges(self, direction: Direction) -> list[Skew]:
        """Of the first and the last of dumps that share the files of ranks: the log has one start and end for all.

        Only where no trace has each of them.
        """
        places = [place for place, dump in enumerate(self.facts.dumps) if dump.bytes_in(direction)]
        if len(places) < 2 or not self._alone_all_the_time():
            return []
        level = self.family.counted_at
        files = [file for file in self.facts.files() if file.bytes_at(level, direction)]
        if any(len(self.uses[file.key, direction].places) < len(places) for file in files):
            return []
        if any(self._trace(file, direction) is not None for file in files):
            return []
        found = [self._accesses(file, direction) for file in files]
        known = [accesses for accesses in found if accesses is not None]
        starts, ends = first_starts([a.starts for a in known]), last_ends([a.ends for a in known])
        if len(known) < len(found) or len(starts) < self.members or len(ends) < self.members:
            return []
        return skew_at_edges(starts, ends, (places[0], places[-1]), self.job.run_time)

    def _alone_all_the_time(self) -> bool:
        """Whether there are several ranks that wait for no other and live during the whole run."""
        return self.members > 1 and calls_are_its_own(self.family) and self.lives is None

    def _skew(self, direction: Direction) -> list[Skew]:
        """Of ranks that are late in every dump."""
        if not self._alone_all_the_time():
            return []
        dumps = [dump for dump in self.facts.dumps if dump.bytes_in(direction)]
        if len(dumps) > THRESHOLDS.skew_dumps:
            dumps = [
                dumps[place] for place in np.linspace(0, len(dumps) - 1, THRESHOLDS.skew_dumps, dtype=int)
            ]
        starts = np.empty((len(dumps), self.members))
        ranks: list[int] = []
        for row, dump in enumerate(dumps):
            found = self._first_starts(dump, direction)
            ranks = ranks or sorted(found)
            if len(found) != self.members or not all(rank in found for rank in ranks):
                return []  # a dump without times of each rank tells nothing
            starts[row] = [found[rank] for rank in ranks]
        return skew_of(starts, np.array(ranks, dtype=np.int64), self.job.run_time)

    def _first_starts(self, dump: DumpFacts, direction: Direction) -> dict[int, float]:
        """The start of each rank's first access in a dump; none where its files do not tell."""
        files = [file for file in dump.files if file.bytes_at(self.family.counted_at, direction)]
        return first_starts([self._starts_in(file, direction) for file in files])

    def _starts_in(self, file: FileFacts, direction: Direction) -> dict[int, float] | None:
        if len(self.uses[file.key, direction].places) > 1:
            return None  # several dumps share the times of the file
        accesses = self._accesses(file, direction)
        if accesses is not None and accesses.starts is not None:
            return accesses.starts
        trace = self._trace(file, direction)
        return None if trace is None else starts_of(trace)

    def times(self) -> list[DumpTimes]:
        """The times of each dump; none where a window would not say when its operations are (see the page)."""
        family, dumps = self.family, self.facts.dumps
        contents = family.all_contents()
        posted = any(access.nonblocking for c in contents for arrays in c.arrays for access in arrays.access)
        apart = family.sharing.turns is Turns.BATON or contents[0].dataset is not None
        in_turn = any(c.passes > 1 and len({s.direction for s in c.streams}) > 1 for c in contents)
        if posted or apart or in_turn or len(dumps) != family.schedule.dumps:
            return []
        return [self._times_of(place) for place in range(len(dumps))]

    def _times_of(self, place: int) -> DumpTimes:
        dump, content = self.facts.dumps[place], self.family.content_of(place)
        directions = directions_of(dump)
        found = {direction: self._span(place, content, direction) for direction in directions}
        spans = {direction: span for direction, span in found.items() if span is not None}
        metadata = self._metadata(dump)
        beyond = sum(span.beyond for span in spans.values())
        if beyond and syncs(content):  # which the timer of writes counts
            length = max(0.0, dump.end_s - dump.start_s)
            moving = sum(span.busy for span in spans.values())
            metadata = min((metadata or 0.0) + beyond, max(0.0, length - moving))
        return DumpTimes(spans, frozenset(directions), metadata)

    def _span(self, place: int, content: Content, direction: Direction) -> Span | None:
        level = self.family.counted_at
        dump = self.facts.dumps[place]
        files = [file for file in dump.files if file.bytes_at(level, direction)]
        if not files:
            return None
        if any(len(self.uses[file.key, direction].places) > 1 for file in files):
            return self._traced(place, files, direction) or self._shared(place, files, direction)
        found = [self._accesses(file, direction) for file in files]
        known = [accesses for accesses in found if accesses is not None]
        if len(known) < len(found):
            return None
        ranks, last = movers(content, direction, self.members), max(a.interval.end for a in known)
        starts, ends = first_starts([a.starts for a in known]), last_ends([a.ends for a in known])
        first = min(a.interval.start for a in known)
        if not ends and self.delays[direction] and (traced := self._traced(place, files, direction)):
            return traced
        if ends:
            ranks = len(ends)
            first, last = self._of_ranks(
                dump, starts, of_last_streams(ends, content, direction), first, direction
            )
        span = self._of(dump, first, last, sum(a.seconds for a in known) / max(1, ranks))
        wrong = span.beyond > tolerance(self.job.run_time) and not syncs(content)
        return replace(span, contradictory=wrong or any(a.contradictory for a in known))

    def _traced(self, place: int, files: Sequence[FileFacts], direction: Direction) -> Span | None:
        """Those operations of the files' traces that are the dump's: they begin in it, and have its bytes."""
        dump = self.facts.dumps[place]
        parts = []
        for file in files:
            trace = self._trace(file, direction)
            if trace is None:
                return None
            uses = self.uses[file.key, direction]
            at = uses.places[place]
            bounds = np.searchsorted(trace.starts, uses.starts[at : at + 2]).tolist()
            is_last = at + 1 == len(uses.starts)
            parts.append(trace.part(bounds[0] if at else 0, len(trace) if is_last else bounds[1]))
        moved = sum(int(part.lengths.sum()) for part in parts)
        if moved != dump.bytes_in(direction) or not any(map(len, parts)):
            return None
        filled = [part for part in parts if len(part)]
        ends = last_ends([ends_of(part) for part in filled])
        seconds = sum(float((part.ends - part.starts).clip(0).sum()) for part in filled)
        starts = first_starts([starts_of(part) for part in filled])
        earliest = min(float(part.starts.min()) for part in filled)
        first, last = self._of_ranks(dump, starts, ends, earliest, direction)
        return self._of(dump, first, last, seconds / len(ends))

    def _of_ranks(
        self,
        dump: DumpFacts,
        starts: dict[int, float],
        ends: dict[int, float],
        first: float,
        direction: Direction,
    ) -> tuple[float, float]:
        """The first start of all ranks and the mean of their last ends, as if none began late or lived for a part of it."""
        if self.lives is None:
            delays = self.delays[direction]
            if delays:
                first = min(start - delays.get(rank, 0.0) for rank, start in starts.items())
            return first, sum(end - delays.get(rank, 0.0) for rank, end in ends.items()) / len(ends)
        span = Interval(dump.start_s, max(dump.start_s, dump.end_s))
        parts = {rank: self.lives.alive_in(rank, span) for rank in ends}
        earliest = min(share_of(parts[rank], starts.get(rank, first)) for rank in ends)
        latest = sum(share_of(parts[rank], end) for rank, end in ends.items()) / len(ends)
        length = span.end - span.start
        return span.start + earliest * length, span.start + latest * length

    def _shared(self, place: int, files: Sequence[FileFacts], direction: Direction) -> Span | None:
        """All of the dump, and by its bytes a share of the time inside calls that dumps of the same files have in all.

        The first of these dumps begins with the first operation of the log, the last one ends with the last. Where ranks
        are late in them, the windows are those of ranks that are not.
        """
        dump, busy = self.facts.dumps[place], 0.0
        firsts, lasts = [], []
        for file in files:
            accesses = self._accesses(file, direction)
            if accesses is None:
                return None
            uses = self.uses[file.key, direction]
            busy += accesses.seconds * dump.bytes_in(direction) / uses.bytes
            firsts.append(accesses.interval.start if uses.places[place] == 0 else dump.start_s)
            is_last = uses.places[place] + 1 == len(uses.starts)
            lasts.append(accesses.interval.end if is_last else dump.end_s)
        if not busy:
            return None
        content = self.family.content_of(place)
        ranks = movers(content, direction, self.members)
        last = max(lasts)
        if any(late.dump == place for late in self.edges[direction]):
            last = self._end_without_delays(dump, files, direction, lasts)
        span = self._of(dump, min(firsts), last, busy / ranks)
        # The timer of writes counts syncs, also one after the last write: so the writes last that much longer.
        if direction is Direction.WRITE and syncs(content):
            span = self._of(dump, min(firsts), last + span.beyond, busy / ranks)
        # What does not fit comes of the sharing, and says nothing of this dump's calls.
        return replace(span, beyond=0.0)

    def _end_without_delays(
        self, dump: DumpFacts, files: Sequence[FileFacts], direction: Direction, lasts: Sequence[float]
    ) -> float:
        """When the first or the last of dumps that share the files of ranks ends on a rank that is not late.

        The last one's ranks are late by their ends. The first one's operations are before their file is closed.
        """
        if dump is not next(dump for dump in self.facts.dumps if dump.bytes_in(direction)):
            return min(lasts)
        lengths = []
        for file in files:
            closed = closed_interval(file, self.family.counted_at, self.job.run_time)
            accesses = self._accesses(file, direction)
            if closed is None or accesses is None:
                return max(lasts)
            lengths.append(max(0.0, closed.start - accesses.interval.start))
        return dump.start_s + sum(lengths) / len(lengths)

    def _accesses(self, file: FileFacts, direction: Direction) -> Accesses | None:
        key = (file.key, direction)
        if key not in self.accesses:
            self.accesses[key] = accesses_of(file, self.family.counted_at, direction, self.job.run_time)
        return self.accesses[key]

    def _trace(self, file: FileFacts, direction: Direction) -> Trace | None:
        key = (file.key, direction)
        if key not in self.known:
            self.known[key] = self.traces.of_file(file, self.family.counted_at, direction)
        return self.known[key]

    @staticmethod
    def _of(dump: DumpFacts, first: float, last: float, busy: float) -> Span:
        """The span of operations within a dump, from timestamps and the seconds of a rank."""
        length = max(0.0, dump.end_s - dump.start_s)
        last = min(max(0.0, last - dump.start_s), length)
        first = min(max(0.0, first - dump.start_s), last)
        return Span(first, last, min(busy, last - first), max(0.0, busy - (last - first)))

    def _metadata(self, dump: DumpFacts) -> float | None:
        """Seconds of one rank in opens, closes and the like, at most those of the run; None where dumps share a file's timer."""
        if any(self.dumps_of_file[file.key] > 1 for file in dump.files):
            return None
        found = [metadata_seconds(file, self.family.counted_at) for file in dump.files]
        known = [seconds for seconds in found if seconds is not None]
        longest = max(self.job.run_time, dump.end_s - dump.start_s)
        return min(sum(known) / self.members, longest) if len(known) == len(found) else None


def calls_are_its_own(family: Family) -> bool:
    """Whether no rank of a family waits for another within a dump, so that each has its own times in it (as in the core)."""
    if family.sharing.gather or family.sharing.turns is Turns.BATON:
        return False
    if family.sharing.mode in (SharingMode.PER_RANK, SharingMode.ROOT):
        return True
    contents = family.all_contents()
    both = any(all(c.moved(1, direction) for direction in Direction) for c in contents)
    return family.interface in (Interface.POSIX, Interface.STDIO) and not both


def directions_of(dump: DumpFacts) -> list[Direction]:
    return [direction for direction in Direction if dump.bytes_in(direction)]


def syncs(content: Content) -> bool:
    """Whether a dump has syncs or flushes, which the timer of writes counts as well."""
    return bool(content.fsyncs or content.flushes or content.sync or content.flush)


def movers(content: Content, direction: Direction, members: int) -> int:
    """How many ranks read or write, by the rank sets of the content."""
    sets = [s.ranks for s in content.streams if s.direction is direction]
    sets += [a.ranks for arrays in content.arrays for a in arrays.access if a.direction is direction]
    if not sets or any(ranks is None for ranks in sets):
        return members
    return _ranks_in(frozenset(tuple(ranks) for ranks in sets if ranks is not None))


@lru_cache
def _ranks_in(sets: frozenset[tuple[tuple[int, int, int], ...]]) -> int:
    """How many ranks are in at least one of some sets of (first, last, step)."""
    ranges = [found for ranks in sets for found in ranks]
    named = np.zeros(max(last for _, last, _ in ranges) + 1, dtype=bool)
    for first, last, step in ranges:
        named[first : last + 1 : step] = True
    return int(np.count_nonzero(named))
