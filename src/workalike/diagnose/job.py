"""A job as its rules see it: sums of counters by file, families, ranks. Nothing here knows a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from workalike.capture.side_file import read_side_file
from workalike.darshan import Log
from workalike.diagnose.conflicts.of_logs import JobConflicts, conflicts_of
from workalike.diagnose.storage import Kind, Storage
from workalike.facts import naming
from workalike.facts.columns import Facts, RecordColumns
from workalike.facts.gather import gather
from workalike.facts.jobs import JobFacts, job_of
from workalike.facts.mounts import mount_table, mounts_of
from workalike.facts.noise import STREAM_IDS, is_noise_by_name
from workalike.facts.records import BoolArray, FloatArray, IntArray
from workalike.workload.words import Role

DATA_MODULES = ("POSIX", "MPI-IO", "STDIO")
KINDS = tuple(Kind)


@dataclass(frozen=True)
class Family:
    """Files of one purpose. `label` holds no name of the log; `pattern` does, with `#` for numbers."""

    number: int
    label: str
    pattern: str
    role: Role
    files: int


@dataclass(frozen=True)
class Past:
    """This run among `runs` earlier ones of the same workload.

    `percentile` is the place of its bandwidth among theirs, in bytes per second; `io_s` are seconds of the slowest rank
    in I/O; usual values are medians. `changed` are counts and bytes by name that are not what they were.
    """

    runs: int
    percentile: float
    bandwidth: float
    usual_bandwidth: float
    io_s: float
    usual_io_s: float
    changed: tuple[str, ...]


@dataclass
class Job:
    """The facts of a job's N files, as columns.

    `nprocs` ranks ran for `run_time` seconds. `warnings` are what could not be true in the logs.
    `seconds` keeps what `costs` has added up, by module and kind of call. `past` is None where no earlier runs are
    known. `storage` and `ranks_per_node` (0: not known) are what the site says.
    """

    facts: Facts
    logs: Sequence[Log]
    member_of: JobFacts
    warnings: list[str] = field(default_factory=list)
    past: Past | None = None
    storage: Storage = field(default_factory=Storage)
    ranks_per_node: int = 0
    seconds: dict[tuple[str, str], FloatArray] = field(default_factory=dict)
    _sums: dict[tuple[str, ...], FloatArray] = field(default_factory=dict)
    _kinds_by_storage: dict[Storage, IntArray] = field(default_factory=dict)

    @property
    def nprocs(self) -> int:
        return self.facts.nprocs

    @property
    def run_time(self) -> float:
        return self.facts.run_time

    @property
    def rank_time(self) -> float:
        """Ranks × run time, in seconds: what a job has to spend."""
        return self.nprocs * self.run_time

    def __len__(self) -> int:
        return len(self.facts)

    def module(self, name: str) -> RecordColumns | None:
        """The records of a module; None where the log has none."""
        table = self.facts.modules.get(name)
        return table if table is not None and len(table) else None

    def has(self, module: str, counter: str) -> bool:
        """Whether any record of the module measured the counter (-1 is "not measured")."""
        table = self.module(module)
        if table is None:
            return False
        if counter in table.counter_names:
            return bool((table.column(counter) != -1).any())
        return counter in table.fcounter_names

    def total(self, module: str, *counters: str) -> FloatArray:
        """float64[N], the sum over a file's records of some counters; -1 counts as 0. Not to be changed."""
        if len(counters) == 1:
            return self._merged(module, counters[0], "sum")
        key = (module, *counters)
        if key not in self._sums:
            out = np.zeros(len(self))
            for counter in counters:
                out += self._merged(module, counter, "sum")
            out.setflags(write=False)
            self._sums[key] = out
        return self._sums[key]

    def largest(self, module: str, counter: str) -> FloatArray:
        """float64[N], the largest value of a counter in a file's records, 0 without any. Not to be changed."""
        return self._merged(module, counter, "max")

    def once(self, name: str, make: Callable[[Job], FloatArray]) -> FloatArray:
        """float64[N], what `make` gives, which several rules ask for by this name. Not to be changed."""
        key = ("", name)
        if key not in self._sums:
            made = make(self)
            made.setflags(write=False)
            self._sums[key] = made
        return self._sums[key]

    def _merged(self, module: str, counter: str, how: str) -> FloatArray:
        """float64[N], a counter's sum or largest value by file."""
        key = (module, counter, how)
        if key not in self._sums:
            self._sums[key] = self._merge(module, counter, how)
        return self._sums[key]

    def _merge(self, module: str, counter: str, how: str) -> FloatArray:
        out = np.zeros(len(self))
        table = self.module(module)
        if table is not None and counter in table.counter_names:
            values = np.maximum(table.column(counter), 0).astype(np.float64)
            merge = np.add if how == "sum" else np.maximum
            out[table.file[table.starts]] = merge.reduceat(values, table.starts)
        out.setflags(write=False)
        return out

    @cached_property
    def own(self) -> BoolArray:
        """bool[N]: files of the application; libraries, standard streams and temporary files of MPI are not.

        Small and untouched files are: they may cost metadata time.
        """
        pairs = zip(self.facts.record_ids.tolist(), self.facts.names, strict=True)
        return np.array([n not in STREAM_IDS and not is_noise_by_name(name) for n, name in pairs], dtype=bool)

    @cached_property
    def mounts(self) -> tuple[tuple[str, str], ...]:
        """(path, type) of the mount that each file lies on; a file with a Lustre record lies on Lustre, at no path."""
        on_lustre = {number for log in self.logs for number in log.lustre().ids.tolist()}
        found = mounts_of(self.facts.names, self._mount_table)
        ids = self.facts.record_ids.tolist()
        return tuple(("", "lustre") if n in on_lustre else mount for n, mount in zip(ids, found, strict=True))

    @cached_property
    def _mount_table(self) -> list[tuple[str, str]]:
        return mount_table(log.job.mounts for log in self.logs)

    def lies_on(self, *kinds: Kind) -> BoolArray:
        """bool[N]: the application's files on file systems of some kinds."""
        return self.own & np.isin(self._kinds, [KINDS.index(kind) for kind in kinds])

    @property
    def _kinds(self) -> IntArray:
        """int64[N], the place in `KINDS` of each file's kind of storage; found once for what a site says of it."""
        if self.storage not in self._kinds_by_storage:
            types = {fs_type for fs_type, _ in self._mount_table} | {fs_type for _, fs_type in self.mounts}
            shared = any(self.storage.kind_of(fs_type) is Kind.SHARED for fs_type in types)
            found = self.storage.kinds_of(self.facts.names, self.mounts, shared)
            self._kinds_by_storage[self.storage] = np.array(
                [KINDS.index(kind) for kind in found], dtype=np.int64
            )
        return self._kinds_by_storage[self.storage]

    @property
    def on_shared(self) -> BoolArray:
        """bool[N]: the application's files, without those that are known to lie on a node or in its memory."""
        return self.lies_on(Kind.SHARED, Kind.UNKNOWN)

    def saw(self, module: str) -> BoolArray:
        """bool[N]: whether the module has a record of the file."""
        out = np.zeros(len(self), dtype=bool)
        table = self.module(module)
        if table is not None:
            out[table.file] = True
        return out

    @cached_property
    def ranks(self) -> IntArray:
        """int64[N], the ranks that have a record of a file; a reduced record stands for all ranks of its log."""
        out = np.zeros(len(self), dtype=np.int64)
        for name in DATA_MODULES:
            np.maximum(out, self.ranks_in(name), out=out)
        return out

    def ranks_in(self, module: str) -> IntArray:
        """int64[N], as `ranks`, by the records of one module."""
        out = np.zeros(len(self), dtype=np.int64)
        table = self.module(module)
        if table is None:
            return out
        single = table.ranks >= 0
        files, ranks = table.file[single], table.ranks[single]
        order = np.lexsort((ranks, files))
        files, ranks = files[order], ranks[order]
        again = (files[1:] == files[:-1]) & (ranks[1:] == ranks[:-1])
        out += np.bincount(np.delete(files, 1 + np.flatnonzero(again)), minlength=len(self))
        reduced = np.flatnonzero(~single)
        sizes = np.where(table.members[reduced] > 0, table.members[reduced], self.nprocs)
        np.add.at(out, table.file[reduced], sizes)
        return np.minimum(out, self.nprocs)

    @cached_property
    def shared(self) -> BoolArray:
        """bool[N]: files that several ranks use."""
        return self.ranks > 1

    @cached_property
    def family(self) -> IntArray:
        """int64[N], the number of each file's family."""
        return self._grouped[0]

    @cached_property
    def _grouped(self) -> tuple[IntArray, list[tuple[object, ...]]]:
        """The family of each file, and what its files have in common: a pattern of names, or how they were used."""
        keys: dict[tuple[object, ...], int] = {}
        numbers: list[int] = []
        written, saw = self._written, np.stack([self.saw(name) for name in DATA_MODULES], axis=1)
        for row, name in enumerate(self.facts.names):
            if naming.is_obfuscated(name):
                key: tuple[object, ...] = (
                    tuple(saw[row].tolist()),
                    bool(written[row]),
                    bool(self.shared[row]),
                )
            else:
                key = (naming.pattern_of(name),)
            numbers.append(keys.setdefault(key, len(keys)))
        return np.array(numbers, dtype=np.int64), list(keys)

    @property
    def _written(self) -> FloatArray:
        return sum((self.total(module, "BYTES_WRITTEN") for module in DATA_MODULES), np.zeros(len(self)))

    @cached_property
    def families(self) -> list[Family]:
        family, keys = self._grouped
        written = self._written
        read = self.total("POSIX", "BYTES_READ") + self.total("STDIO", "BYTES_READ")
        names = self.facts.names
        counted: dict[Role, int] = {}
        out = []
        for number, (key, rows) in enumerate(zip(keys, _rows_by(family, len(keys)), strict=True)):
            pattern = str(key[0]) if len(key) == 1 else ""
            role = naming.role_of_names([names[row] for row in rows.tolist()]) if pattern else None
            role = role or _role_by_use(bool(written[rows].any()), bool(read[rows].any()))
            counted[role] = counted.get(role, 0) + 1
            out.append(Family(number, f"{role.value} {counted[role]}", pattern, role, len(rows)))
        return out

    def families_of(self, which: BoolArray) -> tuple[int, ...]:
        """The numbers of the families of some files."""
        return tuple(np.unique(self.family[which]).tolist())

    @cached_property
    def extent(self) -> FloatArray:
        """float64[N], bytes from the start of a file to the last one that POSIX or STDIO touched."""
        ends = [
            self.largest(module, f"MAX_BYTE_{kind}")
            for module in ("POSIX", "STDIO")
            for kind in ("READ", "WRITTEN")
        ]
        out: FloatArray = np.maximum.reduce(ends) + 1
        return out

    @cached_property
    def attribute_calls(self) -> FloatArray:
        """float64[N], HDF5 attributes that were created, opened or written, by the logs' side files; 0 without them."""
        found: dict[str, int] = {}
        for log in self.logs:
            for name, count in read_side_file(log.path, []).attribute_calls.items():
                found[name] = found.get(name, 0) + count
        return np.array([found.get(name, 0) for name in self.facts.names], dtype=np.float64)

    @cached_property
    def conflicts(self) -> JobConflicts | None:
        """Overlapping accesses of ranks; None where no trace tells who accessed what."""
        rows = {number: row for row, number in enumerate(self.facts.record_ids.tolist())}
        own = self.own
        return conflicts_of(
            self.logs, lambda number: number in rows and bool(own[rows[number]]), self.warnings
        )

    def family_of_record(self, number: int) -> int:
        """The number of the family of a file, by its record id."""
        return int(self.family[np.flatnonzero(self.facts.record_ids == np.uint64(number))[0]])

    def is_partial(self, *modules: str) -> bool:
        return any(module in self.facts.partial_modules for module in modules)


