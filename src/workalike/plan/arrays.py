"""Scaling datasets: fewer hyperslabs, then smaller ones; the dataset's extents follow its bytes.

An extent is a whole number, so bytes come out as near as one row of the slowest dimension that is cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from workalike.plan import model as plan
from workalike.plan.scale import ScaleBy
from workalike.workload import model as wl

Slab = tuple[int, list[int], list[int]]  # operations, extents, strides


def scale_arrays(
    arrays: wl.Arrays,
    factor: Fraction,
    weak: Fraction,
    members: Sequence[tuple[plan.Ranges, int]],
    by: ScaleBy,
) -> plan.PlanArrays:
    """The plan's datasets: their bytes are those of the workload's, times `factor`.

    `weak` is the part of the factor that more ranks bring; `members` are the ranks of each access in the plan,
    and how many they are.
    """
    access = []
    for one, (ranges, count) in zip(arrays.access, members, strict=True):
        entries = [entry for slab in one.slabs for entry in scale_slab(slab, factor, weak, count, by)]
        access.append(
            plan.PlanAccess(ranks=ranges, direction=one.direction, collective=one.collective, entries=entries)
        )
    dims = _dims(arrays.dims, factor, [slab for one in access for slab in one.entries])
    chunk = arrays.chunk
    if chunk is not None:
        chunk = [min(c, d) for c, d in zip(chunk, dims, strict=True)]
    return plan.PlanArrays(
        datasets=arrays.datasets,
        element=arrays.element,
        dims=dims,
        chunk=chunk,
        extendible=arrays.extendible,
        access=access,
    )


def scale_slab(slab: wl.Slab, factor: Fraction, weak: Fraction, members: int, by: ScaleBy) -> list[Slab]:
    """One kind of hyperslab: by count no member loses its last one, and what is still too much is cut."""
    strides = list(slab.stride or [1] * len(slab.shape))
    if by == "count":
        count = max(min(slab.count, members), round(slab.count * factor))
    else:
        count = max(1, round(slab.count * max(factor, weak)))
    wanted = slab.count * factor
    if count <= wanted or count == round(wanted):
        return [(count, list(slab.shape), strides)]
    return _cut(count, list(slab.shape), strides, wanted / count)


def _cut(count: int, shape: list[int], strides: list[int], share: Fraction) -> list[Slab]:
    """Slabs with `share` of their elements, cut along the slowest dimensions: rows stay as long as they can."""
    for d, extent in enumerate(shape):
        if extent * share >= 1 or d == len(shape) - 1:
            size, more = divmod(max(count, round(count * extent * share)), count)
            both = ((more, size + 1), (count - more, size))
            return [(n, [*shape[:d], rows, *shape[d + 1 :]], strides) for n, rows in both if n]
        share *= extent
        shape = [*shape[:d], 1, *shape[d + 1 :]]
    return [(count, shape, strides)]


def _dims(dims: Sequence[int], factor: Fraction, slabs: Sequence[Slab]) -> list[int]:
    """Extents of a dataset with `factor` times the elements, into which every slab still fits."""
    if factor == 1:
        return list(dims)
    out, left = list(dims), factor
    for d, extent in enumerate(dims):
        span = max((shape[d] - 1) * strides[d] + 1 for _, shape, strides in slabs)
        out[d] = max(span, math.ceil(extent * left))
        left = left * extent / out[d]
        if left >= 1:
            break
    return out
