"""H5D and PNETCDF_VAR records -> arrays: the datasets of a file and the hyperslabs that move them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.contents.arrays.dataspace import (
    Geometry,
    Hyperslab,
    KnownExtents,
    Shape,
    common_slabs,
    geometry_of,
    rank_of,
)
from workalike.characterize.contents.arrays.variables import access_kinds, as_datasets, variable_geometry
from workalike.characterize.contents.streams.bytes_by_size import moved_by
from workalike.characterize.grouping.growth import apportion
from workalike.darshan.bins import bin_of
from workalike.facts.counters import bytes_name, common_sizes
from workalike.facts.levels import fill_values
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even
from workalike.workload import units
from workalike.workload.model import ArrayAccess, Arrays, Assumption, Direction, Level, Slab

_RANK_COUNTERS = frozenset({"FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES"})

SlabKey = tuple[Shape, Shape]


@dataclass
class _EqualRecords:
    """Records with the same counters: one of them, their number, their datasets and ranks."""

    facts: ModuleFacts
    times: int
    datasets: set[int]
    ranks: set[int]


def build_arrays(
    files: Sequence[FileFacts], states: int, known: KnownExtents, level: Level = Level.H5D
) -> tuple[list[Arrays], list[Assumption]] | None:
    """The datasets of a dump, or of all `states` that share a file; None when the records do not fit arrays."""
    records = _equal_records(files, MODULE_OF_LEVEL[level])
    if records is None:
        return None
    runs = piece_sizes(files)
    filled = any(fill_values(file, level, Level.MPIIO, Direction.WRITE) for file in files)
    groups: dict[tuple[Geometry, Direction], list[_EqualRecords]] = defaultdict(list)
    for equal in records:
        if not any(equal.facts.total(bytes_name(direction)) for direction in Direction):
            continue
        if level is Level.PNETCDF:
            geometry = variable_geometry(equal.facts, states)
        else:
            geometry = geometry_of(equal.facts, states, known, runs)
        if geometry is None:
            return None
        for direction in Direction:
            if equal.facts.total(bytes_name(direction)):
                groups[(geometry, direction)].append(equal)
    if not groups or len(groups) > THRESHOLDS.array_groups:
        return None
    accesses: dict[Geometry, list[ArrayAccess]] = defaultdict(list)
    datasets: dict[Geometry, int] = {}
    for (geometry, direction), members in groups.items():
        access = _accesses(geometry, direction, members, runs, files[0])
        if not access:
            return None
        accesses[geometry] += access
        distinct = len(set().union(*(m.datasets for m in members)))
        datasets[geometry] = max(datasets.get(geometry, 0), -(-distinct // len(files)))
    arrays = [
        Arrays(
            datasets=datasets[g],
            element=g.element,
            dims=g.in_record(grown(g.dims, access)),
            chunk=g.in_record(g.chunk) if g.chunk else None,
            extendible=g.extendible,
            unlimited=g.appended,
            fill_values=g.chunk is not None and filled,
            access=[in_record(g, a) for a in sorted(access, key=lambda a: a.direction is Direction.READ)],
        )
        for g, access in accesses.items()
    ]
    return arrays, [Assumption.DATASET_SHAPE, Assumption.PLACEMENT]


def in_record(geometry: Geometry, access: ArrayAccess) -> ArrayAccess:
    """An access with its hyperslabs in the record's order of dimensions."""
    slabs = [
        slab.model_copy(
            update={
                "shape": geometry.in_record(slab.shape),
                "stride": geometry.in_record(slab.stride) if slab.stride else [],
            }
        )
        for slab in access.slabs
    ]
    return access.model_copy(update={"slabs": slabs})


def grown(dims: Shape, accesses: Sequence[ArrayAccess]) -> list[int]:
    """Extents that hold every access: a record may have a list's number of elements from before it grew."""
    if len(dims) > 1:
        return list(dims)
    lasts = (
        (slab.shape[0] - 1) * (slab.stride or [1])[0] + 1 for access in accesses for slab in access.slabs
    )
    return [max(dims[0], *lasts)]