def _rows_by(group: IntArray, groups: int) -> list[IntArray]:
    order = np.argsort(group, kind="stable")
    cuts = np.searchsorted(group[order], np.arange(1, groups))
    return np.split(order, cuts) if groups else []


def _role_by_use(written: bool, read: bool) -> Role:
    if written:
        return Role.OTHER if read else Role.OUTPUT
    return Role.INPUT if read else Role.OTHER


def read_job(logs: Sequence[Log]) -> Job:
    """The job of some logs.

    Raises:
        WorkalikeError: as `job_of`, and as the log's reader where a region is damaged.
    """
    warnings: list[str] = []
    members = job_of(logs)
    facts = gather(members, warnings)
    warnings = [*members.warnings, *dict.fromkeys(warnings)]
    ids = {log.job.job_id for log in logs}
    programs = {log.job.exe.split(" ")[0] for log in logs}
    if len(ids) > 1:
        programs_text = f" of {len(programs)} programs" if len(programs) > 1 else ""
        warnings.append(
            f"{len(logs)} logs have {len(ids)} job numbers{programs_text}: are they of one job? They are taken as one"
        )
    for log in logs:
        if log.job.end_time < log.job.start_time:
            warnings.append("the job's clock runs backwards: its run time is not what the log's header says")
    backwards = _backwards(facts)
    if backwards:
        warnings.append(
            f"{backwards} records end before they start: their clocks ran backwards; their spans are not used"
        )
    beyond = _beyond(facts)
    if beyond:
        warnings.append(
            f"{beyond} timers exceed ranks x run time (threads?): those far beyond it count as not measured"
        )
    return Job(facts, logs, members, warnings)


def _beyond(facts: Facts) -> int:
    """Timers that exceed what the ranks of their record can have spent."""
    count = 0
    for name in DATA_MODULES:
        table = facts.modules.get(name)
        if table is None or not len(table):
            continue
        members = np.where(table.ranks < 0, np.where(table.members > 0, table.members, facts.nprocs), 1)
        for kind in ("READ", "WRITE", "META"):
            values = table.fcounters[:, table.fcounter_names.index(f"F_{kind}_TIME")]
            count += int(np.count_nonzero(values > 1.5 * members * facts.run_time))
    return count if facts.run_time > 0 else 0


def _backwards(facts: Facts) -> int:
    """Records whose last operation of a kind ended before the first one began."""
    count = 0
    for name in DATA_MODULES:
        table = facts.modules.get(name)
        if table is None or not len(table):
            continue
        for kind in ("READ", "WRITE"):
            places = [table.fcounter_names.index(f"F_{kind}_{edge}_TIMESTAMP") for edge in ("START", "END")]
            start, end = table.fcounters[:, places[0]], table.fcounters[:, places[1]]
            count += int(np.count_nonzero((start > 0) & (end > 0) & (end < start)))
    return count
