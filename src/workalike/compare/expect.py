"""What a perfect replica counts: the original's counters under their scaling laws (docs/scaling-laws.md)."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.compare.laws import Law, rule_of
from workalike.compare.side import SideFamily, direction_of, histogram_names, sum_name
from workalike.predict.determined import Counters
from workalike.workload.model import Direction


@dataclass(frozen=True)
class Scaled:
    """A family at the original's scale (`whole`) and at the replica's (`part`), both by the rules of plans.

    `factor` is the factor of the bytes. `files` are the files of a dump at the original's and the replica's scale.
    """

    factor: float
    whole: SideFamily
    part: SideFamily
    files: tuple[int, int] = (1, 1)

    @property
    def full(self) -> bool:
        """Whether nothing was scaled, so that no law changes any counter."""
        return self.factor == 1 and self.whole.accessors == self.part.accessors


def expected(scaled: Scaled, module: str, counter: str, original: Counters) -> float:
    """A perfect replica's value of the counter, given all counters of the original in that module."""
    value = original.get(counter, 0)
    if scaled.full:
        return value
    law = rule_of(module, counter).law
    if law is Law.BYTES:
        return value * scaled.factor
    if law in (Law.OPERATIONS, Law.OPENS, Law.SEEKS):
        return value * ratio(scaled, module, counter)
    if law is Law.SIZES:
        return _size_bin(scaled, module, counter, value)
    if law is Law.EXTENT:
        before, after = scaled.files
        return max(0.0, (value + 1) * scaled.factor * before / after - 1) if value else 0.0
    if law is Law.FOLLOWING:
        return _following(scaled, module, counter, value, original)
    return value


def ratio(scaled: Scaled, module: str, counter: str) -> float:
    """The plan's value of a counter divided by the workload's; the factor of the bytes where the workload's is 0.

    Below the family's level plans have no counters. There the ratio is that of the operations at the family's level.
    """
    if module != scaled.whole.module:
        module, counter = scaled.whole.module, _own_operations(scaled.whole.module, counter)
    before = scaled.whole.modules.get(module, {}).get(counter, 0)
    after = scaled.part.modules.get(module, {}).get(counter, 0)
    return after / before if before else scaled.factor


def _own_operations(module: str, counter: str) -> str:
    direction = direction_of(counter)
    if direction is None:
        return sum_name(module, "OPENS")
    return sum_name(module, "READS" if direction is Direction.READ else "WRITES")


def _operations(module: str, counter: str) -> str:
    return sum_name(module, "READS" if direction_of(counter) is Direction.READ else "WRITES")


def _size_bin(scaled: Scaled, module: str, counter: str, value: int) -> float:
    operations = _operations(module, counter)
    times = ratio(scaled, module, operations)
    if module != scaled.whole.module:
        return value * times
    before = scaled.whole.modules.get(module, {}).get(counter, 0)
    after = scaled.part.modules.get(module, {}).get(counter, 0)
    return max(0.0, after + (value - before) * times)


def _following(scaled: Scaled, module: str, counter: str, value: int, original: Counters) -> float:
    """Expected accesses after the previous one: all but the first of a file (SEQ) or of a rank in a file (CONSEC)."""
    if not value:
        return 0.0
    operations = _operations(module, counter)
    count = original.get(operations, 0)
    others = max(0, count - value)
    sequential = counter.startswith("SEQ_")
    before = scaled.whole.files if sequential else scaled.whole.accessors
    after = scaled.part.files if sequential else scaled.part.accessors
    first = min(others, before)
    times = ratio(scaled, module, operations)
    shrink = after / before if before else 1.0
    return max(0.0, count * times - first * shrink - (others - first) * times)


def expected_bins(scaled: Scaled, family: SideFamily, direction: Direction) -> list[float] | None:
    """The expected size histogram at the family's level, ten counts; None where the level has none."""
    names = histogram_names(family.module, direction)
    if names is None:
        return None
    counters = family.modules.get(family.module, {})
    return [expected(scaled, family.module, name, counters) for name in names]


def total_variation(first: list[float], second: list[float]) -> float:
    """Distance between two histograms taken as shares, 0 (equal) to 1; 0 where both are empty."""
    a, b = sum(first), sum(second)
    if not a or not b:
        return 0.0 if a == b else 1.0
    return min(1.0, sum(abs(x / a - y / b) for x, y in zip(first, second, strict=True)) / 2)
