"""The one cost of a reading: the counters in which a log of its run would differ from the log."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from workalike.characterize.options import CounterGroup
from workalike.characterize.readings.evidence import Evidence
from workalike.errors import WorkalikeError
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.chance import (
    families_at_random,
    refute_chance,
    without_chance_of,
    without_rough_chance,
)
from workalike.predict.determined import alignment_of, is_apart
from workalike.predict.prediction import Key, predicted
from workalike.workload.model import Family, TableReference, Workload

Residuals = list[DeterminedRow]
"""The counters that are off."""


def size_of(residuals: Sequence[DeterminedRow]) -> tuple[int, float]:
    """How many counters are off; of equally many, how far."""
    return len(residuals), sum(min(1.0, row.error) for row in residuals)


class Loss:
    """Predicts the counters of readings of one family, within a budget, and compares them with the log's.

    Args:
        evidence: of the family.
        leave_out: groups of counters that do not count, so that they can tell afterwards how good the choice was.
    """

    def __init__(self, evidence: Evidence, leave_out: Collection[CounterGroup] = ()) -> None:
        self.evidence = evidence
        self.left_out = tuple(name for group in leave_out for name in group.counters)
        self.left = THRESHOLDS.readings_predicted

    def residuals(
        self,
        family: Family,
        operations: TableReference | None = None,
        sequences: int | None = None,
        *,
        chance: bool = True,
    ) -> Residuals | None:
        """The counters that are off; None where the family cannot be planned, has too many calls, or none are left.

        `operations` is the table that the family names, if it does. What chance explains is not off: by rough bounds, or
        by those of `sequences`, a number of random orders. Operations that all go forward are in no random order: there,
        chance explains nothing, and strides count. Nor does it without `chance`.
        """
        if self.left <= 0:
            return None
        self.left -= 1
        compared = self._compared(family, operations)
        if compared is None:
            return None
        rows, at_random = compared
        if not chance or (at_random and refute_chance(rows, at_random)):
            at_random = set()
        left = (
            without_rough_chance(rows, at_random)
            if sequences is None
            else without_chance_of(sequences, rows, at_random)
        )
        return [row for row in left if not row.agrees and self._counts(row)]

    def _counts(self, row: DeterminedRow) -> bool:
        return not row.counter.startswith(self.left_out)

    def _compared(
        self, family: Family, operations: TableReference | None
    ) -> tuple[list[DeterminedRow], set[Key]] | None:
        """All determined counters, and the family if its operations are in random order; None as above."""
        known = self.evidence
        workload = Workload(
            ranks=known.nprocs,
            runtime=max(0.0, known.job.run_time),
            operations=operations,
            families=[family],
        )
        try:
            plan = resolve(workload, Options())
            model = predicted(
                plan,
                [alignment_of(known.files)],
                THRESHOLDS.synthesis_calls,
                [is_apart(known.files, known.module)],
            )
        except WorkalikeError:
            return None
        key = (family.role, family.number)
        found = model.get(key, {})
        if known.module not in found:
            return None
        rows = [
            row
            for module, log in known.logs.items()
            if module in found and log.counters
            for row in rows_of((key,), module, log, found[module], below=module != known.module)
        ]
        return rows, families_at_random(plan)
