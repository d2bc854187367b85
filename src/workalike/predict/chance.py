"""Counters that chance decides where operations are in random order.

A plan's order is not that of the log, so that no stride is to be met, and SEQ and CONSEC only up to what chance makes of
them. A random order of n places has (n - 1) / 2 ± √((n + 1) / 12) accesses that go forward, and about 1 ± 1 that
begin where the last one ended, at any n; k such orders together have k times these means and variances (docs/architecture.md, "Verdict").
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from workalike.facts.records import FileFacts
from workalike.plan.plan_schema import Plan, PlanContent
from workalike.predict.agreement import WITHIN, DeterminedRow, Group
from workalike.predict.prediction import Key
from workalike.workload.words import AT_RANDOM, Order

DEVIATIONS = 2.576
"""Standard deviations that 99 % of random orders lie within, on both sides."""
SURE_DEVIATIONS = 3.29
"""Standard deviations that 99.9 % of random orders lie within."""
ROUGH_DEVIATIONS = 3
"""The same for √n of n operations, of which a few may be in random order."""
OF_DRAWS, STEP = 3.0, 0.5
"""The same where mean and deviation are of 16 draws, and half a step, since counts are whole."""
SEEDS = range(2, 18)
"""Seeds of the draws; a plan's own is 1 unless the user gives another."""
FORWARD, NEXT = "SEQ_", "CONSEC_"
"""Beginnings of the names of counters: accesses that go forward, and that begin where the last one ended."""


RowKey = tuple[Group, str, str]


def families_at_random(plan: Plan) -> set[Key]:
    """The families with operations in random order."""
    by_id = {family.id: (family.role, family.number) for family in plan.families}
    at_random = [_at_random(content) for content in plan.contents]
    return {by_id[dump.family] for dump in plan.dumps if at_random[dump.content]}


def _at_random(content: PlanContent) -> bool:
    if content.dataset is not None:
        return content.dataset.samples > 1 and content.dataset.sample_order is not Order.SEQUENTIAL
    return any(stream.pattern in AT_RANDOM for stream in content.streams)


def within_chance(counter: str, expected: int, found: int, calls: int, sequences: int = 1) -> bool:
    """Whether two random orders of `calls` accesses may have these counts of SEQ or CONSEC, at 99 %.

    The accesses are of as many sequences, each in an order of its own. The difference of two orders has √2 times the
    deviation of one.
    """
    several = max(1, min(sequences, calls))
    variance = (calls + several) / 12 if counter.startswith(FORWARD) else several
    deviation = math.sqrt(variance)
    return abs(expected - found) <= DEVIATIONS * math.sqrt(2) * deviation


def goes_forward(ahead: int, calls: int, sequences: int) -> bool:
    """Whether an order of `calls` accesses, of which `ahead` go forward (SEQ), is none that chance makes, at 99.9 %.

    The first access of each sequence counts as going forward, too, unless it is at offset 0. A plan's order may have the
    log's own count of these; its other counts are then no excuse for those of the log.
    """
    several = max(1, min(sequences, calls))
    return ahead > (calls + several) / 2 + SURE_DEVIATIONS * math.sqrt((calls + several) / 12)


def sequences_of(file: FileFacts, nprocs: int) -> int:
    """How many ranks have an order of their own in a file; all of the job in a reduced record."""
    posix = file.modules.get("POSIX")
    if posix is None:
        return 0
    return nprocs if (posix.ranks < 0).any() else len(posix.ranks)


@dataclass(frozen=True)
class Draws:
    """What the counters of a plan are under several seeds of its random orders, by group, module and counter."""

    values: dict[RowKey, list[int]]

    def explain(self, row: DeterminedRow) -> bool | None:
        """Whether the log's count is one that the plan may have, at 99 %; None where the counter was not drawn."""
        drawn = sorted(self.values.get(_key(row), ()))
        if not drawn:
            return None
        usual = drawn[1:-1]  # one draw in hundreds is far off, and would excuse a log that is as far
        return abs(row.expected - fmean(usual)) <= OF_DRAWS * stdev(usual) + STEP


