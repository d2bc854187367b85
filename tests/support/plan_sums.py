"""Sums of the bytes of a plan, independent of the code under test."""

from __future__ import annotations

import math

from workalike.plan.plan_schema import Plan, PlanContent
from workalike.workload.model import Direction


def bytes_of(content: PlanContent, direction: Direction) -> int:
    """Bytes of a content over all ranks; a `fit` only writes."""
    total = sum(c * size for s in content.streams if s.direction is direction for c, size in s.entries)
    for arrays in content.arrays:
        for access in arrays.access:
            if access.direction is direction:
                total += sum(c * math.prod(shape) * arrays.element for c, shape, _ in access.entries)
    if content.fit is not None and direction is Direction.WRITE:
        total += content.fit.bytes
    return total


def dump_bytes(plan: Plan, family: int, direction: Direction) -> list[int]:
    """Bytes of each dump of a family, by index."""
    dumps = sorted((d for d in plan.dumps if d.family == family), key=lambda d: d.index)
    return [bytes_of(plan.contents[d.content], direction) for d in dumps]
