"""What one H5D record says of its dataset: extents, element, chunking and the common hyperslabs.

Mind the indices (docs/reference/reading-counters.md#data-spaces): CHUNK_SIZE_D1 is the fastest dimension, and dimension
i (0 = slowest) of an access is in D(5-i). Extents are not stored, only their product.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.facts.levels import MAX_DIMS
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import MAX_OPERATION_BYTES

Shape = tuple[int, ...]
KnownExtents = dict[tuple[int, int], Shape]


@dataclass(frozen=True)
class Hyperslab:
    """One of the (up to four) common accesses of a dataset; shape and stride in elements."""

    shape: Shape
    stride: Shape
    count: int
    bytes: int

    @property
    def span(self) -> Shape:
        """Extents from the first to the last element, gaps included."""
        return tuple((n - 1) * s + 1 for n, s in zip(self.shape, self.stride, strict=True))


@dataclass(frozen=True)
class Geometry:
    """What equal datasets have in common. The dimension in which an appended dataset grows comes first here.

    `appended` is the index of that dimension in the record. `element` is in bytes.
    """

    dims: Shape
    element: int
    chunk: Shape | None
    extendible: bool
    appended: int = 0

    def arranged(self, shape: Shape) -> Shape:
        """A record's shape in this geometry's order of dimensions."""
        return _moved_to_front(shape, self.appended) if self.extendible else shape

    def in_record(self, shape: Sequence[int]) -> list[int]:
        """A shape of this geometry in the record's order of dimensions."""
        rest = list(shape[1:])
        return [*rest[: self.appended], shape[0], *rest[self.appended :]]

    def holds(self, span: Shape) -> bool:
        return all(n <= d for n, d in zip(span, self.dims, strict=True))


def known_extents(files: Sequence[FileFacts]) -> KnownExtents:
    """(elements, dimensions) -> extents, from datasets of one chunk, whose chunk extents are those of the dataset,
    and from those that grew after they were opened.

    Dimensions of one element are left out, so that a field and the same field with a time dimension agree.
    """
    known: KnownExtents = {}
    for file in files:
        h5d = file.modules.get("H5D")
        if h5d is None:
            continue
        rank, points = h5d.column("DATASPACE_NDIMS"), h5d.column("DATASPACE_NPOINTS")
        for row in np.flatnonzero(h5d.column("CHUNK_SIZE_D1") > 0).tolist():
            chunk = chunk_of(h5d, row, int(rank[row]))
            if points[row] == 0 and 1 <= rank[row] <= MAX_DIMS:
                grown = extended_dims(h5d.rows(np.array([row])))
                if grown is not None:
                    known[(math.prod(grown[0]), len(grown[0]))] = grown[0]
            if math.prod(chunk) == int(points[row]):
                thick = tuple(c for c in chunk if c > 1)
                known[(int(points[row]), len(thick))] = thick
    return known


def chunk_of(h5d: ModuleFacts, row: int, rank: int) -> Shape:
    """Chunk extents of one record, slowest dimension first; 0 where the dataset is not chunked."""
    rank = min(rank, MAX_DIMS)
    return tuple(max(0, int(h5d.column(f"CHUNK_SIZE_D{rank - i}")[row])) for i in range(rank))


def rank_of(facts: ModuleFacts) -> int:
    """The number of dimensions of a record's dataset; 1 for a scalar."""
    return max(1, facts.largest("DATASPACE_NDIMS"))


