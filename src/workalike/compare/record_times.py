"""The timestamps and timers of many files' records in one module, as columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workalike.facts.records import FileFacts, FloatArray, IntArray, ModuleFacts

CALLS = ("OPEN", "READ", "WRITE", "CLOSE")


@dataclass(frozen=True)
class RecordTimes:
    """R records: `ranks` int64[R] (-1 is reduced), which stand for `members` int64[R] ranks from `first_rank` on.

    `values` float64[R, F] are seconds under `names`, as the log has them; `file` int64[R] is the place of the file.
    """

    ranks: IntArray
    first_rank: IntArray
    members: IntArray
    values: FloatArray
    names: tuple[str, ...]
    file: IntArray

    def has(self, name: str) -> bool:
        return name in self.names

    def raw(self, name: str) -> FloatArray:
        """float64[R], a column as the log has it."""
        return self.values[:, self.names.index(name)]

    def seconds(self, name: str) -> FloatArray:
        """float64[R]: 0 where the log has no such value, or none that is a positive number."""
        if name not in self.names:
            return np.zeros(len(self.ranks))
        column = self.raw(name)
        return np.where(np.isfinite(column) & (column > 0), column, 0.0)

    def first(self, calls: Iterable[str] = CALLS) -> FloatArray:
        """float64[R], the earliest start of some kinds of calls; infinite where there is none."""
        starts = np.array([self.seconds(f"F_{call}_START_TIMESTAMP") for call in calls])
        earliest: FloatArray = np.where(starts > 0, starts, np.inf).min(axis=0)
        return earliest

    def last(self, calls: Iterable[str] = CALLS) -> FloatArray:
        """float64[R], the latest end of some kinds of calls; 0 where there is none."""
        latest: FloatArray = np.array([self.seconds(f"F_{call}_END_TIMESTAMP") for call in calls]).max(axis=0)
        return latest


def times_in(files: Iterable[FileFacts], module: str) -> RecordTimes | None:
    """The records of files in one module; None where it saw none of them."""
    found = [
        (place, file, file.modules[module]) for place, file in enumerate(files) if module in file.modules
    ]
    if not found:
        return None
    lengths = [len(facts.ranks) for _, _, facts in found]
    ranks = np.concatenate([facts.ranks for _, _, facts in found])
    scopes = np.repeat([[0, file.nprocs] for _, file, _ in found], lengths, axis=0)
    if any(facts.scope is not None for _, _, facts in found):
        scopes = np.concatenate([_scope(file, facts) for _, file, facts in found])
    reduced = ranks < 0
    return RecordTimes(
        ranks,
        np.where(reduced, scopes[:, 0], ranks),
        np.where(reduced, scopes[:, 1], 1),
        np.concatenate([facts.fcounters for _, _, facts in found]),
        found[0][2].fcounter_names,
        np.repeat([place for place, _, _ in found], lengths),
    )


def _scope(file: FileFacts, facts: ModuleFacts) -> IntArray:
    """int64[R, 2], the first rank and the number of ranks of each record's log: of the job where it has one log."""
    return np.tile([0, file.nprocs], (len(facts.ranks), 1)) if facts.scope is None else facts.scope
