"""H5D records -> arrays: rank, extents, chunking and hyperslabs of an HDF5 file's datasets.

Index trap (facts B, "HDF5"): CHUNK_SIZE_D1 is the fastest dimension; dimension i (0 = slowest) of an
access sits in D(5-i). Extents are not stored, only their product.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.facts import FileFacts, IntArray, ModuleFacts
from workalike.characterize.sizes import bin_of
from workalike.characterize.streams import BINS, common_sizes, moved_by, rows_of
from workalike.workload import units
from workalike.workload.model import ArrayAccess, Arrays, Assumption, Direction, Slab

MAX_DIMS = 5
MAX_GROUPS = 512

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Hyperslab:
    """One of the four common accesses of a dataset."""

    shape: Shape
    stride: Shape
    count: int
    bytes: int


@dataclass(frozen=True)
class Geometry:
    """What makes datasets equal: extents, element, chunking; `states` when one was appended."""

    dims: Shape
    element: int
    chunk: Shape | None
    extendible: bool


def build_arrays(files: Sequence[FileFacts], states: int) -> tuple[list[Arrays], list[Assumption]] | None:
    """The datasets of a dump (of one state, where `states` share a file); None when they do not look like arrays."""
    groups: dict[tuple[Geometry, Direction], list[ModuleFacts]] = defaultdict(list)
    for file in files:
        h5d = file.modules.get("H5D")
        if h5d is None:
            return None
        runs = _fast_runs(file)
        for row in range(len(h5d.ranks)):
            facts = rows_of(h5d, _index(row))
            geometry = geometry_of(facts, states)
            if geometry is None:
                return None
            for direction in Direction:
                if facts.total(_bytes(direction)):
                    groups[(geometry, direction)].append(facts)
    if not groups or len(groups) > MAX_GROUPS:
        return None
    by_geometry: dict[Geometry, list[ArrayAccess]] = defaultdict(list)
    datasets: dict[Geometry, int] = {}
    for (geometry, direction), members in groups.items():
        by_geometry[geometry].append(_access(geometry, direction, members, states, runs))
        datasets[geometry] = max(datasets.get(geometry, 0), len({int(m.ids[0]) for m in members}))
    arrays = [
        Arrays(
            datasets=datasets[g],
            element=g.element,
            dims=list(g.dims),
            chunk=list(g.chunk) if g.chunk else None,
            extendible=g.extendible,
            access=sorted(access, key=lambda a: a.direction is Direction.READ),
        )
        for g, access in by_geometry.items()
    ]
    return arrays, [Assumption.DATASET_SHAPE, Assumption.PLACEMENT]


def _index(row: int) -> IntArray:
    return np.array([row])


def _bytes(direction: Direction) -> str:
    return "BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN"


def geometry_of(facts: ModuleFacts, states: int) -> Geometry | None:
    """Extents of one dataset's record; with several states the appended dimension comes first."""
    rank = facts.largest("DATASPACE_NDIMS")
    points = facts.largest("DATASPACE_NPOINTS")
    element = facts.largest("DATATYPE_SIZE")
    if rank > MAX_DIMS or points < 1 or element < 1:
        return None
    rank = max(rank, 1)
    chunk = tuple(int(facts.column(f"CHUNK_SIZE_D{rank - i}")[0]) for i in range(rank))
    chunked = all(c > 0 for c in chunk)
    written = facts.total("BYTES_WRITTEN")
    extendible = chunked and states > 1 and written >= states * points * element > 0
    if chunked and math.prod(chunk) == points:
        dims: Shape = chunk
    else:
        longest = [max((slab.shape[i] for slab in common_slabs(facts, rank)), default=1) for i in range(rank)]
        dims = guess_dims(points, longest)
    if extendible:
        last = _appended_dimension(dims, chunk)
        dims, chunk = _first(dims, last), _first(chunk, last)
    return Geometry(dims, element, chunk if chunked else None, extendible)


def _appended_dimension(dims: Shape, chunk: Shape) -> int:
    """Where the chunk is 1 thick, the dataset grows; moved to the front it has the same layout in the file."""
    thin = [i for i, (d, c) in enumerate(zip(dims, chunk, strict=True)) if c == 1 and d == 1]
    return thin[-1] if thin else 0


def _first(shape: Shape, index: int) -> Shape:
    return (shape[index], *shape[:index], *shape[index + 1 :])


def common_slabs(facts: ModuleFacts, rank: int) -> list[Hyperslab]:
    """The (up to four) common hyperslabs of a record, slowest dimension first."""
    found = []
    for k in range(1, 5):
        count, size = facts.largest(f"ACCESS{k}_COUNT"), facts.largest(f"ACCESS{k}_ACCESS")
        shape = tuple(facts.largest(f"ACCESS{k}_LENGTH_D{5 - i}") for i in range(min(rank, 5)))
        stride = tuple(max(1, facts.largest(f"ACCESS{k}_STRIDE_D{5 - i}")) for i in range(min(rank, 5)))
        if count > 0 and size > 0 and all(n > 0 for n in shape):
            # A stride as long as the slab itself is one block: the same bytes, contiguous.
            stride = tuple(1 if s >= n else s for n, s in zip(shape, stride, strict=True))
            found.append(Hyperslab(shape, stride, count, size))
    return found


