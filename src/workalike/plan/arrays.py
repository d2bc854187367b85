"""Scaling of datasets: fewer hyperslabs first, then smaller ones; a dataset's extents follow its bytes.

The bytes of an access are exact to the element: a few small hyperslabs move what whole ones leave over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from workalike.plan import plan_schema as plan
from workalike.plan.dump_scale import DumpScale, FamilyScale
from workalike.plan.scale import ScaleBy
from workalike.workload import model as wl

Slab = tuple[int, list[int], list[int]]  # operations, extents, strides


def scale_arrays(arrays: wl.Arrays, dump: DumpScale) -> plan.PlanArrays:
    """The plan's datasets for a dump; their bytes are scaled and grow with the dump."""
    scale = dump.scale
    factor = scale.factor * dump.grown
    scaled = []
    for access in arrays.access:
        ranges = scale.ranks_within(access.ranks)
        calls = arrays.datasets if arrays.multi else 1  # the slabs of one call stay together
        slabs = [slab.model_copy(update={"count": slab.count // calls}) for slab in access.slabs]
        entries = _scale_slabs(slabs, factor, scale.count(ranges), scale)
        scaled.append(
            plan.PlanAccess(
                ranks=ranges,
                direction=access.direction,
                collective=access.collective,
                nonblocking=access.nonblocking,
                entries=[(n * calls, shape, stride) for n, shape, stride in entries],
            )
        )
    held = [slab for access in scaled for slab in access.entries]
    dims = _dims(arrays.dims, factor, held, first=arrays.unlimited)
    chunk = arrays.chunk
    if chunk is not None:
        chunk = [min(c, d) for c, d in zip(chunk, dims, strict=True)]
    return plan.PlanArrays(
        datasets=arrays.datasets,
        element=arrays.element,
        members=arrays.members,
        dims=dims,
        chunk=chunk,
        extendible=arrays.extendible,
        unlimited=arrays.unlimited,
        fill_values=arrays.fill_values,
        multi=arrays.multi,
        access=scaled,
    )


def _scale_slabs(slabs: Sequence[wl.Slab], factor: Fraction, members: int, scale: FamilyScale) -> list[Slab]:
    """The hyperslabs of one access with round(elements x `factor`) elements; the largest kind takes the remainder."""
    if factor == 1:
        return [(slab.count, list(slab.shape), _strides(slab)) for slab in slabs]
    elements = [slab.count * math.prod(slab.shape) for slab in slabs]
    counts = [_scaled_count(slab.count, factor, members, scale) for slab in slabs]
    scaled = [_scale_slab(slab, count, factor) for slab, count in zip(slabs, counts, strict=True)]
    big = elements.index(max(elements))
    target = round(sum(elements) * factor)
    left = target - sum(_elements(entries) for k, entries in enumerate(scaled) if k != big)
    if left > 0:
        scaled[big] = _exactly(left, slabs[big], counts[big], scale.options.scale_by)
    return [entry for entries in scaled for entry in entries]


def _scaled_count(count: int, factor: Fraction, members: int, scale: FamilyScale) -> int:
    """The number of operations of one kind; by count, none of the `members` ranks loses its last operation."""
    if scale.options.scale_by == "count":
        return max(min(count, members), round(count * factor))
    return max(1, round(count * max(factor, scale.weak)))


def _scale_slab(slab: wl.Slab, count: int, factor: Fraction) -> list[Slab]:
    """`count` hyperslabs of one kind, smaller ones if their bytes are too many."""
    wanted = slab.count * factor
    if count <= wanted or count == round(wanted):
        return [(count, list(slab.shape), _strides(slab))]
    return _cut(count, list(slab.shape), _strides(slab), wanted / count)


def _exactly(elements: int, slab: wl.Slab, count: int, by: ScaleBy) -> list[Slab]:
    """About `count` hyperslabs of one kind with `elements` elements together."""
    shape, strides = list(slab.shape), _strides(slab)
    whole = math.prod(shape)
    if elements < count * whole:
        entries = _cut(count, shape, strides, Fraction(elements, count * whole))
    else:
        entries = [(elements // whole if by == "count" else count, shape, strides)]
    rest = max(0, elements - _elements(entries))
    return entries + [(n, box, strides) for n, box in _boxes(rest, shape)]


def _boxes(elements: int, shape: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Split `elements` into boxes within `shape`: whole ones, then rows of it, then a part of a row."""
    out: list[tuple[int, list[int]]] = []
    row = math.prod(shape)
    if elements >= row:
        out.append((elements // row, list(shape)))
    for d, extent in enumerate(shape):
        elements %= row
        row //= extent
        if elements >= row:
            out.append((1, [*[1] * d, elements // row, *shape[d + 1 :]]))
    return out


def _strides(slab: wl.Slab) -> list[int]:
    return list(slab.stride or [1] * len(slab.shape))


def _elements(entries: Sequence[Slab]) -> int:
    return sum(count * math.prod(shape) for count, shape, _ in entries)


def _cut(count: int, shape: list[int], strides: list[int], share: Fraction) -> list[Slab]:
    """Slabs with at most `share` of their elements, cut along the slowest dimensions to keep rows long."""
    for d, extent in enumerate(shape):
        if extent * share >= 1 or d == len(shape) - 1:
            size, more = divmod(max(count, math.floor(count * extent * share)), count)
            both = ((more, size + 1), (count - more, size))
            return [(n, [*shape[:d], rows, *shape[d + 1 :]], strides) for n, rows in both if n]
        share *= extent
        shape = [*shape[:d], 1, *shape[d + 1 :]]
    return [(count, shape, strides)]


def _dims(dims: Sequence[int], factor: Fraction, slabs: Sequence[Slab], first: int) -> list[int]:
    """The extents of a dataset with `factor` times the elements; every slab still fits into them.

    Dimension `first` changes before the others: a dataset can grow in no other one.
    """
    if factor == 1 or not slabs:
        return list(dims)
    out, left = list(dims), factor
    for d in sorted(range(len(dims)), key=lambda d: (d != first, d)):
        extent = dims[d]
        span = max((shape[d] - 1) * strides[d] + 1 for _, shape, strides in slabs)
        out[d] = max(span, math.ceil(extent * left))
        left = left * extent / out[d]
        if left >= 1:
            break
    return out
