"""Logs -> facts: all records of one file brought together, several logs of one job merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workalike.capture.side_file import stdio_sizes
from workalike.darshan import Log, LustreTable, RecordTable
from workalike.facts.columns import DIRECTIONS, CallColumns, Facts, IdArray, RecordColumns
from workalike.facts.jobs import JobFacts, Member, job_of
from workalike.facts.plausible import plausible
from workalike.facts.records import FloatArray, IntArray

FILE_MODULES = ("POSIX", "STDIO", "MPI-IO", "H5F", "PNETCDF_FILE")
OBJECT_MODULES = ("H5D", "PNETCDF_VAR")

_Call = tuple[int, int, int, int, int]  # file, rank, direction, operations, size


def facts_of(logs: Sequence[Log]) -> Facts:
    """The facts of the logs of one job.

    Raises:
        WorkalikeError: as `job_of`, and as the log's reader where a region is damaged.
    """
    return gather(job_of(logs), [])


def gather(job: JobFacts, warnings: list[str]) -> Facts:
    """Every file of the job's logs, once, with what each module says of it.

    Processes of several logs become ranks one after the other, in order of their start; their
    timestamps are shifted by the difference of the starts. `warnings` is told of what cannot be true.
    """
    found = _Found()
    for member in job.members:
        several = len(job.members) > 1
        for module in FILE_MODULES + OBJECT_MODULES:
            table = member.log.records(module)
            if table is not None and len(table):
                found.add_records(member, module, table, several, warnings)
        found.add_stripes(member.log)
        found.add_sizes(member, warnings)
    return found.facts(job)


@dataclass
class _Found:
    """What has been gathered so far; a file's row is the order in which it was first seen."""

    rows: dict[int, int] = field(default_factory=dict)  # record id -> row of the file
    names: list[str] = field(default_factory=list)
    stripes: dict[int, tuple[int, int]] = field(default_factory=dict)
    chunks: dict[str, list[RecordColumns]] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)

    def add_records(
        self, member: Member, module: str, table: RecordTable, several: bool, warnings: list[str]
    ) -> None:
        log = member.log
        keys = table.ids if module in FILE_MODULES else _file_ids(log, table)
        # Of a dataset whose file is not known, the levels below tell.
        known = np.arange(len(table)) if module in FILE_MODULES else np.flatnonzero(keys)
        order = known[np.argsort(keys[known], kind="stable")]
        counters, doubted = plausible(table.counters, table.counter_names)
        if counters is not table.counters:
            warnings.append(f"module {table.module}: some counters cannot be true, taken as not measured")
        ranks, fcounters = table.ranks[order], table.fcounters[order]
        scope = (0, -1)
        if several:
            ranks, fcounters = _moved(ranks, fcounters, table.fcounter_names, member)
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
        """The files' rows for sorted record ids."""
        different, which = np.unique(keys, return_inverse=True)
        rows = []
        for number in different.tolist():
            row = self.rows.setdefault(number, len(self.names))
            if row == len(self.names):
                self.names.append(log.names.get(number, ""))
            rows.append(row)
        return np.array(rows, dtype=np.int64)[which]

    def add_stripes(self, log: Log) -> None:
        """Stripe size and count of each file that has one layout, from its first Lustre record.

        Of a progressive layout no one component stands for the file: the file system's default is nearer than its first one.
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

    def add_sizes(self, member: Member, warnings: list[str]) -> None:
        """The sizes of STDIO's calls, where a side file lies beside the log; a rank without any has one row of none."""
        told = stdio_sizes(member.log.path, warnings)
        if not told:
            return
        seen = {row for chunk in self.chunks.get("STDIO", []) for row in chunk.file.tolist()}
        known = {call[:2] for call in self.calls}
        for row, name in enumerate(self.names):
            for rank, sizes in told.get(name, {}).items() if row in seen else ():
                at = (row, rank + member.first_rank)
                if at in known:  # the later log has the last word
                    self.calls = [call for call in self.calls if call[:2] != at]
                rows = [
                    (*at, DIRECTIONS.index(direction), count, size)
                    for direction, pairs in sizes.items()
                    for count, size in pairs
                ]
                self.calls += rows or [(*at, 0, 0, 0)]

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
            modules={module: _joined(chunks) for module, chunks in self.chunks.items()},
            calls=CallColumns(*(calls[:, column] for column in range(5))),
            partial_modules=tuple(sorted({n for log in logs for n, m in log.modules.items() if m.partial})),
            skipped_modules=tuple(sorted({name for log in logs for name in log.skipped})),
        )


def _moved(
    ranks: IntArray, fcounters: FloatArray, names: tuple[str, ...], member: Member
) -> tuple[IntArray, FloatArray]:
    """Ranks and times of one log of several, in the whole job's terms."""
    moved: IntArray = np.where(ranks >= 0, ranks + member.first_rank, ranks)
    if member.nprocs == 1:  # a record "reduced over all ranks" of one process is that process' own
        moved = np.full_like(ranks, member.first_rank)
    fcounters = fcounters.copy()
    stamps = [i for i, name in enumerate(names) if name.endswith("_TIMESTAMP")]
    fcounters[:, stamps] = np.where(fcounters[:, stamps] > 0, fcounters[:, stamps] + member.shift_s, 0.0)
    return moved, fcounters


_ARRAYS = (
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
        for name in _ARRAYS
    }
    if (np.diff(arrays["file"]) < 0).any():
        order = np.argsort(arrays["file"], kind="stable")
        arrays = {name: array[order] for name, array in arrays.items()}
    return RecordColumns(first.module, first.counter_names, first.fcounter_names, **arrays)


def _file_ids(log: Log, table: RecordTable) -> npt.NDArray[np.uint64]:
    """The file of each dataset: stored since H5D version 2, else found by the dataset's name (docs/reference/darshan-format.md#record-head).

    0 where it is not known. Names of files and of datasets may hold colons: the longest file name wins.
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