def guess_dims(points: int, longest: Sequence[int]) -> Shape:
    """Extents whose product is `points`, each at least the longest access, near to proportional to it."""
    if len(longest) == 1:
        return (points,)
    best: tuple[float, Shape] | None = None
    for dims in _factorisations(points, len(longest)):
        if all(d >= n for d, n in zip(dims, longest, strict=True)):
            ratios = [math.log(d / n) for d, n in zip(dims, longest, strict=True)]
            spread = max(ratios) - min(ratios)
            if best is None or spread < best[0]:
                best = (spread, dims)
    return best[1] if best else (points // math.prod(longest[1:]) or 1, *longest[1:])


def _factorisations(points: int, parts: int) -> Iterator[Shape]:
    """Ordered factorisations of `points`, at most some ten thousand."""
    divisors = _divisors(points)
    if len(divisors) ** (parts - 1) > 50_000:
        return
    yield from _extend(points, parts, divisors)


def _extend(points: int, parts: int, divisors: Sequence[int]) -> Iterator[Shape]:
    if parts == 1:
        yield (points,)
        return
    for d in divisors:
        if points % d == 0:
            for rest in _extend(points // d, parts - 1, divisors):
                yield (d, *rest)


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, min(math.isqrt(number), 100_000) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _fast_runs(file: FileFacts) -> list[int]:
    """Sizes of the contiguous pieces that the library made of the hyperslabs, most frequent first."""
    below = file.modules.get("MPI-IO") or file.modules.get("POSIX")
    return [size for size, _ in sorted(common_sizes(below), key=lambda c: -c[1])] if below else []


def _access(
    geometry: Geometry, direction: Direction, members: Sequence[ModuleFacts], states: int, runs: Sequence[int]
) -> ArrayAccess:
    counts: dict[tuple[Shape, Shape], int] = defaultdict(int)
    for facts in members:
        for shape, stride, count in _slabs_of(geometry, facts, direction, runs):
            counts[(shape, stride)] += count
    divide = states if geometry.extendible else 1
    slabs = [
        Slab(count=max(1, count // divide), shape=list(shape), stride=[] if set(stride) == {1} else list(stride))
        for (shape, stride), count in sorted(counts.items())
    ]
    ranks = sorted({r for facts in members for r in facts.ranks.tolist() if r >= 0})
    together = all(f.largest("USE_MPIIO_COLLECTIVE") > 0 for f in members)
    reduced = any((f.ranks < 0).any() for f in members)
    return ArrayAccess(
        direction=direction,
        slabs=slabs,
        ranks=None if reduced or not ranks else units.ranges_of(ranks),
        collective=together,
    )


def _slabs_of(
    geometry: Geometry, facts: ModuleFacts, direction: Direction, runs: Sequence[int]
) -> Iterator[tuple[Shape, Shape, int]]:
    """Known hyperslabs first; what they leave of operations and bytes becomes near-equal slabs of the same run."""
    rank = max(1, facts.largest("DATASPACE_NDIMS"))
    kind = "READ" if direction is Direction.READ else "WRITE"
    other = "WRITE" if direction is Direction.READ else "READ"
    in_bin = {i: facts.total(f"SIZE_{kind}_AGG_{name}") for i, name in enumerate(BINS)}
    of_both = {i: n + facts.total(f"SIZE_{other}_AGG_{name}") for (i, n), name in zip(in_bin.items(), BINS, strict=True)}
    left_ops = moved_by(facts, direction).operations
    left_bytes = facts.total(_bytes(direction))
    for slab in common_slabs(facts, rank):
        index = bin_of(slab.bytes)
        # Common accesses mix both directions: each gets its share of the bin.
        count = slab.count if of_both[index] == in_bin[index] else slab.count * in_bin[index] // max(1, of_both[index])
        count = min(count, left_ops, left_bytes // slab.bytes)
        if count:
            left_ops -= count
            left_bytes -= count * slab.bytes
            yield _arranged(geometry, slab.shape), _arranged(geometry, slab.stride), count
    if left_ops > 0 and left_bytes >= geometry.element:
        yield from _rest(geometry, left_ops, left_bytes // geometry.element, runs)


def _arranged(geometry: Geometry, shape: Shape) -> Shape:
    """A record's shape in the geometry's order of dimensions."""
    if geometry.extendible and geometry.dims[0] == 1 and shape[-1] == 1:
        return _first(shape, len(shape) - 1)
    return shape


def _rest(geometry: Geometry, operations: int, elements: int, runs: Sequence[int]) -> Iterator[tuple[Shape, Shape, int]]:
    """`operations` slabs of about `elements` in all, whose fastest run is one that the level below saw."""
    dims = geometry.dims
    known = [r // geometry.element for r in runs if r % geometry.element == 0]
    fast = next((r for r in known if 1 < r <= dims[-1] and elements % r == 0 and elements // r >= operations), 0)
    if not fast:
        fast = 1 if len(dims) > 1 else max(1, elements // operations)
    if len(dims) == 1:
        each, more = divmod(elements, operations)
        for count, length in ((operations - more, each), (more, each + 1)):
            if count and length:
                yield (min(length, dims[0]),), (1,), count
        return
    rows = max(1, elements // fast)
    each, more = divmod(rows, operations)
    for count, want in ((operations - more, each), (more, each + 1)):
        if count and want:
            yield (*_cover(want, dims[:-1]), fast), (1,) * len(dims), count


def _cover(rows: int, dims: Shape) -> Shape:
    """A box inside `dims` of about `rows` elements, filled from the fastest dimension."""
    box = [1] * len(dims)
    for i in range(len(dims) - 1, -1, -1):
        slower = math.prod(dims[:i])
        box[i] = max(1, min(dims[i], -(-rows // max(1, slower)) if i else rows))
        rows = max(1, round(rows / box[i]))
    return tuple(box)

