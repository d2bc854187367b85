"""Logs -> files: all records of one file brought together, several logs of one job merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from workalike.capture.side_file import stdio_sizes
from workalike.darshan import Log, LustreTable, RecordTable
from workalike.facts.jobs import JobFacts, Member
from workalike.facts.plausible import plausible
from workalike.facts.records import FileFacts, IntArray, ModuleFacts

FILE_MODULES = ("POSIX", "STDIO", "MPI-IO", "H5F", "PNETCDF_FILE")
OBJECT_MODULES = ("H5D", "PNETCDF_VAR")


def gather_files(job: JobFacts, warnings: list[str]) -> list[FileFacts]:
    """Every file of the job's logs, once, with what each module says of it.

    Processes of several logs become ranks one after the other, in order of their start; their
    timestamps are shifted by the difference of the starts. `warnings` is told of what cannot be true.
    """
    files: dict[int, FileFacts] = {}
    for member in job.members:
        names = member.log.names
        for record_id, facts in _module_rows(member.log, warnings):
            if len(job.members) > 1:
                facts = _moved(facts, member)
            file = files.get(record_id)
            if file is None:
                file = files[record_id] = FileFacts(record_id, names.get(record_id, ""), job.nprocs)
            known = file.modules.get(facts.module)
            file.modules[facts.module] = facts if known is None else _joined(known, facts)
        _add_stripes(files, member.log)
        _add_sizes(files, member, warnings)
    return list(files.values())


def _module_rows(log: Log, warnings: list[str]) -> Iterator[tuple[int, ModuleFacts]]:
    for module in FILE_MODULES + OBJECT_MODULES:
        table = log.records(module)
        if table is None or len(table) == 0:
            continue
        partial = log.modules[module].partial
        rows = np.arange(len(table))
        if module in FILE_MODULES:
            keys = table.ids
        else:
            keys = _file_ids(log, table)
            rows = np.flatnonzero(keys)  # of a dataset whose file is not known, the levels below tell
        yield from _split(table, keys, rows, partial, warnings)


def _split(
    table: RecordTable,
    keys: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.intp],
    partial: bool,
    warnings: list[str],
) -> Iterator[tuple[int, ModuleFacts]]:
    """One ModuleFacts a key, rows in the order of the log."""
    counters, doubted = plausible(table.counters, table.counter_names)
    if counters is not table.counters:
        warnings.append(f"module {table.module}: some counters cannot be true, taken as not measured")
    order = rows[np.argsort(keys[rows], kind="stable")]
    bounds = np.flatnonzero(np.diff(keys[order])) + 1
    for which in np.split(order, bounds) if len(order) else []:
        yield (
            int(keys[which[0]]),
            ModuleFacts(
                table.module,
                table.ids[which],
                table.ranks[which],
                counters[which],
                table.fcounters[which],
                table.counter_names,
                table.fcounter_names,
                partial,
                bool(doubted[which].any()),
            ),
        )


def _file_ids(log: Log, table: RecordTable) -> npt.NDArray[np.uint64]:
    """The file of each dataset: stored since H5D version 2, else found by the dataset's name (facts A3).

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


def _moved(facts: ModuleFacts, member: Member) -> ModuleFacts:
    """The rows of one log of several: ranks and timestamps in the whole job's terms."""
    ranks: IntArray = np.where(facts.ranks >= 0, facts.ranks + member.first_rank, facts.ranks)
    if member.nprocs == 1:  # a record "reduced over all ranks" of one process is that process' own
        ranks = np.full_like(facts.ranks, member.first_rank)
    fcounters = facts.fcounters.copy()
    stamps = [i for i, name in enumerate(facts.fcounter_names) if name.endswith("_TIMESTAMP")]
    fcounters[:, stamps] = np.where(fcounters[:, stamps] > 0, fcounters[:, stamps] + member.shift_s, 0.0)
    scope = np.tile(np.array([member.first_rank, member.nprocs]), (len(ranks), 1))
    return replace(facts, ranks=ranks, fcounters=fcounters, scope=scope)


def _joined(a: ModuleFacts, b: ModuleFacts) -> ModuleFacts:
    return replace(
        a,
        ids=np.concatenate([a.ids, b.ids]),
        ranks=np.concatenate([a.ranks, b.ranks]),
        counters=np.concatenate([a.counters, b.counters]),
        fcounters=np.concatenate([a.fcounters, b.fcounters]),
        partial=a.partial or b.partial,
        doubted=a.doubted or b.doubted,
        scope=None if a.scope is None or b.scope is None else np.concatenate([a.scope, b.scope]),
    )


def _add_sizes(files: dict[int, FileFacts], member: Member, warnings: list[str]) -> None:
    """The sizes of STDIO's calls, where a side file lies beside the log."""
    told = stdio_sizes(member.log.path, warnings)
    for file in files.values() if told else []:
        stdio = file.modules.get("STDIO")
        if stdio is not None and file.name in told:
            more = {rank + member.first_rank: sizes for rank, sizes in told[file.name].items()}
            file.modules["STDIO"] = replace(stdio, sizes={**stdio.sizes, **more})


def _add_stripes(files: dict[int, FileFacts], log: Log) -> None:
    """Stripe size and count of each file that has one layout, from its first Lustre record.

    Of a progressive layout no one component stands for the file: the file system's default is nearer than its first one.
    """
    table = log.lustre()
    ids = table.ids.tolist() if isinstance(table, LustreTable) else [record.id for record in table]
    for row, number in enumerate(ids):
        file = files.get(number)
        if file is not None and file.stripe is None:
            record = table[row]
            whole = len(record.components) == 1 and record.components[0].extent_end == -1
            if whole and record.stripe_size > 0 and record.stripe_count > 0:
                file.stripe = (record.stripe_size, record.stripe_count)
