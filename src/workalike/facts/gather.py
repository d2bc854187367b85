"""Logs -> facts: all records of a file brought together, over all logs of the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workalike.capture.side_file import MAX_COUNT, ProcessTime, read_side_file
from workalike.darshan import Log, LustreTable, RecordTable
from workalike.facts.columns import DIRECTIONS, CallColumns, Facts, IdArray, RecordColumns
from workalike.facts.contradictions import contradictions_in
from workalike.facts.jobs import JobFacts, Member, job_of
from workalike.facts.noise import is_noise_by_name
from workalike.facts.plausible import impossible_times, latest_stamp, plausible, unknown_rows
from workalike.facts.records import FloatArray, IntArray
from workalike.text import plural

FILE_MODULES = ("POSIX", "STDIO", "MPI-IO", "H5F", "PNETCDF_FILE")
OBJECT_MODULES = ("H5D", "PNETCDF_VAR")
AMOUNT_MODULES = ("POSIX", "STDIO", "MPI-IO")
"""Modules whose counters say what reached a file, and how."""

_Call = tuple[int, int, int, int, int]  # file, rank, direction, operations, size


def facts_of(logs: Sequence[Log]) -> Facts:
    """The facts of the logs of one job.

    Raises:
        WorkalikeError: as `job_of`, and as the log's reader where a region is damaged.
    """
    return gather(job_of(logs))


def gather(job: JobFacts, doubts: list[str] | None = None) -> Facts:
    """Every file of the job once, with what each module says of it.

    The processes of several logs become ranks one after the other, in the order of the logs' starts. Timestamps are
    shifted by the difference of the starts.

    Args:
        job: the job's logs.
        doubts: gets a line for values that cannot be true, alone or together; None: they are not looked for together,
            which takes as long as half of the facts of a small log.
    """
    warnings = [] if doubts is None else doubts
    found = _Found(job.run_time)
    for member in job.members:
        several = len(job.members) > 1
        for module in FILE_MODULES + OBJECT_MODULES:
            table = member.log.records(module)
            if table is not None and len(table):
                found.add_records(member, module, table, several, warnings)
        found.add_stripes(member.log)
        found.add_side_file(member, warnings)
    facts = found.facts(job)
    if doubts is not None:
        doubts += contradictions_in(facts)
    return facts


@dataclass
class _Found:
    """What has been gathered so far. A file's row number is the order in which it was first seen."""

    run_time: float
    rows: dict[int, int] = field(default_factory=dict)  # record id -> row of the file
    names: list[str] = field(default_factory=list)
    stripes: dict[int, tuple[int, int]] = field(default_factory=dict)
    truncations: Counter[int] = field(default_factory=Counter)
    removals: Counter[int] = field(default_factory=Counter)
    counts_removals: bool = False  # a log of ours that counts them: what it does not report was not removed
    chunks: dict[str, list[RecordColumns]] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    processes: list[ProcessTime] = field(default_factory=list)
    libraries: dict[str, str] = field(
        default_factory=dict
    )  # name -> version; of two versions, the first log's
    unknown: Counter[str] = field(default_factory=Counter)  # module -> files with counters that are not known

    def add_records(
        self, member: Member, module: str, table: RecordTable, several: bool, warnings: list[str]
    ) -> None:
        log = member.log
        keys = table.ids if module in FILE_MODULES else _file_ids(log, table)
        # A dataset whose file is not known is left out: the levels below have its bytes.
        known = np.arange(len(table)) if module in FILE_MODULES else np.flatnonzero(keys)
        order = known[np.argsort(keys[known], kind="stable")]
        counters, doubted = plausible(table.counters, table.counter_names)
        if module in AMOUNT_MODULES and (counters < 0).any():
            lacking = unknown_rows(table.counters, counters, table.counter_names)
            self.unknown[module] += len(np.unique(keys[lacking]))
        if counters is not table.counters:
            warnings.append(f"module {table.module}: impossible counters are treated as not measured")
        latest = latest_stamp(self.run_time - member.shift_s)
        if impossible_times(table.fcounters, table.fcounter_names, latest):
            warnings.append(f"module {table.module}: impossible timestamps are treated as not measured")
        ranks, fcounters = table.ranks[order], table.fcounters[order]
        scope = (0, -1)
        if several:
            ranks, fcounters = _in_job_terms(ranks, fcounters, table.fcounter_names, member)
            scope = (member.first_rank, member.nprocs)
        self.chunks.setdefault(module, []).append(
            RecordColumns(
                module,
                table.counter_names,
                table.fcounter_names,
                self._rows_of(keys[order], log),
                table.ids[order],
                ranks,
                counters[order],
                fcounters,
                np.full(len(order), scope[0]),
                np.full(len(order), scope[1]),
                doubted[order],
                np.full(len(order), log.modules[module].partial),
            )
        )

    def _rows_of(self, keys: IdArray, log: Log) -> IntArray:
        """int64: the row of each file, new ones at the end; `keys` are sorted record ids."""
        distinct, inverse = np.unique(keys, return_inverse=True)
        rows = []
        for number in distinct.tolist():
            row = self.rows.setdefault(number, len(self.names))
            if row == len(self.names):
                self.names.append(log.names.get(number, ""))
            rows.append(row)
        return np.array(rows, dtype=np.int64)[inverse]

    def add_stripes(self, log: Log) -> None:
        """Stripe size and count of each file that has one layout, from its first Lustre record.

        A progressive layout has no single size and count: there the file system's default is a better guess.
        """
        table = log.lustre()
        ids = table.ids.tolist() if isinstance(table, LustreTable) else [record.id for record in table]
        for place, number in enumerate(ids):
            row = self.rows.get(number)
            if row is not None and row not in self.stripes:
                record = table[place]
                whole = len(record.components) == 1 and record.components[0].extent_end == -1
                if whole and record.stripe_size > 0 and record.stripe_count > 0:
                    self.stripes[row] = (record.stripe_size, record.stripe_count)

    def add_side_file(self, member: Member, warnings: list[str]) -> None:
        """The sizes of STDIO calls, the truncations and removals of files and the CPU times, where the log has a side file.

        A rank that the side file names without any call gets one row with no operations.
        """
        side = read_side_file(member.log.path, warnings)
        self.processes += side.processes
        self.libraries = side.libraries | self.libraries
        for row, name in enumerate(self.names) if side.truncations else ():
            self.truncations[row] = min(self.truncations[row] + side.truncations.get(name, 0), MAX_COUNT)
        ours = "workalike" in member.log.job.metadata.get("lib_ver", "")
        self.counts_removals |= ours and side.counts_removals
        for row, name in enumerate(self.names) if side.removals else ():
            self.removals[row] = min(self.removals[row] + side.removals.get(name, 0), MAX_COUNT)
        unseen = set(side.removals).difference(self.names)
        deleted = sum(side.removals[name] for name in unseen if not is_noise_by_name(name))
        if deleted:
            warnings.append(
                f"{plural(min(deleted, MAX_COUNT), 'deletion')} of files that the program did not open: a log has no "
                "record of them, so they are in no workload"
            )
        reported = side.stdio_sizes
        if not reported:
            return
        seen = {row for chunk in self.chunks.get("STDIO", []) for row in chunk.file.tolist()}
        known = {call[:2] for call in self.calls}
        for row, name in enumerate(self.names):
            for rank, sizes in reported.get(name, {}).items() if row in seen else ():
                file_and_rank = (row, rank + member.first_rank)
                if file_and_rank in known:  # the later log counts
                    self.calls = [call for call in self.calls if call[:2] != file_and_rank]
                rows = [
                    (*file_and_rank, DIRECTIONS.index(direction), count, size)
                    for direction, pairs in sizes.items()
                    for count, size in pairs
                ]
                self.calls += rows or [(*file_and_rank, 0, 0, 0)]

    def facts(self, job: JobFacts) -> Facts:
        stripes = np.zeros((len(self.names), 2), dtype=np.int64)
        for row, stripe in self.stripes.items():
            stripes[row] = stripe
        calls = np.array(self.calls, dtype=np.int64).reshape(-1, 5)
        logs = [member.log for member in job.members]
        return Facts(
            nprocs=job.nprocs,
            run_time=job.run_time,
            logs=len(logs),
            record_ids=np.array(list(self.rows), dtype=np.uint64),
            names=tuple(self.names),
            stripe_size=stripes[:, 0],
            stripe_count=stripes[:, 1],
            truncations=np.array([self.truncations[row] for row in range(len(self.names))], dtype=np.int64),
            removals=np.array(
                [self.removals[row] if self.counts_removals else -1 for row in range(len(self.names))],
                dtype=np.int64,
            ),
            modules={module: _joined(chunks) for module, chunks in self.chunks.items()},
            calls=CallColumns(*(calls[:, column] for column in range(5))),
            partial_modules=tuple(sorted({n for log in logs for n, m in log.modules.items() if m.partial})),
            skipped_modules=tuple(sorted({name for log in logs for name in log.skipped})),
            unreadable_modules=tuple(sorted({name for log in logs for name in log.unreadable})),
            cpu_share=_cpu_share(self.processes),
            libraries=self.libraries,
            unknown={module: files for module, files in self.unknown.items() if files},
        )