def share_arrays(arrays: Sequence[Arrays], states: int) -> list[list[Arrays]]:
    """The datasets of each state of an appended file, with the hyperslabs shared out evenly."""
    out: list[list[Arrays]] = [[] for _ in range(states)]
    for array in arrays:
        shares = [[apportion(s.count, [1.0] * states) for s in access.slabs] for access in array.access]
        for state in range(states):
            accesses = []
            for access, counts in zip(array.access, shares, strict=True):
                slabs = [
                    slab.model_copy(update={"count": count[state]})
                    for slab, count in zip(access.slabs, counts, strict=True)
                    if count[state]
                ]
                if slabs:
                    accesses.append(access.model_copy(update={"slabs": slabs}))
            if accesses:
                out[state].append(array.model_copy(update={"access": accesses}))
    return out


def _equal_records(files: Sequence[FileFacts], module: str) -> list[_EqualRecords] | None:
    """The files' records of datasets. Equal records of many ranks, files and datasets are brought together."""
    found: dict[bytes, _EqualRecords] = {}
    for file in files:
        records = file.modules.get(module)
        if records is None:
            return None
        records = as_datasets(records)
        columns = [i for i, name in enumerate(records.counter_names) if name not in _RANK_COUNTERS]
        table = np.ascontiguousarray(records.counters[:, columns])
        for row, (number, rank) in enumerate(zip(records.ids.tolist(), records.ranks.tolist(), strict=True)):
            key = table[row].tobytes()
            if key not in found:
                found[key] = _EqualRecords(records.rows(np.array([row])), 0, set(), set())
            found[key].times += 1
            found[key].datasets.add(number)
            found[key].ranks.add(rank)
    return list(found.values())


def piece_sizes(files: Sequence[FileFacts]) -> list[int]:
    """Sizes in bytes of the contiguous pieces that the libraries made of the hyperslabs, most frequent first.

    A collective MPI-IO call moves all pieces of a rank at once: there the sizes of POSIX are the pieces.
    """
    for file in files:
        found: Counter[int] = Counter()
        for module in ("MPI-IO", "POSIX"):
            for size, count in common_sizes(file.modules[module]) if module in file.modules else []:
                found[size] = max(found[size], count)
        if found:
            return [size for size, _ in found.most_common()]
    return []


def _accesses(
    geometry: Geometry,
    direction: Direction,
    members: Sequence[_EqualRecords],
    runs: Sequence[int],
    file: FileFacts,
) -> list[ArrayAccess]:
    """The accesses of equal datasets in one direction: one, or in PnetCDF one per kind of call."""
    counts: dict[SlabKey, int] = defaultdict(int)
    for equal in members:
        for shape, stride, count in slabs_of(geometry, equal.facts, direction, runs):
            counts[(shape, stride)] += count * equal.times
    slabs = [
        Slab(count=count, shape=list(shape), stride=[] if set(stride) == {1} else list(stride))
        for (shape, stride), count in sorted(counts.items())
    ]
    if not slabs:
        return []
    if members[0].facts.module == "PNETCDF_VAR":
        records = [(m.facts, m.times) for m in members]
        kinds = list(access_kinds(file, records, direction, slabs))
    else:
        kinds = [(all(m.facts.largest("USE_MPIIO_COLLECTIVE") > 0 for m in members), False, slabs)]
    ranks = set().union(*(m.ranks for m in members))
    return [
        ArrayAccess(
            direction=direction,
            slabs=kind_slabs,
            ranks=None if -1 in ranks else units.ranges_of(sorted(ranks)),
            collective=collective,
            nonblocking=nonblocking,
        )
        for collective, nonblocking, kind_slabs in kinds
    ]


def slabs_of(
    geometry: Geometry, facts: ModuleFacts, direction: Direction, runs: Sequence[int]
) -> Iterator[tuple[Shape, Shape, int]]:
    """The hyperslabs (shape, stride, operations) of a record. They move its bytes exactly, to the element.

    Known hyperslabs come first. Other operations become nearly equal boxes with a fastest extent from the level below.
    """
    left = Counter({size: count for count, size in moved_by(facts, direction).pairs})
    known = common_slabs(facts, rank_of(facts))
    for slab in known:
        count = min(slab.count, left[slab.bytes])
        exact = math.prod(slab.shape) * geometry.element == slab.bytes
        if count and exact and geometry.holds(geometry.arranged(slab.span)):
            left[slab.bytes] -= count
            yield geometry.arranged(slab.shape), geometry.arranged(slab.stride), count
    contiguous = (1,) * len(geometry.dims)
    for shape, count in unknown_slabs(geometry, left, run_of(geometry, known, runs)):
        yield shape, contiguous, count


