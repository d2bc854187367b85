"""What one record says of the order of its operations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workalike.facts.counters import STRIDE_COUNTS, STRIDES, bytes_name, kind_of
from workalike.facts.records import ModuleFacts
from workalike.workload.model import Direction

REACH = {Direction.READ: "MAX_BYTE_READ", Direction.WRITE: "MAX_BYTE_WRITTEN"}


@dataclass(frozen=True)
class Counts:
    """The order of one direction in one record."""

    operations: int
    ahead: int
    """Operations that leave bytes out."""
    next_to: int
    """Operations that begin where the one before ended."""
    reach: int
    """Bytes up to the last one that was accessed."""

    @property
    def back(self) -> int:
        """Operations that begin at or before the last byte of the one before; the first one of all is there at 0."""
        return self.operations - self.ahead - self.next_to


@dataclass(frozen=True)
class RecordCounts:
    """The order of a record of one rank.

    `gaps` are bytes, those of both directions; `all_gaps`: there are no others. Of those that are there once, a record
    names the largest: others are smaller than `rare_gap`, the smallest of them (0: there is none). `aligned` operations
    of both directions begin a block of `block` bytes; a block of 1: the record does not tell.
    """

    by_direction: dict[Direction, Counts]
    gaps: tuple[int, ...]
    all_gaps: bool
    rare_gap: int
    switches: int
    block: int
    aligned: int

    def all_back(self) -> RecordCounts:
        """The same numbers of operations and bytes, where each operation goes back."""
        back = {d: replace(counts, ahead=0, next_to=0) for d, counts in self.by_direction.items()}
        return replace(self, by_direction=back, gaps=(), all_gaps=True, rare_gap=0)


def counts_of(facts: ModuleFacts, row: int) -> RecordCounts | None:
    """The counts of one row of a module's records; None where they contradict each other.

    Source: docs/reference/darshan-meaning.md, on sequential, consecutive and strided operations.
    """

    def value(name: str) -> int:
        return int(facts.column(name)[row]) if facts.has(name) else -1

    found = {}
    for direction in Direction:
        kind = kind_of(direction)
        operations, sequential, next_to = (
            value(name) for name in (f"{kind}S", f"SEQ_{kind}S", f"CONSEC_{kind}S")
        )
        reach = value(REACH[direction]) + 1
        if not 0 <= next_to <= sequential <= operations or reach < 0:
            return None
        found[direction] = Counts(operations, sequential - next_to, next_to, reach if operations else 0)
    for direction, counts in found.items():
        if counts.operations and value(bytes_name(direction)) == 0:  # at places that no last byte tells
            anywhere = max(2 * counts.operations, *(other.reach for other in found.values()))
            found[direction] = replace(counts, reach=anywhere)
    strides = [(value(name), value(count)) for name, count in zip(STRIDES, STRIDE_COUNTS, strict=True)]
    known = [(gap, times) for gap, times in strides if gap > 0 and times > 0]
    ahead = sum(counts.ahead for counts in found.values())
    if sum(times for _, times in known) > ahead:
        return None
    gaps = tuple(gap for gap, times in sorted(known, reverse=True) for _ in range(times))
    block, not_aligned = value("FILE_ALIGNMENT"), value("FILE_NOT_ALIGNED")
    operations = sum(counts.operations for counts in found.values())
    knows_blocks = block > 1 and 0 <= not_aligned <= operations
    return RecordCounts(
        found,
        gaps,
        all_gaps=len(known) < len(strides),
        rare_gap=min((gap for gap, times in known if times == 1), default=0),
        switches=max(0, value("RW_SWITCHES")),
        block=block if knows_blocks else 1,
        aligned=operations - not_aligned if knows_blocks else 0,
    )
