"""Rows of a workload's operation table at the ranks and the scale of a plan (docs/reference/terms.md#scaling)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.dump_scale import FamilyScale
from workalike.plan.plan_schema import Plan, PlanContent, Ranges
from workalike.workload.model import SharingMode
from workalike.workload.operation_table import OperationTable, joined

if TYPE_CHECKING:
    from workalike.workload.operation_table import IntArray

EXACT = 2**31
"""Numerators and denominators below it scale offsets within 64 bits."""


@dataclass(frozen=True)
class Members:
    """The ranks that take part in a family, and over how many files they are spread."""

    ranks: IntArray
    mode: SharingMode
    files: int

    @classmethod
    def in_job(cls, ranges: Ranges | None, ranks: int, mode: SharingMode, files: int) -> Members:
        """The members that are `ranges` of a job of `ranks` ranks."""
        import numpy as np

        if ranges is None or ranges == "all":
            members = np.arange(ranks, dtype=np.int64)
        else:
            members = np.concatenate([np.arange(a, b + 1, step) for a, b, step in ranges]).astype(np.int64)
        return cls(members, mode, files)

    def file_of(self, member: IntArray) -> IntArray:
        """The file of each member, by its place among the members."""
        import numpy as np

        if self.mode is SharingMode.PER_RANK:
            return member
        if self.mode is not SharingMode.GROUPS:
            return np.zeros_like(member)
        small, larger = divmod(len(self.ranks), self.files)
        return np.where(
            member < larger * (small + 1),
            member // (small + 1),
            larger + (member - larger * (small + 1)) // max(1, small),
        )


def at_scale(rows: OperationTable, scale: FamilyScale) -> OperationTable:
    """The rows of a family at the ranks and the bytes of its plan.

    Raises:
        WorkalikeError: as `at_ranks`.
    """
    old, new = scale.family.sharing, scale.sharing
    before = Members.in_job(old.ranks, scale.old_ranks, old.mode, old.files)
    after = Members.in_job(new.ranks, scale.ranks, new.mode, new.files)
    moved = at_ranks(rows, before, after, weak=scale.options.scaling == "weak")
    return at_bytes(moved, scale.options.bytes_scale)


def at_ranks(rows: OperationTable, before: Members, after: Members, weak: bool) -> OperationTable:
    """The rows on the ranks of a plan.

    Under weak scaling the first members keep their rows, and the others are left out. Under strong scaling each rank
    performs the rows of a block of members, in the order of the log. Files that become one file follow each other in it.
    On more ranks, each member's rows are performed by one rank, and the other ranks are idle.

    Raises:
        WorkalikeError: USAGE for weak scaling to more ranks than the workload has.
    """
    import numpy as np

    if weak and len(after.ranks) > len(before.ranks):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"an operation table of {len(before.ranks)} ranks has no operations for {len(after.ranks)}",
            hint="use strong scaling, or characterize with --no-tables, which describes operations by rules",
        )
    place = np.searchsorted(before.ranks, rows.ranks)
    if len(after.ranks) == len(before.ranks):
        return replace(rows, ranks=after.ranks[place])
    if weak:
        kept = rows.chosen(place < len(after.ranks))
        return replace(kept, ranks=after.ranks[np.searchsorted(before.ranks, kept.ranks)])
    new = place * len(after.ranks) // len(before.ranks)
    old_file, new_file = before.file_of(place), after.file_of(new)
    shifts = _shifts(rows.offsets + rows.lengths, old_file, new_file)
    return replace(rows, ranks=after.ranks[new], offsets=rows.offsets + shifts)


def _shifts(ends: IntArray, old_file: IntArray, new_file: IntArray) -> IntArray:
    """Where the old file of each row begins in its new file: after the earlier old files there."""
    import numpy as np

    pairs, which = np.unique(np.stack([new_file, old_file]), axis=1, return_inverse=True)
    which = which.reshape(-1)
    extents = np.zeros(pairs.shape[1], dtype=np.int64)
    np.maximum.at(extents, which, ends)
    begins = np.cumsum(extents) - extents
    first = np.diff(pairs[0], prepend=-1) != 0
    begins -= np.maximum.accumulate(np.where(first, begins, 0))
    out: IntArray = begins[which]
    return out


def at_bytes(rows: OperationTable, factor: Fraction) -> OperationTable:
    """The rows with all offsets and ends times a factor, rounded down, so that what was consecutive stays so."""
    if factor == 1:
        return rows
    first, last = _times(rows.offsets, factor), _times(rows.offsets + rows.lengths, factor)
    return replace(rows, offsets=first, lengths=last - first)


def _times(values: IntArray, factor: Fraction) -> IntArray:
    import numpy as np

    if max(factor.numerator, factor.denominator) < EXACT and (
        factor <= 1 or int(values.max(initial=0)) < 2**62 / factor
    ):
        whole, rest = np.divmod(values, factor.denominator)
        out: IntArray = whole * factor.numerator + rest * factor.numerator // factor.denominator
        return out
    exact = [int(value) * factor.numerator // factor.denominator for value in values.tolist()]
    return np.array(exact, dtype=np.int64)


@dataclass
class PlanTable:
    """The operation table of a plan, to which contents add their rows."""

    parts: dict[int, OperationTable] = field(default_factory=dict)
    rows: int = 0

    def add(self, rows: OperationTable) -> tuple[int, int]:
        """Add rows, in order of rank; (first row, number of rows)."""
        first = self.rows
        self.parts[first] = rows.by_rank()
        self.rows += len(rows)
        return first, len(rows)

    def added(self, rows: tuple[int, int]) -> OperationTable:
        """Rows that were added together."""
        return self.parts[rows[0]]

    def finish(self, plan: Plan) -> Plan:
        """The plan with the table, under a name that follows from its content."""
        if not self.parts:
            return plan
        data = joined(list(self.parts.values())).for_plan()
        name = f"operations-{hashlib.sha256(data).hexdigest()[:16]}.rows"
        for content in plan.contents:
            _name_table(content, name)
        plan.tables[name] = data
        return plan


def _name_table(content: PlanContent, name: str) -> None:
    for stream in content.streams:
        if stream.rows is not None:
            stream.table = name
