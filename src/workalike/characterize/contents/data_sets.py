"""Data sets that are read in epochs: files that several reads of a job go through again and again.

The log shows them by bytes against extent: where all files of a pattern are only read, and each of them as often, that
number is the number of epochs. Who reads what in an epoch follows from the bytes and opens of each process
(docs/reference/reading-counters.md#data-sets).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workalike.characterize.contents.dealt_samples import batch_of, dealt
from workalike.characterize.contents.tunables import tunable_of
from workalike.characterize.grouping.families import DataFile, pattern_in_name
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import DatasetRule, RoleRule
from workalike.errors import WorkalikeError
from workalike.facts import naming
from workalike.facts.counters import NOT_OPENS, histogram_names
from workalike.facts.jobs import JobFacts
from workalike.facts.plausible import latest_stamp
from workalike.facts.records import MODULE_OF_LEVEL, FloatArray, IntArray, ModuleFacts
from workalike.facts.rules import by
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.core import core_plan, counts_of
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import WITHIN
from workalike.workload import units
from workalike.workload.model import (
    Assumption,
    Content,
    Dataset,
    Direction,
    Family,
    Interface,
    Level,
    Lifetime,
    Order,
    Role,
    Schedule,
    Sharing,
    SharingMode,
    Split,
    Workload,
)

LEVELS = {Level.POSIX: Interface.POSIX, Level.STDIO: Interface.STDIO}


def data_sets_in(files: Sequence[DataFile], job: JobFacts) -> tuple[list[FamilyFacts], list[DataFile]]:
    """The data sets among the data files of a job, and the files that belong to none.

    A data set says more than a trace of it: its order at random has no rule but chance.
    """
    groups: dict[tuple[str, Level], list[DataFile]] = defaultdict(list)
    for data in files:
        groups[pattern_in_name(data), data.level].append(data)
    listed = _listed(files)
    families = {
        key: None if listed.issuperset(data.file.record_id for data in members) else _data_set(members, job)
        for key, members in groups.items()
    }
    found = [family for family in families.values() if family is not None]
    rest = [data for data in files if families[pattern_in_name(data), data.level] is None]
    return found, rest


def _listed(files: Sequence[DataFile]) -> set[int]:
    """Files of which two interfaces moved data, where they are few.

    A data set is of one interface: of such files there would be two, and each file would be opened for both.
    """
    levels: dict[int, set[Level]] = defaultdict(set)
    for data in files:
        levels[data.file.record_id].add(data.level)
    found = {number for number, of_file in levels.items() if len(of_file) > 1}
    return found if len(found) <= THRESHOLDS.dataset_listed else set()


def numbered(families: Sequence[FamilyFacts]) -> list[FamilyFacts]:
    """The families in the order of their roles, the largest first, with numbers within each role."""
    order = {role: i for i, role in enumerate(Role)}

    def place(facts: FamilyFacts) -> tuple[int, int]:
        return order[facts.family.role], -sum(d.bytes_written + d.bytes_read for d in facts.dumps)

    numbers: dict[Role, int] = defaultdict(int)
    out = sorted(families, key=place)
    for facts in out:
        numbers[facts.family.role] += 1
        facts.family.number = numbers[facts.family.role]
    return out


@dataclass(frozen=True)
class _Reads:
    """What each process read of each file; all arrays have an entry per record, numbered by file and rank.

    `opens` int64, `reads` int64, `size` int64 bytes, `seeks` and `stats` int64; `busy` float64 seconds of I/O, `start`
    and `end` float64 seconds since the job's start. `extent` int64[files] is one past the last byte that was read.
    """

    file: IntArray
    rank: IntArray
    opens: IntArray
    reads: IntArray
    size: IntArray
    seeks: IntArray
    stats: IntArray
    busy: FloatArray
    start: FloatArray
    end: FloatArray
    extent: IntArray

    @property
    def files(self) -> int:
        return len(self.extent)

    def ranks(self) -> list[int]:
        return sorted(set(self.rank.tolist()))

    def of_files(self, column: IntArray) -> IntArray:
        """int64[files], sums over the ranks."""
        out = np.zeros(self.files, dtype=np.int64)
        np.add.at(out, self.file, column)
        return out


def _data_set(members: Sequence[DataFile], job: JobFacts) -> FamilyFacts | None:
    """The family of a data set, if that is what these files are."""
    level = members[0].level
    if level not in LEVELS or any(data.written or not data.read for data in members):
        return None
    modules = [data.file.modules[MODULE_OF_LEVEL[level]] for data in members]
    if any((facts.ranks < 0).any() or facts.doubted or facts.partial for facts in modules):
        return None
    found = _Finder(members, modules, job).run()
    if found is None:
        return None
    dataset, readers, epochs, assumed = found
    facts = _family(members, dataset, readers, epochs, assumed, job)
    return facts if _reads_so(facts.family, modules, job) else None


def _reads_so(family: Family, modules: Sequence[ModuleFacts], job: JobFacts) -> bool:
    """Whether the data set's plan has the log's reads: files whose headers are read, too, are no plain samples.

    Samples whose sizes are drawn anew, and which are read in pieces, have other numbers of pieces. The sizes of a few
    files are none that can be drawn.
    """
    reads = sum(module.total("READS") for module in modules)
    workload = Workload(ranks=job.nprocs, runtime=max(0.0, job.run_time), families=[family])
    try:
        planned = counts_of(core_plan(resolve(workload, Options())))
    except WorkalikeError:
        return False
    dataset = family.all_contents()[0].dataset
    assert dataset is not None
    bins = [name for name in histogram_names(modules[0].module, Direction.READ) if modules[0].has(name)]
    if bins and dataset.deviation > 0 and dataset.files <= THRESHOLDS.dataset_few:
        found = np.array([sum(module.total(name) for module in modules) for name in bins])
        if np.abs(planned["SIZE_READ"].sum(axis=0) - found).sum() > WITHIN * reads:
            return False
    drawn = dataset.deviation > 0 and dataset.transfer is not None
    return drawn or int(planned["READS"].sum()) == reads


@dataclass(frozen=True)
class _Epoch:
    """When an epoch was, in seconds, and how long its readers computed in it."""

    start: float
    end: float
    compute: float


class _Finder:
    """Tries to see a data set in files that are only read."""

    def __init__(self, members: Sequence[DataFile], modules: Sequence[ModuleFacts], job: JobFacts) -> None:
        self.members = members
        self.modules = modules
        self.job = job
        self.level = members[0].level
        self.reads = _reads_of(modules, job)
        self.assumed: list[Assumption] = []

    def run(self) -> tuple[Dataset, list[int], list[_Epoch], list[Assumption]] | None:
        """The data set, the ranks that read it, its epochs, and what was assumed."""
        reads, ranks = self.reads, self.reads.ranks()
        passes = self._passes()
        if passes is None:
            return self._of_own_sizes()
        own = int(reads.of_files(reads.size)[0]) // passes  # bytes of a file
        everyone = self._reads_of_everyone(own, ranks)
        epochs = everyone or passes
        groups = [] if everyone else self._turns(epochs, reads.size, own)
        visits = self._visits(own, groups, epochs)
        if epochs < 2 or visits is None:
            return None
        opens = self._for_each(reads.opens, visits)
        shape = self._samples(own, visits)
        if not opens or shape is None:
            return None
        samples, sample, transfer, order = shape
        got = reads.size // sample
        split = (Split.NONE, 1) if everyone else self._split(groups or [ranks], got, samples, epochs)
        if split is None or reads.files * samples < THRESHOLDS.dataset_least:
            return None
        file_order = self._order_of_files(groups, samples, order)
        order = file_order if samples == 1 else order
        if self._looks_alone(order, file_order):
            return None
        every = int(visits.sum())
        dataset = Dataset(
            files=reads.files,
            samples=samples,
            sample=sample,
            header=int(reads.extent[0]) - own,
            transfer=transfer,
            order=order,
            file_order=file_order,
            split=split[0],
            batch=split[1],
            readers=len(groups[0]) if len(groups) > 1 else None,
            opens=opens,
            stats=round(int(reads.stats.sum()) / every),
            seeks=round(int(reads.seeks.sum()) / every),
        )
        return dataset, ranks, self._epochs(groups, epochs), list(dict.fromkeys(self.assumed))

    def _of_own_sizes(self) -> tuple[Dataset, list[int], list[_Epoch], list[Assumption]] | None:
        """Files of different sizes, each of which is one sample, that were opened as often and read as far each time."""
        reads, ranks, visits = self.reads, self.reads.ranks(), self.reads.opens
        if not len(reads.file) or (visits < 1).any() or (reads.size % visits).any():
            return None
        times = reads.of_files(visits)
        own = np.zeros(reads.files, dtype=np.int64)
        own[reads.file] = reads.size // visits
        alike = len(set(times.tolist())) == 1 and (own[reads.file] == reads.size // visits).all()
        if not alike or times[0] < 2 or reads.files < THRESHOLDS.dataset_least:
            return None
        pieces = int(reads.reads.sum()) / int(visits.sum())
        if pieces > 1:
            transfer = self._largest()
            if not transfer or self._order_of_samples(visits) is not Order.SEQUENTIAL:
                return None
            if (reads.of_files(reads.reads) != -(-own // transfer) * times).any():
                return None  # other calls beside: a read at the end of file, which gets nothing
        complete = len(reads.file) == reads.files * len(ranks) and len(ranks) > 1
        everyone = complete and len(set(visits.tolist())) == 1
        epochs = int(visits[0] if everyone else times[0])
        groups = [] if everyone else self._turns(epochs, visits, 1)
        split = (Split.NONE, 1) if everyone else self._split(groups or [ranks], visits, 1, epochs)
        order = self._order_of_files(groups, 1, Order.SEQUENTIAL)
        if epochs < 2 or split is None or self._looks_alone(order, order):
            return None
        total, mean = int(own.sum()), round(float(own.mean()))
        every = int(visits.sum())
        dataset = Dataset(
            files=reads.files,
            sample=mean,
            deviation=round(float(own.std())),
            bytes=total if total != mean * reads.files else None,
            transfer=self._largest() if pieces > 1 else None,
            order=order,
            split=split[0],
            batch=split[1],
            readers=len(groups[0]) if len(groups) > 1 else None,
            stats=round(int(reads.stats.sum()) / every),
            seeks=round(int(reads.seeks.sum()) / every),
        )
        assumed = dict.fromkeys([*self.assumed, Assumption.SIZES])
        return dataset, ranks, self._epochs(groups, epochs), list(assumed)

    def _passes(self) -> int | None:
        """How often each file was read, by all readers together; None where that is not the same for all files."""
        reads = self.reads
        if not len(reads.file) or (reads.reads < 1).any() or (reads.extent < 1).any():
            return None
        total = reads.of_files(reads.size)
        passes = -(-total // reads.extent)
        own = total // passes
        header = reads.extent - own
        alike = all(len(set(column.tolist())) == 1 for column in (passes, own, header))
        if not alike or (own * passes != total).any():
            return None
        return int(passes[0]) if header[0] <= own[0] else None

    def _reads_of_everyone(self, own: int, ranks: Sequence[int]) -> int:
        """How often each of several ranks read everything; 0 where they share it out."""
        reads = self.reads
        times = set((reads.size // own).tolist())
        complete = len(reads.file) == reads.files * len(ranks) and (reads.size % own == 0).all()
        return times.pop() if complete and len(times) == 1 and len(ranks) > 1 else 0

    def _visits(self, own: int, groups: list[list[int]], epochs: int) -> IntArray | None:
        """int64[records], in how many epochs a rank read of a file; None where the log does not show it."""
        reads = self.reads
        if (reads.size % own == 0).all():
            return reads.size // own
        if len(reads.file) != reads.files * len(reads.ranks()):
            return None
        return np.full(len(reads.file), 1 if groups else epochs)

    def _looks_alone(self, order: Order, file_order: Order) -> bool:
        """Whether nothing but repetition speaks for a data set: files of each rank, read in sequence."""
        reads = self.reads
        shared = len(reads.file) > reads.files
        return not shared and order is file_order is Order.SEQUENTIAL

    def _turns(self, epochs: int, column: IntArray, whole: int) -> list[list[int]]:
        """The readers of each epoch, where every epoch has its own processes; nothing where all read in all.

        `column` is what each record has of its file, which has `whole` in all.
        """
        ranks = self.reads.ranks()
        if epochs < 2 or len(ranks) % epochs:
            return []
        each = len(ranks) // epochs
        groups = [ranks[i : i + each] for i in range(0, len(ranks), each)]
        for group in groups:
            read = np.where(np.isin(self.reads.rank, group), column, 0)
            if (self.reads.of_files(read) != whole).any():
                return []
        spans = [self._span(group) for group in groups]
        return groups if all(a[1] <= b[0] for a, b in pairwise(spans)) else []

    def _span(self, ranks: Sequence[int]) -> tuple[float, float]:
        by_ranks = np.isin(self.reads.rank, list(ranks))
        return float(self.reads.start[by_ranks].min()), float(self.reads.end[by_ranks].max())

    @staticmethod
    def _for_each(calls: IntArray, visits: IntArray) -> int | None:
        """Calls of each visit of a file; None where they are not the same for all."""
        each = set((calls // visits).tolist())
        return each.pop() if (calls % visits == 0).all() and len(each) == 1 and min(each, default=0) else None

    def _samples(self, own: int, visits: IntArray) -> tuple[int, int, int | None, Order] | None:
        """(samples of a file, bytes of one, bytes of a call where that is less, their order)."""
        reads = self.reads
        moves = int(reads.size.sum()) // int(reads.reads.sum())
        equal = (reads.size == reads.reads * moves).all() and self._one_size(moves)
        several = int(reads.reads.sum()) > int(visits.sum())
        order = self._order_of_samples(visits) if several else Order.SEQUENTIAL
        if equal and own % moves == 0:
            return own // moves, moves, None, order
        calls = self._for_each(reads.reads, visits)
        largest = self._largest()
        if order is not Order.SEQUENTIAL or not calls or largest == 0 or -(-own // largest) != calls:
            return None
        return 1, own, largest, order

    def _one_size(self, size: int) -> bool:
        """Whether the log shows no other size of calls; STDIO shows none."""
        if self.level is Level.STDIO:
            return True
        return self._largest() == size and all(facts.total("ACCESS2_COUNT") == 0 for facts in self.modules)

    def _largest(self) -> int:
        sizes = (facts.largest(f"ACCESS{i}_ACCESS") for facts in self.modules for i in range(1, 5))
        return max(sizes, default=0)

    def _order_of_samples(self, visits: IntArray) -> Order:
        """Sequential where most reads begin where the one before ended; STDIO shows seeks instead."""
        reads = int(self.reads.reads.sum())
        following = max(1, reads - int(visits.sum()))
        if self.level is Level.STDIO:
            in_sequence = following - int(self.reads.seeks.sum())
        else:
            in_sequence = sum(facts.total("CONSEC_READS") for facts in self.modules)
        if in_sequence > THRESHOLDS.dataset_sequential * following:
            return Order.SEQUENTIAL
        self.assumed.append(Assumption.ORDER)  # once, or anew in each epoch: the counters are the same
        return Order.SHUFFLED_EACH_EPOCH

    def _split(
        self, rounds: list[list[int]], got: IntArray, samples: int, epochs: int
    ) -> tuple[Split, int] | None:
        """What the readers share out, and how many samples at a time; None where they did so very unevenly.

        `got` is how many samples each record has.
        """
        reads = self.reads
        times = epochs // len(rounds)  # epochs of each round
        shares = [[int(got[reads.rank == rank].sum()) for rank in group] for group in rounds]
        whole = (got % samples == 0).all()
        if whole and shares == [[n * samples * times for n in dealt(reads.files, 1, len(g))] for g in rounds]:
            return Split.FILES, 1
        if not whole or samples == 1:
            batch = batch_of(reads.files * samples, [[n // times for n in row] for row in shares])
            if batch is not None:
                self.assumed.append(Assumption.BATCH)
                return Split.SAMPLES, batch
        least, most = (pick(n for row in shares for n in row) for pick in (min, max))
        if most > THRESHOLDS.dataset_uneven * least:
            return None
        self.assumed.append(Assumption.RANK_SHARES)
        return (Split.FILES if whole else Split.SAMPLES), 1

    def _order_of_files(self, groups: list[list[int]], samples: int, order: Order) -> Order:
        """By the order in which each process first opened its files."""
        reads = self.reads
        if reads.files == 1:
            return order
        rising = falling = 0
        place = _places_by_name([data.file.name for data in self.members])
        for rank in reads.ranks():
            by_rank = np.flatnonzero(reads.rank == rank)
            in_time = place[reads.file[by_rank[np.argsort(reads.start[by_rank], kind="stable")]]]
            rising += int((np.diff(in_time) > 0).sum())
            falling += int((np.diff(in_time) < 0).sum())
        if falling <= (1 - THRESHOLDS.dataset_sequential_files) * (rising + falling):
            return Order.SEQUENTIAL
        if not groups and len(reads.file) == reads.files:  # in each epoch by the same rank
            self.assumed.append(Assumption.ORDER)
            return Order.SHUFFLED if samples == 1 else order
        return Order.SHUFFLED_EACH_EPOCH

    def _epochs(self, groups: list[list[int]], epochs: int) -> list[_Epoch]:
        """The epochs of each group of readers, or equal parts of the time of all."""
        if groups:
            return [_Epoch(*self._span(group), self._compute(group)) for group in groups]
        ranks = self.reads.ranks()
        start, end = self._span(ranks)
        length = (end - start) / epochs
        if epochs > 1:
            self.assumed.append(Assumption.SCHEDULE)
        each = self._compute(ranks) / epochs
        return [_Epoch(start + i * length, start + (i + 1) * length, each) for i in range(epochs)]

    def _compute(self, ranks: Sequence[int]) -> float:
        """Seconds of compute time: the span of these readers less the I/O time of the busiest."""
        reads = self.reads
        start, end = self._span(ranks)
        busy = max(float(reads.busy[reads.rank == rank].sum()) for rank in ranks)
        idle = end - start - busy
        return idle if busy > 0 and idle > THRESHOLDS.compute_least * (end - start) else 0.0


def _reads_of(modules: Sequence[ModuleFacts], job: JobFacts) -> _Reads:
    parts = [
        (number, facts, np.flatnonzero(facts.column("BYTES_READ") > 0))
        for number, facts in enumerate(modules)
    ]

    def counted(name: str) -> IntArray:
        return np.concatenate([np.maximum(facts.column(name), 0)[rows] for _, facts, rows in parts])

    def optional(name: str) -> IntArray:
        return (
            counted(name)
            if all(facts.has(name) for facts in modules)
            else np.zeros(len(rank), dtype=np.int64)
        )

    def seconds(name: str, absent: float, most: float) -> FloatArray:
        """A timer or timestamp; `absent` where it is impossible or missing."""
        values = np.concatenate([facts.fcolumn(name)[rows] for _, facts, rows in parts])
        possible = np.isfinite(values) & (values > 0) & (values <= most)
        return np.where(possible, values, absent)

    rank = np.concatenate([facts.ranks[rows] for _, facts, rows in parts])
    late = latest_stamp(job.run_time)
    known = [seconds(f"F_{kind}_START_TIMESTAMP", math.inf, late) for kind in ("OPEN", "READ")]
    ended = [seconds(f"F_{kind}_END_TIMESTAMP", -math.inf, late) for kind in ("READ", "CLOSE")]
    start, end = np.minimum(*known), np.maximum(*ended)
    timers = [seconds(f"F_{kind}_TIME", 0.0, THRESHOLDS.compute_most) for kind in ("READ", "META")]
    opens = counted("OPENS")
    real = opens - sum(optional(name) for name in NOT_OPENS[modules[0].module])
    return _Reads(
        file=np.concatenate([np.full(len(rows), number) for number, _, rows in parts]),
        rank=rank,
        opens=np.where(real > 0, real, np.minimum(opens, 1)),  # as `opens_in`
        reads=counted("READS"),
        size=counted("BYTES_READ"),
        seeks=counted("SEEKS"),
        stats=optional("STATS"),
        busy=timers[0] + timers[1],
        start=np.where(np.isfinite(start), start, 0.0),
        end=np.where(np.isfinite(end), end, job.run_time),
        extent=np.array([facts.largest("MAX_BYTE_READ") + 1 for facts in modules], dtype=np.int64),
    )


def _places_by_name(names: Sequence[str]) -> IntArray:
    """int64[files], the place of each file in the order of the numbers in their names."""
    numbers = naming.numbering(names)
    keys = [(tuple(row), name) for row, name in zip(numbers, names, strict=True)]
    out = np.zeros(len(names), dtype=np.int64)
    out[np.array(sorted(range(len(names)), key=lambda i: keys[i]))] = np.arange(len(names))
    return out


def _family(
    members: Sequence[DataFile],
    dataset: Dataset,
    readers: list[int],
    epochs: list[_Epoch],
    assumed: list[Assumption],
    job: JobFacts,
) -> FamilyFacts:
    """The family of a data set: an epoch is a load."""
    level = members[0].level
    files = [data.file for data in members]
    tunable, tunable_rules = tunable_of(files, level, LEVELS[level])
    named = naming.role_by_name([data.file for data in members])
    role = Role.RESTART if named is Role.CHECKPOINT else Role.INPUT
    sharing = Sharing()
    if len(readers) < job.nprocs:
        mode = SharingMode.ROOT if len(readers) == 1 else SharingMode.SUBSET
        sharing = Sharing(mode=mode, ranks=units.ranges_of(readers))
    family = Family(
        role=role,
        interface=LEVELS[level],
        level=level,
        sharing=sharing,
        lifetime=Lifetime.REUSED,
        schedule=_schedule(epochs),
        content=Content(dataset=dataset),
        assumed=list(dict.fromkeys([*assumed, Assumption.ROLE])),
        tunable=tunable,
    )
    total = sum(data.read for data in members)
    dumps = [
        DumpFacts(0, total // len(epochs), epoch.start, epoch.end, epoch.end - epoch.start, files)
        for epoch in epochs
    ]
    rules = [rule for data in members[: THRESHOLDS.rules_files] for rule in data.rules]
    decided = [by(RoleRule.ONLY_READ), by(DatasetRule.EPOCHS, epochs=len(epochs))]
    return FamilyFacts(family, dumps, list(dict.fromkeys([*rules, *decided, *tunable_rules])))


def _schedule(epochs: Sequence[_Epoch]) -> Schedule:
    """Starts, durations and compute times; an even schedule where the epochs follow each other evenly."""
    starts, lengths, computing = (
        [round(value, 6) for value in values]
        for values in (
            [e.start for e in epochs],
            [e.end - e.start for e in epochs],
            [e.compute for e in epochs],
        )
    )
    even = len(set(lengths)) == 1 and all(
        math.isclose(b - a, lengths[0], abs_tol=2e-6) for a, b in pairwise(starts)
    )
    times = {"duration": _one_or_all(lengths), "compute_time": _one_or_all(computing)}
    if even and len(epochs) > 2:
        return Schedule(count=len(epochs), first=starts[0], every=lengths[0], **times)
    return Schedule(start=starts, **times)


def _one_or_all(values: list[float]) -> float | list[float]:
    return values[0] if len(set(values)) == 1 else values
