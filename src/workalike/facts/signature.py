"""Signatures: what makes two runs "the same workload again".

A job is a set of families; of each, what hardly changes from run to run is kept in coarse steps: who shares its files,
through what, how many ranks, bytes and operations. No name and no time is in it.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np

from workalike.facts.file_table import FileTable
from workalike.workload.words import Interface, Level, SharingMode

STEPS_PER_DOUBLING = 4
"""Quantities are kept to about 19 %."""


@dataclass(frozen=True, order=True)
class FamilySignature:
    """One family; `ranks` as they are, `files` to `reads` in steps of `step_of`."""

    interface: Interface
    level: Level
    sharing: SharingMode
    ranks: int
    files: int
    bytes_written: int
    bytes_read: int
    writes: int
    reads: int

    def text(self) -> str:
        """A short form that two equal signatures share."""
        return "/".join(map(str, astuple(self)))


def step_of(quantity: int) -> int:
    """0 for nothing, else 1 and up: the same for quantities within about 19 %, but for those beside an edge."""
    return 0 if quantity <= 0 else 1 + round(STEPS_PER_DOUBLING * math.log2(quantity))


def signature_of(table: FileTable, nprocs: int) -> tuple[FamilySignature, ...]:
    """The families of a job's data files, in a fixed order.

    A family is the files of one pattern of name, interface, level and directions, shared by all ranks or not.
    """
    rows = np.flatnonzero(table.data)
    level = np.where(
        table.bytes_written[rows] >= table.bytes_read[rows],
        table.written_level[rows],
        table.read_level[rows],
    )
    keys = np.stack(
        [
            table.pattern_number[rows],
            table.interface[rows],
            level,
            table.bytes_written[rows] > 0,
            table.bytes_read[rows] > 0,
            table.ranks[rows] == nprocs,
        ],
        axis=1,
    )
    different, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.reshape(-1)  # NumPy 2.0 alone gives it a second axis
    return tuple(
        sorted(
            _family(table, rows[which == number], key.tolist(), nprocs)
            for number, key in enumerate(different)
        )
    )


def _family(
    table: FileTable, rows: np.typing.NDArray[np.intp], key: list[int], nprocs: int
) -> FamilySignature:
    sharing, ranks = _sharing(table, rows, nprocs)
    return FamilySignature(
        interface=list(Interface)[key[1]],
        level=list(Level)[key[2]],
        sharing=sharing,
        ranks=ranks,
        files=step_of(len(rows)),
        bytes_written=step_of(int(table.bytes_written[rows].sum())),
        bytes_read=step_of(int(table.bytes_read[rows].sum())),
        writes=step_of(int(table.writes[rows].sum())),
        reads=step_of(int(table.reads[rows].sum())),
    )


def _sharing(table: FileTable, rows: np.typing.NDArray[np.intp], nprocs: int) -> tuple[SharingMode, int]:
    """How a family's files are shared, and by how many ranks."""
    ranks, single = table.ranks[rows], table.rank[rows]
    if nprocs == 1 or (ranks == nprocs).all():
        return SharingMode.SHARED, nprocs
    if (single >= 0).all():
        different = len(np.unique(single))
        return (SharingMode.ROOT, 1) if different == 1 else (SharingMode.PER_RANK, different)
    if len(rows) == 1:
        return SharingMode.SUBSET, int(ranks[0])
    return SharingMode.GROUPS, int(min(nprocs, ranks.sum()))


def alike(one: tuple[FamilySignature, ...], other: tuple[FamilySignature, ...]) -> bool:
    """Whether two runs are the same workload: the same families, no quantity more than a step apart."""
    if len(one) != len(other):
        return False
    left = list(other)
    for family in one:
        match = next((f for f in left if _near(family, f)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _near(one: FamilySignature, other: FamilySignature) -> bool:
    same = (one.interface, one.level, one.sharing, one.ranks) == (
        other.interface,
        other.level,
        other.sharing,
        other.ranks,
    )
    return same and all(abs(a - b) <= 1 for a, b in zip(astuple(one)[4:], astuple(other)[4:], strict=True))
