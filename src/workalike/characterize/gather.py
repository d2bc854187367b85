"""Logs -> files: all records of one file brought together, several logs of one job merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from workalike.characterize.facts import FileFacts, IntArray, ModuleFacts
from workalike.darshan import Log, RecordTable

FILE_MODULES = ("POSIX", "STDIO", "MPI-IO", "H5F", "PNETCDF_FILE")
OBJECT_MODULES = ("H5D", "PNETCDF_VAR")


def gather_files(logs: Sequence[Log]) -> list[FileFacts]:
    """Every file of the logs, once, with what each module says of it.

    Processes of several logs become ranks one after the other, in order of their start; their
    timestamps are shifted by the difference of the starts.
    """
    ordered = sorted(logs, key=lambda log: log.job.start_time)
    begin = ordered[0].job.start_time
    files: dict[int, FileFacts] = {}
    first_rank = 0
    total = sum(log.job.nprocs for log in ordered)
    for log in ordered:
        for record_id, facts in _module_rows(log):
            if len(ordered) > 1:
                facts = _moved(facts, first_rank, log.job.start_time - begin, log.job.nprocs)
            file = files.get(record_id)
            if file is None:
                name = log.names.get(record_id, "")
                file = files[record_id] = FileFacts(record_id, name, total)
            known = file.modules.get(facts.module)
            file.modules[facts.module] = facts if known is None else _joined(known, facts)
        first_rank += log.job.nprocs
    return list(files.values())


def _module_rows(log: Log) -> Iterator[tuple[int, ModuleFacts]]:
    for module in FILE_MODULES + OBJECT_MODULES:
        table = log.records(module)
        if table is None or len(table) == 0:
            continue
        partial = log.modules[module].partial
        keys = table.ids if module in FILE_MODULES else _file_ids(log, table)
        yield from _split(table, keys, module, partial)


def _split(
    table: RecordTable, keys: npt.NDArray[np.uint64], module: str, partial: bool
) -> Iterator[tuple[int, ModuleFacts]]:
    """One ModuleFacts a key, rows in the order of the log."""
    order = np.argsort(keys, kind="stable")
    bounds = np.flatnonzero(np.diff(keys[order])) + 1
    for rows in np.split(order, bounds):
        key = int(keys[rows[0]])
        if key:
            yield (
                key,
                ModuleFacts(
                    module,
                    table.ids[rows],
                    table.ranks[rows],
                    table.counters[rows],
                    table.fcounters[rows],
                    table.counter_names,
                    table.fcounter_names,
                    partial,
                ),
            )


def _file_ids(log: Log, table: RecordTable) -> npt.NDArray[np.uint64]:
    """The file of each dataset: stored since H5D version 2, else found by the dataset's name (facts A3)."""
    if table.file_ids is not None:
        return table.file_ids
    by_name = {name: number for number, name in log.names.items()}
    out = np.zeros(len(table), dtype=np.uint64)
    for row, number in enumerate(table.ids.tolist()):
        path = log.names.get(number, "").rsplit(":", 1)[0]
        out[row] = by_name.get(path, 0)
    return out


def _moved(facts: ModuleFacts, first_rank: int, shift: float, nprocs: int) -> ModuleFacts:
    """The rows of one log of several: ranks and timestamps in the whole job's terms."""
    ranks: IntArray = np.where(facts.ranks >= 0, facts.ranks + first_rank, facts.ranks)
    if nprocs == 1:  # a record "reduced over all ranks" of one process is that process' own
        ranks = np.full_like(facts.ranks, first_rank)
    fcounters = facts.fcounters.copy()
    stamps = [i for i, name in enumerate(facts.fcounter_names) if name.endswith("_TIMESTAMP")]
    fcounters[:, stamps] = np.where(fcounters[:, stamps] > 0, fcounters[:, stamps] + shift, fcounters[:, stamps])
    return ModuleFacts(
        facts.module,
        facts.ids,
        ranks,
        facts.counters,
        fcounters,
        facts.counter_names,
        facts.fcounter_names,
        facts.partial,
    )


def _joined(a: ModuleFacts, b: ModuleFacts) -> ModuleFacts:
    return ModuleFacts(
        a.module,
        np.concatenate([a.ids, b.ids]),
        np.concatenate([a.ranks, b.ranks]),
        np.concatenate([a.counters, b.counters]),
        np.concatenate([a.fcounters, b.fcounters]),
        a.counter_names,
        a.fcounter_names,
        a.partial or b.partial,
    )
