"""Processes of a job that use no file: they are no ranks of its workload, but what they ask of storage counts.

A script starts `rm`, `mv` and `test`, which open nothing, but ask for the state of files and remove them. A rank of its
own for each would make a replica of many processes that do next to nothing: the first rank that uses the file, or the
first of all, asks in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workalike.facts.records import FileFacts, ModuleFacts

STATS = "STATS"


def with_calls_of_idle(files: Sequence[FileFacts], of_all: Sequence[FileFacts]) -> list[FileFacts]:
    """The files of the active processes, with the stats and removals that all processes made of them.

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
    missing = all_posix.total(STATS) - posix.total(STATS)
    if missing <= 0:
        return file
    first = max(0, int(posix.column(STATS)[0]))
    return replace(file, modules=file.modules | {"POSIX": _with_stats(posix, first + missing)})


def _of_first_rank(file: FileFacts) -> FileFacts:
    """A file that no active process uses: idle ones asked for its state."""
    return replace(file, modules={name: _of_one_rank(facts) for name, facts in file.modules.items()})


def _of_one_rank(facts: ModuleFacts) -> ModuleFacts:
    """The module's first record, as one of the first rank, with the stats of all."""
    first = facts.rows(np.array([0]))
    return replace(_with_stats(first, facts.total(STATS)), ranks=np.zeros(1, dtype=np.int64), scope=None)


def _with_stats(facts: ModuleFacts, stats: int) -> ModuleFacts:
    """The module, whose first record has that many stats."""
    if STATS not in facts.counter_names:
        return facts
    counters = facts.counters.copy()
    counters[0, facts.counter_names.index(STATS)] = stats
    return replace(facts, counters=counters)
