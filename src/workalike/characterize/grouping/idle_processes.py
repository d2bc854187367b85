"""Processes of a job that use no file: they are no ranks of its workload, but what they ask of storage counts.

A script starts `rm`, `mv` and `test`, which open nothing, but ask for the state of files, rename and remove them. A rank
of its own for each would make a replica of many processes that do next to nothing: the first rank that uses the file, or
the first of all, asks in their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS

ASKED = ("STATS", "RENAME_SOURCES")
"""What POSIX counts of a process that opens nothing."""


def with_calls_of_idle(files: Sequence[FileFacts], of_all: Sequence[FileFacts]) -> list[FileFacts]:
    """The files of the active processes, with the stats, renames and removals that all processes made of them.

    `of_all` has the files as all processes use them. Those that only idle processes name follow the others.
    """
    used = {file.record_id: file for file in files}
    return [
        _as_by_all(used[file.record_id], file) if file.record_id in used else _of_first_rank(file)
        for file in of_all
    ]


def _as_by_all(file: FileFacts, by_all: FileFacts) -> FileFacts:
    file = replace(file, removals=by_all.removals)
    posix, all_posix = file.modules.get("POSIX"), by_all.modules.get("POSIX")
    if all_posix is None:
        return file
    if posix is None:
        return replace(file, modules=file.modules | {"POSIX": _of_one_rank(all_posix)})
    first = {
        name: max(0, int(posix.column(name)[0])) + all_posix.total(name) - posix.total(name)
        for name in ASKED
        if name in posix.counter_names and all_posix.total(name) > posix.total(name)
    }
    return replace(file, modules=file.modules | {"POSIX": _with_counts(posix, first)}) if first else file


def _of_first_rank(file: FileFacts) -> FileFacts:
    """A file that no active process uses: idle ones asked for its state."""
    return replace(file, modules={name: _of_one_rank(facts) for name, facts in file.modules.items()})


def _of_one_rank(facts: ModuleFacts) -> ModuleFacts:
    """The module's first record, as one of the first rank, with the stats and renames of all."""
    sums = {name: facts.total(name) for name in ASKED if name in facts.counter_names}
    first = _with_counts(facts.rows(np.array([0])), sums)
    return replace(first, ranks=np.zeros(1, dtype=np.int64), scope=None)


def _with_counts(facts: ModuleFacts, counts: Mapping[str, int]) -> ModuleFacts:
    """The module, whose first record has these counts."""
    counters = facts.counters.copy()
    for name, count in counts.items():
        counters[0, facts.counter_names.index(name)] = min(count, THRESHOLDS.plausible_else)
    return replace(facts, counters=counters)
