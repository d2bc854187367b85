"""Which ranks have a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workalike.facts.records import MODULE_OF_LEVEL, FileFacts
from workalike.workload.words import Level

ACTIVE = ("BYTES_READ", "BYTES_WRITTEN")


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
            calls = np.zeros(len(facts.ranks), dtype=np.int64)
            for name in facts.counter_names:
                if name in ACTIVE or name.endswith("OPENS"):
                    calls += np.maximum(facts.column(name), 0)
            out.update(facts.ranks[(calls > 0) & (facts.ranks >= 0)].tolist())
            reduced = np.flatnonzero(facts.ranks < 0)
            scopes = [(0, file.nprocs)] if facts.scope is None else facts.scope[reduced].tolist()
            for first, members in scopes if len(reduced) else []:
                out.update(range(first, first + members))
    return out


def ranks_of(file: FileFacts, level: Level) -> RankSet:
    """The ranks that have a record of the file.

    A reduced record stands for all ranks of its log (docs/reference/darshan-meaning.md#shared-file-reduction).
    """
    facts = file.modules.get(MODULE_OF_LEVEL[level])
    if facts is None:
        return RankSet(None)
    reduced = facts.ranks < 0
    ranks = set(facts.ranks[~reduced].tolist())
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
