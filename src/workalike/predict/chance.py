"""Counters that chance decides where operations are in random order.

A plan's order is not that of the log, so that no stride is to be met, and SEQ and CONSEC only up to what chance makes of
them (docs/architecture.md, "Verdict").
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from workalike.plan.plan_schema import Plan, PlanContent
from workalike.predict.agreement import WITHIN, DeterminedRow
from workalike.predict.prediction import Key
from workalike.workload.words import AT_RANDOM, Order

DEVIATIONS = 3
"""Standard deviations of a count that chance explains; that of n accesses at random is at most √n."""
COUNTED = ("SEQ_", "CONSEC_")


def families_at_random(plan: Plan) -> set[Key]:
    """The families with operations in random order."""
    by_id = {family.id: (family.role, family.number) for family in plan.families}
    at_random = [_at_random(content) for content in plan.contents]
    return {by_id[dump.family] for dump in plan.dumps if at_random[dump.content]}


def _at_random(content: PlanContent) -> bool:
    if content.dataset is not None:
        return content.dataset.samples > 1 and content.dataset.sample_order is not Order.SEQUENTIAL
    return any(stream.pattern in AT_RANDOM for stream in content.streams)


def without_chance(rows: Iterable[DeterminedRow], at_random: Collection[Key]) -> list[DeterminedRow]:
    """The rows without those that chance explains, in groups with a family in random order."""
    return [row for row in rows if not by_chance(row, at_random) or _is_kept(row)]


def by_chance(row: DeterminedRow, at_random: Collection[Key]) -> bool:
    """Whether chance explains what is found, in a group with a family in random order."""
    if not any(key in at_random for key in row.group):
        return False
    if row.counter.startswith("STRIDE"):
        return True
    if not row.counter.startswith(COUNTED):
        return False
    return abs(row.found - row.expected) <= DEVIATIONS * math.sqrt(max(row.found, row.expected))


def refute_chance(rows: Collection[DeterminedRow], at_random: Collection[Key]) -> bool:
    """Whether all operations of a direction go forward in the log (SEQ), up to 5 %, and chance does not explain it.

    In random order about half of them do. No stride is to be met there, so that any log's strides would fit.
    """
    operations = {(row.group, row.module, row.counter): row.expected for row in rows}
    for row in rows:
        if row.counter.startswith("SEQ_") and not row.agrees and not by_chance(row, at_random):
            made = operations.get((row.group, row.module, row.counter.removeprefix("SEQ_")), 0)
            if made and row.expected >= (1 - WITHIN) * made:
                return True
    return False


def _is_kept(row: DeterminedRow) -> bool:
    """Whether a row counts although chance explains it: it agrees, and says something of the order."""
    return row.agrees and not row.counter.startswith("STRIDE")