def geometry_of(
    facts: ModuleFacts, states: int, known: KnownExtents, runs: Sequence[int] = ()
) -> Geometry | None:
    """The geometry of one dataset's record.

    `runs` are sizes in bytes of the contiguous pieces that the levels below saw. It is None for what HDF5 or a
    workload cannot hold.
    """
    rank = rank_of(facts)
    points, element = facts.largest("DATASPACE_NPOINTS"), facts.largest("DATATYPE_SIZE")
    if rank > MAX_DIMS or not 1 <= element <= THRESHOLDS.element_most:
        return None
    chunk = chunk_of(facts, 0, rank)
    chunked = all(c > 0 for c in chunk)
    if chunked and element * math.prod(chunk) >= THRESHOLDS.chunk_most:
        return None
    if points < 1:
        return _grown_geometry(facts, states, element, chunk) if chunked else None
    written = facts.total("BYTES_WRITTEN")
    extendible = chunked and states > 1 and written >= states * points * element
    pieces = tuple(run // element for run in runs if run % element == 0)
    dims = _dims_of(facts, rank, points, chunk if chunked else None, known, pieces)
    if element * math.prod(dims) > MAX_OPERATION_BYTES:
        return None
    if not extendible:
        return Geometry(dims, element, chunk if chunked else None, False)
    last = _appended_dimension(dims, chunk)
    return Geometry(_moved_to_front(dims, last), element, _moved_to_front(chunk, last), True, last)


def extended_dims(facts: ModuleFacts) -> tuple[Shape, int] | None:
    """The extents of a dataset that was empty when it was opened last, and the dimension in which it grew.

    It is as wide as the largest access, and as long as what was moved, if nothing was moved twice.
    """
    rank, element = rank_of(facts), facts.largest("DATATYPE_SIZE")
    slabs = common_slabs(facts, rank)
    moved = facts.total("BYTES_WRITTEN") or facts.total("BYTES_READ")
    if not slabs or not moved or not 1 <= element <= THRESHOLDS.element_most:
        return None
    longest = tuple(max(slab.shape[i] for slab in slabs) for i in range(rank))
    grows = _appended_dimension(longest, chunk_of(facts, 0, rank))
    others = math.prod(longest[:grows] + longest[grows + 1 :])
    length = max(longest[grows], -(-moved // element // others))
    dims = (*longest[:grows], length, *longest[grows + 1 :])
    return (dims, grows) if element * math.prod(dims) <= MAX_OPERATION_BYTES else None


def _grown_geometry(facts: ModuleFacts, states: int, element: int, chunk: Shape) -> Geometry | None:
    """The geometry of a dataset that had no elements when it was opened; each state has an equal part of its length."""
    found = extended_dims(facts)
    if found is None:
        return None
    dims, grows = found
    if states == 1:
        return Geometry(dims, element, chunk, False)
    length, *others = _moved_to_front(dims, grows)
    if length % states:
        return None
    return Geometry((length // states, *others), element, _moved_to_front(chunk, grows), True, grows)


def _dims_of(
    facts: ModuleFacts, rank: int, points: int, chunk: Shape | None, known: KnownExtents, pieces: Shape
) -> Shape:
    """Extents: the chunk where it is the only one, else those of an equal dataset, else a guess from the accesses."""
    if chunk is not None and math.prod(chunk) == points:
        return chunk
    if (points, rank) in known:
        return known[(points, rank)]
    slabs = common_slabs(facts, rank)
    longest = tuple(max((slab.span[i] for slab in slabs), default=1) for i in range(rank))
    usual = max(slabs, key=lambda slab: slab.count, default=None)
    contiguous = usual is not None and set(usual.stride) == {1}
    if chunk is not None and math.prod(map(max, longest, chunk)) <= points:
        longest = tuple(map(max, longest, chunk))  # a chunk is not larger than its dataset
    slab = usual.shape if usual and contiguous else ()
    # A slab of one row across chunks is most likely a whole row.
    rows = bool(slab) and chunk is not None and math.prod(slab[:-1]) == 1 and slab[-1] > chunk[-1]
    return guess_dims(points, longest, slab, pieces, rows=rows, chunk=chunk or ())


def _appended_dimension(dims: Shape, chunk: Shape) -> int:
    """The dimension in which the dataset grows: the chunk's extent there is 1. Of several it is the first, as usual."""
    thin = [i for i, (d, c) in enumerate(zip(dims, chunk, strict=True)) if c == 1 and d == 1]
    return thin[0] if thin else 0


def _moved_to_front(shape: Shape, index: int) -> Shape:
    return (shape[index], *shape[:index], *shape[index + 1 :])


def common_slabs(facts: ModuleFacts, rank: int) -> list[Hyperslab]:
    """The (up to four) common hyperslabs of a record, slowest dimension first.

    A stride as long as the slab itself, or one that would leave the dataset, belongs to a single contiguous block.
    """
    points = facts.largest("DATASPACE_NPOINTS")
    found = []
    for k in range(1, 5):
        count, size = facts.largest(f"ACCESS{k}_COUNT"), facts.largest(f"ACCESS{k}_ACCESS")
        shape = tuple(facts.largest(f"ACCESS{k}_LENGTH_D{5 - i}") for i in range(rank))
        stride = tuple(max(1, facts.largest(f"ACCESS{k}_STRIDE_D{5 - i}")) for i in range(rank))
        if count > 0 and size > 0 and all(n > 0 for n in shape):
            stride = tuple(1 if s == n else s for n, s in zip(shape, stride, strict=True))
            slab = Hyperslab(shape, stride, count, size)
            fits = math.prod(slab.span) <= max(points, math.prod(shape))
            found.append(slab if fits else Hyperslab(shape, (1,) * rank, count, size))
    return found


def guess_dims(
    points: int,
    longest: Shape,
    slab: Shape = (),
    pieces: Shape = (),
    *,
    rows: bool = False,
    chunk: Shape = (),
    tiled: bool = False,
) -> Shape:
    """Extents whose product is `points`, each at least the longest access.

    Preferred are extents that cut the usual `slab` into contiguous pieces of a length that the levels below saw, then
    with `rows` those of which the slab is a whole row, then those that consist of whole chunks, then with `tiled` those
    that consist of whole slabs, above all in the faster dimensions, then extents in proportion to the longest access.
    Where no product fits, there are as few more elements as possible.
    """
    limits = THRESHOLDS.shapes_most, THRESHOLDS.divisor_most
    return _guessed(points, longest, slab, pieces, limits, rows, chunk, tiled)


@functools.lru_cache(maxsize=4096)
def _guessed(
    points: int,
    longest: Shape,
    slab: Shape,
    pieces: Shape,
    limits: tuple[int, int],
    rows: bool,
    chunk: Shape,
    tiled: bool,
) -> Shape:
    """The extents, given (most shapes, largest divisor) that are tried."""
    if len(longest) == 1:
        return (max(points, longest[0]),)
    best: tuple[tuple[bool, bool, bool, list[bool], float], Shape] | None = None
    for dims in _factorisations(points, len(longest), limits):
        if all(d >= n for d, n in zip(dims, longest, strict=True)):
            ratios = [math.log(d / n) for d, n in zip(dims, longest, strict=True)]
            unseen = not slab or run_length(slab, dims) not in pieces
            padded = any(d % c for d, c in zip(dims, chunk, strict=False))
            cut = [tiled and d % n > 0 for d, n in zip(reversed(dims), reversed(slab), strict=False)]
            uneven = [any(cut), *cut]
            score = (unseen, rows and dims[-1] != slab[-1], padded, uneven, max(ratios) - min(ratios))
            if best is None or score < best[0]:
                best = (score, dims)
    if best is not None:
        return best[1]
    return (max(longest[0], -(-points // math.prod(longest[1:]))), *longest[1:])


def run_length(slab: Shape, dims: Shape) -> int:
    """Elements of each contiguous piece of a slab in a dataset."""
    run = 1
    for n, d in zip(reversed(slab), reversed(dims), strict=True):
        run *= n
        if n < d:
            break
    return run


def _factorisations(points: int, parts: int, limits: tuple[int, int]) -> Iterator[Shape]:
    """Ordered factorisations of `points`; none where there are too many to try."""
    shapes_most, divisor_most = limits
    divisors = _divisors(points, divisor_most)
    if len(divisors) ** (parts - 1) <= shapes_most:
        yield from _extend(points, parts, divisors)


def _extend(points: int, parts: int, divisors: Sequence[int]) -> Iterator[Shape]:
    if parts == 1:
        yield (points,)
        return
    for d in divisors:
        if points % d == 0:
            for rest in _extend(points // d, parts - 1, divisors):
                yield (d, *rest)


def _divisors(number: int, most: int) -> list[int]:
    candidates = np.arange(1, min(math.isqrt(number), most) + 1)
    small = candidates[number % candidates == 0].tolist()
    return sorted({*small, *(number // d for d in small)})
