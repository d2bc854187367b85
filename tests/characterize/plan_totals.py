"""Totals of a plan at its families' levels, counted independently by the rules of docs/plan-format.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from simulated_job import bin_of

from workalike.plan import ranks as rank_sets
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan, PlanContent, PlanFamily, PlanStream
from workalike.workload.model import Direction, Role, SharingMode

Key = tuple[Role, int]


@dataclass
class Totals:
    bytes: int = 0
    operations: int = 0
    bins: list[int] = field(default_factory=lambda: [0] * 10)

    def add(self, count: int, size: int) -> None:
        self.bytes += count * size
        self.operations += count
        self.bins[bin_of(size)] += count


def totals_of(plan: Plan) -> dict[Key, dict[Direction, Totals]]:
    """What each family moves. Ranks that only join a collective call count, as in Darshan."""
    out: dict[Key, dict[Direction, Totals]] = {}
    families = {family.id: family for family in plan.families}
    for dump in plan.dumps:
        family = families[dump.family]
        totals = out.setdefault((family.role, family.number), {d: Totals() for d in Direction})
        if plan.contents[dump.content].dataset is not None:
            continue
        for direction, count, size in _operations(plan, family, plan.contents[dump.content]):
            totals[direction].add(count, size)
    _add_datasets(plan, out)
    return out


def _add_datasets(plan: Plan, out: dict[Key, dict[Direction, Totals]]) -> None:
    """What epochs read: sizes of samples follow from a seed, so that the core counts them; the log is the witness."""
    places = [i for i, dump in enumerate(plan.dumps) if plan.contents[dump.content].dataset is not None]
    if not places:
        return
    families = {family.id: family for family in plan.families}
    counts = core_plan(plan).count()
    for place in places:
        family = families[plan.dumps[place].family]
        totals = out[family.role, family.number][Direction.READ]
        totals.bytes += int(counts["BYTES_READ"][place])
        totals.operations += int(counts["READS"][place])
        totals.bins = [a + int(b) for a, b in zip(totals.bins, counts["SIZE_READ"][place], strict=True)]


def _rows(plan: Plan, stream: PlanStream) -> Iterator[tuple[Direction, int, int]]:
    """The rows of a table, of which the first 8 of its 16 bytes of head are a word."""
    data = plan.tables[str(stream.table)]
    (total,) = struct.unpack_from("<Q", data, 8)
    first, count = stream.rows or (0, total)
    kinds = struct.unpack_from(f"<{count}B", data, 16 + 4 * total + first)
    lengths = struct.unpack_from(f"<{count}q", data, 16 + 13 * total + 8 * first)
    for kind, length in zip(kinds, lengths, strict=True):
        yield (Direction.WRITE if kind & 1 else Direction.READ), 1, length


def _operations(plan: Plan, family: PlanFamily, content: PlanContent) -> Iterator[tuple[Direction, int, int]]:
    members = rank_sets.count(family.sharing.ranks, plan.ranks)
    for stream in content.streams:
        if stream.table is not None:
            yield from _rows(plan, stream)
            continue
        n = rank_sets.count(stream.ranks, plan.ranks)
        for count, size in stream.entries:
            yield stream.direction, count, size
        if stream.collective and family.sharing.mode is not SharingMode.PER_RANK:
            counts = [count for count, _ in stream.entries]
            if family.sharing.mode is SharingMode.GROUPS:  # the plan deals each entry on its own
                joining = sum(-(-count // n) for count in counts) * n
            else:
                joining = -(-sum(counts) // n) * members
            yield stream.direction, max(0, joining - sum(counts)), 0
    for arrays in content.arrays:
        for access in arrays.access:
            n = rank_sets.count(access.ranks, plan.ranks)
            for count, shape, _ in access.entries:
                size = arrays.element
                for extent in shape:
                    size *= extent
                yield access.direction, count, size
                if access.collective:
                    each, more = divmod(count, arrays.datasets)
                    calls = more * -(-(each + 1) // n) + (arrays.datasets - more) * -(-each // n)
                    yield access.direction, max(0, calls * members - count), 0