def without_chance(
    rows: Collection[DeterminedRow],
    at_random: Collection[Key],
    draws: Draws | None = None,
    sequences: Mapping[Group, int] | None = None,
) -> list[DeterminedRow]:
    """The rows without strides, in groups with a family in random order; SEQ and CONSEC that chance explains say so.

    `sequences` of a group is how many orders its files have; what the log's own order refutes, chance does not explain.
    """
    calls = calls_in(rows)
    ahead = {_key(row): row.expected for row in rows if row.counter.startswith(FORWARD)}
    out = []
    for row in rows:
        if is_stride_at_random(row, at_random):
            continue
        off = row.error > 0 and by_chance(row, at_random, calls, draws)
        if off and sequences is not None and row.counter.startswith((FORWARD, NEXT)):
            kind = row.counter.rpartition("_")[2]
            made = calls.get((row.group, row.module, kind), 0)
            forward = ahead.get((row.group, row.module, FORWARD + kind), 0)
            off = not goes_forward(forward, made, sequences.get(row.group, made))
        out.append(replace(row, chance=True) if off else row)
    return out


def is_stride_at_random(row: DeterminedRow, at_random: Collection[Key]) -> bool:
    """Whether a row is of a stride in a group with a family in random order: none is to be met there."""
    return row.counter.startswith("STRIDE") and any(key in at_random for key in row.group)


def calls_in(rows: Iterable[DeterminedRow]) -> dict[RowKey, int]:
    """Reads and writes of each group and module: the larger of both sides."""
    return {_key(row): max(row.expected, row.found) for row in rows if row.counter in ("READS", "WRITES")}


def by_chance(
    row: DeterminedRow,
    at_random: Collection[Key],
    calls: Mapping[RowKey, int],
    draws: Draws | None = None,
    sequences: int = 1,
) -> bool:
    """Whether chance explains what is found, in a group with a family in random order; `calls` is of `calls_in`."""
    if not any(key in at_random for key in row.group):
        return False
    if row.counter.startswith("STRIDE"):
        return True
    if not row.counter.startswith((FORWARD, NEXT)):
        return False
    explained = draws.explain(row) if draws is not None else None
    if explained is not None:
        return explained
    made = calls.get((row.group, row.module, row.counter.rpartition("_")[2]), 0)
    return within_chance(row.counter, row.expected, row.found, made, sequences)


def _key(row: DeterminedRow) -> RowKey:
    return row.group, row.module, row.counter


def without_rough_chance(rows: Iterable[DeterminedRow], at_random: Collection[Key]) -> list[DeterminedRow]:
    """As `without_chance`, by bounds that a content with a few operations in random order keeps, too.

    Readings of a log are chosen by it. The verdict on the one that was chosen is stricter.
    """
    return [row for row in rows if not _by_rough_chance(row, at_random) or _is_kept(row)]


def without_chance_of(
    sequences: int, rows: Collection[DeterminedRow], at_random: Collection[Key]
) -> list[DeterminedRow]:
    """The rows without those that chance explains, for this number of sequences, each in an order of its own."""
    calls = calls_in(rows)
    return [row for row in rows if not by_chance(row, at_random, calls, sequences=sequences)]


def _by_rough_chance(row: DeterminedRow, at_random: Collection[Key]) -> bool:
    if not any(key in at_random for key in row.group):
        return False
    if row.counter.startswith("STRIDE"):
        return True
    if not row.counter.startswith((FORWARD, NEXT)):
        return False
    return abs(row.found - row.expected) <= ROUGH_DEVIATIONS * math.sqrt(max(row.found, row.expected))


def refute_chance(rows: Collection[DeterminedRow], at_random: Collection[Key]) -> bool:
    """Whether all operations of a direction go forward in the log (SEQ), up to 5 %, and chance does not explain it.

    In random order about half of them do. No stride is to be met there, so that any log's strides would fit.
    """
    operations = {_key(row): row.expected for row in rows}
    for row in rows:
        if row.counter.startswith(FORWARD) and not row.agrees and not _by_rough_chance(row, at_random):
            made = operations.get((row.group, row.module, row.counter.removeprefix(FORWARD)), 0)
            if made and row.expected >= (1 - WITHIN) * made:
                return True
    return False


def _is_kept(row: DeterminedRow) -> bool:
    """Whether a row counts although chance explains it: it agrees, and says something of the order."""
    return row.agrees and not row.counter.startswith("STRIDE")
