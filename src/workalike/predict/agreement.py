"""Agreement: the share of determined counters in which two sides are within 5 %.

Counted per group of families, module and counter. Zero on both sides is not counted; expected zero and found more is a
miss. Common sizes and strides count as pairs of a value and its count (design: docs/architecture.md, "Verdict").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workalike.predict.determined import DATA_ONLY, PLACES, RULES, Determined
from workalike.predict.prediction import Key

Group = tuple[Key, ...]
"""Families that share files: a log does not tell apart who opened or read what there."""

WITHIN = 0.05
"""Largest relative error of a counter that agrees."""


@dataclass(frozen=True)
class DeterminedRow:
    """One determined counter of a group of families; `error` is relative to what was expected, 1 where that is 0.

    `unknown` is by how much what was expected may be more, because a log does not tell (compare/merged_counts).
    `below`: a library made these calls for the application, so that within 5 % is as good as equal. `chance`: two random
    orders may differ as much: it is as good as within 5 %, and not equal. `size_error`: operations of nearly this size
    are counted in, which differ by as much (compare/near_sizes).
    """

    group: Group
    module: str
    counter: str
    expected: int
    found: int
    unknown: int = 0
    below: bool = False
    chance: bool = False
    size_error: float = 0.0

    @property
    def error(self) -> float:
        return max(self.size_error, self._count_error())

    def _count_error(self) -> float:
        apart = abs(self.found - self.expected)
        if not apart or 0 < self.found - self.expected <= self.unknown:
            return 0.0
        off = apart / self.expected if self.expected else 1.0
        return min(off, WITHIN) if self.chance else off

    @property
    def is_equal(self) -> bool:
        return not self.error or (self.below and self.agrees and not self.chance)

    @property
    def agrees(self) -> bool:
        return self.error <= WITHIN


def share(rows: Iterable[DeterminedRow]) -> float | None:
    """The agreement, 0 to 1; None where there is no determined counter."""
    agree = [row.agrees for row in rows]
    return sum(agree) / len(agree) if agree else None


def total_of(parts: Iterable[Determined]) -> Determined:
    """Several families as one."""
    out = Determined()
    for part in parts:
        out.merge(part)
    return out


def rows_of(
    group: Group, module: str, expected: Determined, found: Determined, *, below: bool = False
) -> Iterator[DeterminedRow]:
    """The rows of one module.

    Args:
        group: the families.
        module: Darshan's name of it.
        expected: the counters of the side that is the measure.
        found: those of the side that is judged; counters that it does not have are left out, and all are 0 where it has none.
        below: the module lies below the families' level: opens, seeks, syncs and maps are the library's.
    """
    rules = RULES[module]
    before, after = rules.determined(expected.counters), rules.determined(found.counters)
    unmeasured = expected.unmeasured | found.unmeasured
    for name, value in before.items():
        if not unmeasured.isdisjoint(rules.sums.get(name, ())):
            continue
        if (below and name in DATA_ONLY) or (after and name not in after):
            continue
        if value or after.get(name):
            yield DeterminedRow(group, module, name, value, after.get(name, 0))
    if not (expected.complete and found.complete):
        return
    for table in rules.common:
        if table in unmeasured:
            continue
        values = _listed(expected.common[table])
        if table not in expected.cut:  # the table has room: what it does not name was not there
            values |= _listed(found.common[table])
        for value in sorted(values):
            counter = f"{table} of {value} B"
            yield DeterminedRow(
                group, module, counter, expected.common[table][value], found.common[table][value]
            )


def _listed(common: Counter[int]) -> set[int]:
    return {value for value, _ in common.most_common(PLACES)}
