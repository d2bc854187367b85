"""H5D records -> arrays: rank, extents, chunking and hyperslabs of an HDF5 file's datasets.

Index trap (facts B, "HDF5"): CHUNK_SIZE_D1 is the fastest dimension; dimension i (0 = slowest) of an
access sits in D(5-i). Extents are not stored, only their product.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.facts import FileFacts, ModuleFacts
from workalike.characterize.moved import common_sizes, moved_by
from workalike.characterize.sizes import bin_of
from workalike.plan.scale import split_even
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


KnownExtents = dict[tuple[int, int], Shape]


def known_extents(files: Sequence[FileFacts]) -> KnownExtents:
    """(elements, dimensions) -> extents, from datasets of one chunk: it tells what the counters leave out.

    Dimensions of one element are left out, so that a field and the same field appended in time agree.
    """
    known: KnownExtents = {}
    for file in files:
        h5d = file.modules.get("H5D")
        if h5d is None:
            continue
        rank, points = h5d.column("DATASPACE_NDIMS"), h5d.column("DATASPACE_NPOINTS")
        for row in np.flatnonzero(h5d.column("CHUNK_SIZE_D1") > 0).tolist():
            chunk = _chunk(h5d, row, int(rank[row]))
            if math.prod(chunk) == int(points[row]):
                thick = tuple(c for c in chunk if c > 1)
                known[(int(points[row]), len(thick))] = thick
    return known


def _chunk(h5d: ModuleFacts, row: int, rank: int) -> Shape:
    """Chunk extents, slowest dimension first."""
    rank = min(rank, MAX_DIMS)
    return tuple(int(h5d.column(f"CHUNK_SIZE_D{rank - i}")[row]) for i in range(rank))


def build_arrays(
    files: Sequence[FileFacts], states: int, known: KnownExtents
) -> tuple[list[Arrays], list[Assumption]] | None:
    """The datasets of a dump (of one state, where `states` share a file); None when they do not look like arrays."""
    groups: dict[tuple[Geometry, Direction], list[ModuleFacts]] = defaultdict(list)
    for file in files:
        h5d = file.modules.get("H5D")
        if h5d is None:
            return None
        runs = _fast_runs(file)
        for row in range(len(h5d.ranks)):
            facts = h5d.rows(np.array([row]))
            geometry = geometry_of(facts, states, known)
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
        distinct = len({int(m.ids[0]) for m in members})
        datasets[geometry] = max(datasets.get(geometry, 0), -(-distinct // len(files)))
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


def _bytes(direction: Direction) -> str:
    return "BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN"


def geometry_of(facts: ModuleFacts, states: int, known: KnownExtents) -> Geometry | None:
    """Extents of one dataset's record; with several states the appended dimension comes first."""
    rank = facts.largest("DATASPACE_NDIMS")
    points = facts.largest("DATASPACE_NPOINTS")
    element = facts.largest("DATATYPE_SIZE")
    if rank > MAX_DIMS or points < 1 or element < 1:
        return None
    rank = max(rank, 1)
    chunk = _chunk(facts, 0, rank)
    chunked = all(c > 0 for c in chunk)
    written = facts.total("BYTES_WRITTEN")
    extendible = chunked and states > 1 and written >= states * points * element > 0
    if chunked and math.prod(chunk) == points:
        dims: Shape = chunk
    elif (points, rank) in known:
        dims = known[(points, rank)]
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
            stride = tuple(1 if s == n else s for n, s in zip(shape, stride, strict=True))
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
    divide = states if geometry.extendible else 1
    for facts in members:
        for shape, stride, count in _slabs_of(geometry, facts, direction, runs, divide):
            counts[(shape, stride)] += count
    slabs = [
        Slab(count=count, shape=list(shape), stride=[] if set(stride) == {1} else list(stride))
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
    geometry: Geometry, facts: ModuleFacts, direction: Direction, runs: Sequence[int], states: int
) -> Iterator[tuple[Shape, Shape, int]]:
    """The hyperslabs of one of `states` equal states of a dataset.

    Known ones first; operations beyond them become near-equal slabs of a run that the level below saw.
    """
    rank = max(1, facts.largest("DATASPACE_NDIMS"))
    left = Counter({size: count for count, size in moved_by(facts, direction).pairs})
    for slab in common_slabs(facts, rank):
        count = min(slab.count, left[slab.bytes])
        if count:
            left[slab.bytes] -= count
            yield (
                _arranged(geometry, slab.shape),
                _arranged(geometry, _inside(slab, geometry)),
                count // states or 1,
            )
    in_bin: dict[int, tuple[int, int]] = {}
    for size, count in left.items():
        if count and size >= geometry.element:
            operations, moved = in_bin.get(bin_of(size), (0, 0))
            in_bin[bin_of(size)] = (operations + count, moved + count * size)
    rest = []
    for _, (operations, moved) in sorted(in_bin.items()):
        rest += split_even(moved // states // geometry.element, operations // states or 1)
    yield from _rest(geometry, rest, _run_of(geometry, common_slabs(facts, rank), runs))


def _inside(slab: Hyperslab, geometry: Geometry) -> Shape:
    """A stride that would leave the dataset belongs to a single block: contiguous."""
    dims = sorted(geometry.dims)[-len(slab.shape) :]
    fits = all((n - 1) * s < max(dims) for n, s in zip(slab.shape, slab.stride, strict=True))
    return slab.stride if fits else (1,) * len(slab.shape)


def _arranged(geometry: Geometry, shape: Shape) -> Shape:
    """A record's shape in the geometry's order of dimensions."""
    if geometry.extendible and geometry.dims[0] == 1 and shape[-1] == 1:
        return _first(shape, len(shape) - 1)
    return shape


def _rest(
    geometry: Geometry, pairs: Sequence[tuple[int, int]], fast: int
) -> Iterator[tuple[Shape, Shape, int]]:
    """Slabs for (operations, elements) pairs whose shape is not known; together they move the same elements."""
    dims = geometry.dims
    if len(dims) == 1:
        for count, elements in pairs:
            yield (min(elements, dims[0]),), (1,), count
        return
    owed = 0  # elements that earlier pairs' boxes fell short
    for count, elements in pairs:
        want = max(1, round((count * elements + owed) / count / fast))
        box = (*_cover(want, dims[:-1]), fast)
        owed += count * (elements - math.prod(box))
        if count > 1 and abs(owed) >= fast:  # the last slab of the pair settles what the others left
            last = (*_cover(max(1, round((math.prod(box) + owed) / fast)), dims[:-1]), fast)
            owed += math.prod(box) - math.prod(last)
            yield last, (1,) * len(dims), 1
            count -= 1
        yield box, (1,) * len(dims), count


def _run_of(geometry: Geometry, known: Sequence[Hyperslab], runs: Sequence[int]) -> int:
    """Elements of the fastest dimension: the most frequent piece below that the known slabs do not explain."""
    explained = {slab.shape[-1 - geometry.extendible] for slab in known}
    pieces = [r // geometry.element for r in runs if r % geometry.element == 0]
    fitting = [r for r in pieces if 1 < r <= geometry.dims[-1]]
    return next((r for r in fitting if r not in explained), fitting[0] if fitting else geometry.dims[-1])


def _cover(rows: int, dims: Shape) -> Shape:
    """A box inside `dims` of about `rows` elements, filled from the fastest dimension."""
    box = [1] * len(dims)
    for i in range(len(dims) - 1, -1, -1):
        slower = math.prod(dims[:i])
        box[i] = max(1, min(dims[i], -(-rows // max(1, slower)) if i else rows))
        rows = max(1, round(rows / box[i]))
    return tuple(box)
