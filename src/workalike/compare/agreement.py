"""Agreement: the share of determined counters in which two sides are within 5 %.

Counted per group of families, module and counter. Zero on both sides is not counted; expected zero and found more is a
miss. Common sizes and strides count as pairs of a value and its count (design: docs/architecture.md, "Verdict").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workalike.compare.determined import (
    DATA_ONLY,
    PLACES,
    RULES,
    Determined,
    Group,
    alignments_by_name,
    alignments_of,
    determined_by_name,
    determined_of_log,
    groups_of,
    modules_of,
    predicted,
)
from workalike.compare.pairing import Pairing
from workalike.compare.side import Key
from workalike.facts.records import MODULE_OF_LEVEL

WITHIN = 0.05
"""Largest relative error of a counter that agrees."""


@dataclass(frozen=True)
class DeterminedRow:
    """One determined counter of a group of families; `error` is relative to what was expected, 1 where that is 0."""

    group: Group
    module: str
    counter: str
    expected: int
    found: int

    @property
    def error(self) -> float:
        if self.expected == self.found:
            return 0.0
        return abs(self.found - self.expected) / self.expected if self.expected else 1.0

    @property
    def agrees(self) -> bool:
        return self.error <= WITHIN


def share(rows: Iterable[DeterminedRow]) -> float | None:
    """The agreement, 0 to 1; None where there is no determined counter."""
    agree = [row.agrees for row in rows]
    return sum(agree) / len(agree) if agree else None


def model_against_log(pairing: Pairing) -> list[DeterminedRow]:
    """Whether the workload says what its log says, at full scale; nothing where the original is a workload."""
    found = pairing.log
    if found is None:
        return []
    model = predicted(pairing.full_plan, alignments_of(found, pairing.full_plan))
    families = {(f.family.role, f.family.number): f for f in found.families}
    pairs = {(pair.original.role, pair.original.number): pair for pair in pairing.pairs}
    rows: list[DeterminedRow] = []
    for group in groups_of(found):
        members = [families[key] for key in group]
        own = {MODULE_OF_LEVEL[family.family.counted_at] for family in members}
        files = list({file.key: file for family in members for file in family.files()}.values())
        for module in modules_of(members):
            ours = [model[key][module] for key in group if module in model.get(key, {})]
            if ours:
                log = determined_of_log(files, module)
                rows += rows_of(group, module, log, total_of(ours), below=module not in own)
            elif module in own:
                of_group = [pairs[key] for key in group if key in pairs]
                log, counted = (
                    total_of(Determined(dict(side.modules.get(module, {})), complete=False) for side in sides)
                    for sides in ([p.original for p in of_group], [p.scaled.whole for p in of_group])
                )
                rows += rows_of(group, module, log, counted)
    return rows


def replica_against_model(pairing: Pairing) -> list[DeterminedRow]:
    """Whether a replica did what its plan says: a log of the run tells every counter, a record some of them."""
    replica = pairing.replica_log
    if not pairing.performed:
        return []
    by_key: dict[Key, dict[str, Determined]] = {}
    model: dict[Key, dict[str, Determined]] = {}
    if replica is not None:
        by_key = determined_by_name(replica)
        model = predicted(pairing.plan, alignments_by_name(replica, pairing.plan))
    rows: list[DeterminedRow] = []
    for pair in pairing.pairs:
        key, module = (pair.original.role, pair.original.number), pair.scaled.part.module
        for name in RULES:
            if name in model.get(key, {}):
                found = by_key.get(key, {}).get(name, Determined())
                rows += rows_of((key,), name, model[key][name], found, below=name != module)
        if module in RULES and module not in model.get(key, {}):
            expected = Determined(dict(pair.scaled.part.modules.get(module, {})), complete=False)
            rows += rows_of(
                (key,),
                module,
                expected,
                Determined(dict(pair.replica.modules.get(module, {})), complete=False),
            )
    return rows


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
        expected: what is to be met.
        found: what is judged; counters that it does not have are left out, and all are 0 where it has none.
        below: the module lies below the families' level: opens, seeks and syncs are the library's.
    """
    rules = RULES[module]
    before, after = rules.of(expected.counters), rules.of(found.counters)
    for name, value in before.items():
        if (below and name in DATA_ONLY) or (after and name not in after):
            continue
        if value or after.get(name):
            yield DeterminedRow(group, module, name, value, after.get(name, 0))
    if not found.complete:
        return
    for table in rules.common:
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