def unknown_slabs(geometry: Geometry, left: Counter[int], run: int) -> list[tuple[Shape, int]]:
    """Boxes for the operations whose shape is not known, by size bin. Together they move (nearly) all elements.

    A difference of less than one in two thousand is accepted: to remove it, an operation would need another size.
    """
    in_bin: dict[int, tuple[int, int]] = {}
    for size, count in left.items():
        if count and size:
            operations, moved = in_bin.get(bin_of(size), (0, 0))
            in_bin[bin_of(size)] = (operations + count, moved + count * size)
    out: list[tuple[Shape, int]] = []
    owed = 0  # elements that earlier boxes lack; negative where they have too many
    extra = 0  # bytes of a bin that are less than an element
    for _, (operations, moved) in sorted(in_bin.items()):
        elements, extra = divmod(moved + extra, geometry.element)
        if len(geometry.dims) == 1:
            out += [((n,), count) for count, n in split_even(elements, operations) if n]
            continue
        box = near_box(geometry.dims, max(1, round((elements + owed) / operations)), run)
        owed += elements - operations * math.prod(box)
        last = near_box(geometry.dims, max(1, math.prod(box) + owed), run)
        if abs(owed + math.prod(box) - math.prod(last)) < abs(owed):
            owed += math.prod(box) - math.prod(last)
            operations -= 1
            out.append((last, 1))
        if operations:
            out.append((box, operations))
    moved = sum(math.prod(box) * count for box, count in out)
    return with_exact_total(geometry.dims, out, owed) if abs(owed) * THRESHOLDS.array_owed > moved else out


def with_exact_total(dims: Shape, boxes: list[tuple[Shape, int]], owed: int) -> list[tuple[Shape, int]]:
    """The boxes with the last few changed so that the owed elements are moved too, by equally many operations."""
    out = list(boxes)
    removed = 0  # operations taken out so far
    while out and owed:
        shape, count = out.pop()
        volume = math.prod(shape)
        enough = max(len(dims) - removed, -(owed // volume) if owed < 0 else 1)
        taken = min(count, enough)
        owed += taken * volume
        removed += taken
        if count > taken:
            out.append((shape, count - taken))
        if owed > 0 and (removed >= len(dims) or not out):
            return out + exact_boxes(dims, owed, removed)
    return out


def exact_boxes(dims: Shape, elements: int, wanted: int) -> list[tuple[Shape, int]]:
    """Boxes that hold exactly this many elements; their number is as near to `wanted` as possible."""
    digits = []  # (dimension, rows of it), as in a mixed-radix number
    for d in range(len(dims)):
        number, elements = divmod(elements, math.prod(dims[d + 1 :]))
        if number:
            digits.append((d, number))
    out: list[tuple[Shape, int]] = []
    left = wanted
    for place, (d, number) in enumerate(digits):
        parts = max(-(-number // dims[d]), min(number, left - (len(digits) - place - 1)))
        left -= parts
        size, more = divmod(number, parts)
        for n, times in ((size + 1, more), (size, parts - more)):
            if times:
                out.append(((*(1,) * d, n, *dims[d + 1 :]), times))
    return out


def run_of(geometry: Geometry, known: Sequence[Hyperslab], runs: Sequence[int]) -> int:
    """Fastest extent of unknown slabs, in elements: the most frequent piece that the known slabs do not explain."""
    explained = {geometry.arranged(slab.shape)[-1] for slab in known}
    pieces = [r // geometry.element for r in runs if r % geometry.element == 0]
    fitting = [r for r in pieces if 1 < r <= geometry.dims[-1]]
    return next((r for r in fitting if r not in explained), fitting[0] if fitting else geometry.dims[-1])


def near_box(dims: Shape, elements: int, run: int) -> Shape:
    """A box inside `dims` of about this many elements; its fastest extent is `run`, or less where it has fewer."""
    if len(dims) == 1:
        return (min(elements, dims[0]),)
    fastest = min(max(run, -(-elements // math.prod(dims[:-1]))), dims[-1], elements)
    rows = max(1, round(elements / fastest))
    box = [1] * (len(dims) - 1)
    for i in range(len(dims) - 2, -1, -1):
        slower = math.prod(dims[:i])
        box[i] = max(1, min(dims[i], -(-rows // slower) if i else rows))
        rows = max(1, round(rows / box[i]))
    return (*box, fastest)
