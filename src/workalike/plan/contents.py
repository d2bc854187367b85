"""What follows from a content of a plan: its directions, and the bytes that it spans."""

from __future__ import annotations

import math
from fractions import Fraction

from workalike.plan.meshes import bytes_of_plan
from workalike.plan.plan_schema import PlanContent, PlanStream
from workalike.workload.model import Direction, Pattern


def rows_of_table(content: PlanContent) -> tuple[int, int] | None:
    """The rows of the plan's operation table that a content performs; None without."""
    return next((stream.rows for stream in content.streams if stream.rows is not None), None)


def moves(content: PlanContent, direction: Direction) -> bool:
    """Whether a dump of this content has operations in a direction."""
    if content.fit is not None:
        return direction is Direction.WRITE
    if content.mesh is not None:
        return direction is content.mesh.direction
    if content.dataset is not None:
        return direction is Direction.READ
    return any(
        s.direction is direction and any(c and size for c, size in s.entries) for s in content.streams
    ) or any(a.direction is direction for arrays in content.arrays for a in arrays.access)


def writes_first(content: PlanContent) -> bool:
    """Whether the dump writes before it reads (a file that is written, then read back)."""
    directions = [s.direction for s in content.streams] or [
        a.direction for arrays in content.arrays for a in arrays.access
    ]
    return bool(directions) and directions[0] is Direction.WRITE


def length_of(stream: PlanStream, share: Fraction, members: int = 1) -> int:
    """Bytes of a file that a stream of `members` ranks spans, if `share` of its operations are in that file.

    It is an upper bound, also where fewer members are stated.
    """
    if stream.pattern is Pattern.INTERLEAVED and stream.stride:
        ((count, size),) = stream.entries
        return max(0, count // members - 1) * stream.stride + members * size
    if stream.pattern is Pattern.SAME:
        return max((size for _, size in stream.entries), default=0)
    numerator, denominator = share.as_integer_ratio()  # fractions are slow, and entries may be many
    return sum(
        -(-count * numerator // denominator) * (stream.stride or size) for count, size in stream.entries
    )


def bytes_of_datasets(content: PlanContent) -> int:
    """The bytes of all datasets that a dump writes."""
    if content.fit is not None:
        return content.fit.bytes
    return sum(
        arrays.datasets * arrays.element * math.prod(arrays.dims)
        for arrays in content.arrays
        if any(access.direction is Direction.WRITE for access in arrays.access)
    )


def extent_of(content: PlanContent) -> int:
    """Bytes by which a dump moves the end of an appended file."""
    if content.fit is not None:
        return content.fit.bytes
    if content.mesh is not None:
        return bytes_of_plan(content.mesh) if content.mesh.direction is Direction.WRITE else 0
    writes = [s for s in content.streams if s.direction is Direction.WRITE]
    return max((s.base + length_of(s, Fraction(1)) for s in writes), default=0)