def _cpu_share(processes: Sequence[ProcessTime]) -> float | None:
    """The share of their run for which processes used a core or waited for one.

    On fewer cores than ranks a rank that never sleeps has a core for a part of the time only. A process with several busy
    threads counts as one that is always busy.
    """
    lives = [max(0.0, process.end - process.start) for process in processes]
    if sum(lives) <= 0:
        return None
    busy = (min(process.cpu + process.waited, life) for process, life in zip(processes, lives, strict=True))
    return round(sum(busy) / sum(lives), 2)


def _in_job_terms(
    ranks: IntArray, fcounters: FloatArray, names: tuple[str, ...], member: Member
) -> tuple[IntArray, FloatArray]:
    """The ranks and timestamps of one of several logs, as ranks and seconds of the whole job."""
    moved: IntArray = np.where(ranks >= 0, ranks + member.first_rank, ranks)
    if member.nprocs == 1:  # a record reduced over one process is that process's own
        moved = np.full_like(ranks, member.first_rank)
    fcounters = fcounters.copy()
    stamps = [i for i, name in enumerate(names) if name.endswith("_TIMESTAMP")]
    fcounters[:, stamps] = np.where(fcounters[:, stamps] > 0, fcounters[:, stamps] + member.shift_s, 0.0)
    return moved, fcounters


