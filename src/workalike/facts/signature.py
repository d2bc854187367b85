"""Signatures, by which two runs of the same workload are recognised.

A job is a set of families. The signature of each has what hardly changes from run to run: interface, sharing, and the
numbers of ranks, files, bytes and operations in coarse steps. It contains no name and no time.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, fields

import numpy as np

from workalike.facts.file_table import FileTable
from workalike.workload.words import Interface, Level, SharingMode

STEPS_PER_DOUBLING = 4
"""Steps of a quantity: four per doubling, so that one step is about 19 %."""


@dataclass(frozen=True, order=True)
class FamilySignature:
    """One family. `ranks` is a number; `files` to `reads` are steps of `step_of`."""

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
        """A short form, the same for equal signatures."""
        return "/".join(map(str, astuple(self)))

    @classmethod
    def of_text(cls, text: str) -> FamilySignature:
        """The signature of a short form.

        Raises:
            ValueError: it is none.
        """
        interface, level, sharing, *numbers = text.split("/")
        if len(numbers) != len(fields(cls)) - 3:
            raise ValueError(f"no signature of a family: {text[:80]!r}")
        return cls(Interface(interface), Level(level), SharingMode(sharing), *map(int, numbers))


def step_of(quantity: int) -> int:
    """0 for nothing, else 1 and up. Quantities within about 19 % of each other are at most one step apart."""
    return 0 if quantity <= 0 else 1 + round(STEPS_PER_DOUBLING * math.log2(quantity))


def signature_of(table: FileTable, nprocs: int) -> tuple[FamilySignature, ...]:
    """The families of a job's data files, in a fixed order."""
    return tuple(family for family, _ in families_of(table, nprocs))


def families_of(table: FileTable, nprocs: int) -> list[tuple[FamilySignature, np.typing.NDArray[np.intp]]]:
    """The families of a job's data files, each with its rows of the table, in a fixed order.

    The files of a family agree in name pattern, interface, level and directions, and in whether all ranks share them.
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
    distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)  # NumPy 2.0, and no other version, gives it a second axis
    parts = [rows[inverse == number] for number in range(len(distinct))]
    found = [
        (_family(table, part, key.tolist(), nprocs), part) for part, key in zip(parts, distinct, strict=True)
    ]
    return sorted(found, key=lambda pair: pair[0])


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
    """How a family's files are shared, and by how many ranks in all."""
    ranks, single = table.ranks[rows], table.rank[rows]
    if nprocs == 1 or (ranks == nprocs).all():
        return SharingMode.SHARED, nprocs
    if (single >= 0).all():
        distinct = len(np.unique(single))
        return (SharingMode.ROOT, 1) if distinct == 1 else (SharingMode.PER_RANK, distinct)
    if len(rows) == 1:
        return SharingMode.SUBSET, int(ranks[0])
    return SharingMode.GROUPS, int(min(nprocs, ranks.sum()))


def alike(first: tuple[FamilySignature, ...], second: tuple[FamilySignature, ...]) -> bool:
    """Whether two runs are the same workload: the same families, with no quantity more than one step apart."""
    if len(first) != len(second):
        return False
    left = list(second)
    for family in first:
        match = next((f for f in left if _near(family, f)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _near(first: FamilySignature, second: FamilySignature) -> bool:
    same = (first.interface, first.level, first.sharing, first.ranks) == (
        second.interface,
        second.level,
        second.sharing,
        second.ranks,
    )
    return same and all(abs(a - b) <= 1 for a, b in zip(astuple(first)[4:], astuple(second)[4:], strict=True))
