"""Which ranks have a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workalike.facts.counters import NOT_OPENS
from workalike.facts.records import MODULE_OF_LEVEL, BoolArray, FileFacts, IntArray, ModuleFacts
from workalike.workload.words import Level

MOVED = ("BYTES_READ", "BYTES_WRITTEN")


@dataclass(frozen=True)
class RankSet:
    """The ranks that have a file; None stands for all ranks of the job."""

    ranks: tuple[int, ...] | None

    def size(self, nprocs: int) -> int:
        return nprocs if self.ranks is None else len(self.ranks)


def active_ranks(files: Iterable[FileFacts]) -> set[int]:
    """The ranks that opened one of the files or moved its data; of a reduced record, all that it stands for."""
    out: set[int] = set()
    for file in files:
        for facts in file.modules.values():
            opens, _, moved = _calls(facts)
            out.update(facts.ranks[(opens + moved > 0) & (facts.ranks >= 0)].tolist())
            reduced = np.flatnonzero(facts.ranks < 0)
            scopes = [(0, file.nprocs)] if facts.scope is None else facts.scope[reduced].tolist()
            for first, members in scopes if len(reduced) else []:
                out.update(range(first, first + members))
    return out


def _calls(facts: ModuleFacts) -> IntArray:
    """int64[3, records]: opens, how many of them are copies of a descriptor, and bytes moved."""
    opens, copies, moved = np.zeros((3, len(facts.ranks)), dtype=np.int64)
    for name in facts.counter_names:
        if name in MOVED:
            moved += np.maximum(facts.column(name), 0)
        elif name in NOT_OPENS.get(facts.module, ()):
            copies += np.maximum(facts.column(name), 0)
        elif name.endswith("OPENS"):
            opens += np.maximum(facts.column(name), 0)
    return np.stack([opens, copies, moved])


def _uses(facts: ModuleFacts) -> BoolArray:
    """bool[records]: whether a record's rank opened the file or moved its data.

    A rank that opened it for another, which inherited the descriptor and moved the data, does not: the other one does.
    """
    opens, copies, moved = _calls(facts)
    own = np.maximum(opens - copies, 0)
    inherited = (moved > 0) & (own == 0)
    if inherited.any() and (facts.ranks >= 0).all() and own.sum() <= np.count_nonzero(moved):
        return np.asarray(moved > 0)
    return np.asarray((opens > 0) | (moved > 0))


def ranks_of(file: FileFacts, level: Level) -> RankSet:
    """The ranks that use the file; where none does, those that have a record of it.

    A reduced record stands for all ranks of its log (docs/reference/darshan-meaning.md#shared-file-reduction).
    """
    facts = file.modules.get(MODULE_OF_LEVEL[level])
    if facts is None:
        return RankSet(None)
    if len(facts.ranks) == 1 and facts.scope is None:  # a log may have thousands of files of one record
        rank = facts.ranks.item(0)
        return RankSet((max(rank, 0),)) if rank >= 0 or file.nprocs == 1 else RankSet(None)
    reduced = facts.ranks < 0
    uses = _uses(facts)
    ranks = set(facts.ranks[~reduced & (uses if uses.any() else True)].tolist())
    if reduced.any():
        if file.nprocs == 1:
            return RankSet((0,))
        if facts.scope is None:
            return RankSet(None)
        for first, members in np.unique(facts.scope[reduced], axis=0).tolist():
            ranks.update(range(first, first + members))
    if len(ranks) == file.nprocs and file.nprocs > 1:
        return RankSet(None)
    return RankSet(tuple(sorted(ranks)))