_RECORD_ARRAYS = (
    "file",
    "ids",
    "ranks",
    "counters",
    "fcounters",
    "first_rank",
    "members",
    "doubted",
    "partial",
)


def _joined(chunks: list[RecordColumns]) -> RecordColumns:
    """The records of a module in several logs, sorted by file."""
    first = chunks[0]
    arrays = {
        name: np.concatenate([getattr(chunk, name) for chunk in chunks])
        if len(chunks) > 1
        else getattr(first, name)
        for name in _RECORD_ARRAYS
    }
    if (np.diff(arrays["file"]) < 0).any():
        order = np.argsort(arrays["file"], kind="stable")
        arrays = {name: array[order] for name, array in arrays.items()}
    return RecordColumns(first.module, first.counter_names, first.fcounter_names, **arrays)


def _file_ids(log: Log, table: RecordTable) -> npt.NDArray[np.uint64]:
    """uint64[R], the record id of each dataset's file; 0 where it is not known.

    Records since H5D version 2 store it; older ones are found by the dataset's name, FILE:DATASET
    (docs/reference/darshan-format.md#record-head). Both parts may contain colons: the longest known file name is taken.
    """
    if table.file_ids is not None:
        return table.file_ids
    by_name = {name: number for number, name in log.names.items() if name}
    out = np.zeros(len(table), dtype=np.uint64)
    for row, number in enumerate(table.ids.tolist()):
        path = log.names.get(number, "")
        while ":" in path:
            path = path.rpartition(":")[0]
            if path in by_name:
                out[row] = by_name[path]
                break
    return out
