"""A family in the terms of other tools: dumps of a number of bytes, each with a few kinds of equal transfers."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workalike.exchange.notes import Notes
from workalike.text import plural
from workalike.workload import units
from workalike.workload.content import form_of, needs_wide_ids
from workalike.workload.dataset import Dataset
from workalike.workload.mesh_size import mesh_bytes
from workalike.workload.model import Content, Entry, Family, Mesh, Rows, Stream, Workload
from workalike.workload.words import Direction, Interface, Order, Pattern, SharingMode, Split


@dataclass(frozen=True)
class Transfer:
    """`count` operations of `size` bytes by each of `ranks` ranks, repeated `segments` times.

    Counts and sizes are means if ranks differ.
    """

    direction: Direction
    ranks: int
    count: int
    size: int
    pattern: Pattern
    collective: bool
    segments: int = 1
    stride: int = 0

    @property
    def bytes(self) -> int:
        return self.ranks * self.count * self.size * self.segments


@dataclass(frozen=True)
class Shape:
    """A family, and the number of ranks that take part in it."""

    family: Family
    ranks: int
    starts: list[float]
    stated: list[int] | None  # bytes of each dump, if they do not follow from the content alone

    @property
    def name(self) -> str:
        return f"{self.family.role.value} {self.family.number}"

    @property
    def mesh(self) -> Mesh | None:
        """The mesh of the content, if it has one."""
        return self.family.content_of(0).mesh

    @property
    def datasets(self) -> int:
        """Number of datasets of a dump."""
        content = self.family.content_of(0)
        if content.fit is not None:
            return content.fit.datasets
        return sum(arrays.datasets for arrays in content.arrays)

    @property
    def reads(self) -> bool:
        """Whether the family only reads."""
        transfers = self.transfers(0)
        return bool(transfers) and all(t.direction is Direction.READ for t in transfers)

    @property
    def collective(self) -> bool:
        return any(t.collective for t in self.transfers(0))

    def bytes_of(self, dump: int) -> int:
        """Bytes of a dump, both directions together."""
        if self.stated is not None:
            return self.stated[dump]
        return sum(t.bytes for t in self.transfers(dump))

    def transfers(self, dump: int) -> list[Transfer]:
        """The transfers of a dump; their sizes are scaled to the dump's stated bytes."""
        content = self.family.content_of(dump)
        transfers = list(self._unscaled(content, dump))
        moved = sum(t.bytes for t in transfers)
        if self.stated is None or not moved or moved == self.stated[dump]:
            return transfers
        factor = self.stated[dump] / moved
        return [
            Transfer(
                t.direction,
                t.ranks,
                t.count,
                max(round(t.size * factor), 1),
                t.pattern,
                t.collective,
                t.segments,
            )
            if t.size
            else t
            for t in transfers
        ]

    def _unscaled(self, content: Content, dump: int) -> Iterator[Transfer]:
        parts = [(stream, content.passes) for stream in content.streams]
        for stream, passes in [*parts, *((stream, 1) for stream in content.buffered)]:
            ranks = self.ranks if stream.ranks is None else units.count_ranks(stream.ranks)
            for entry in _of_each_rank(stream, ranks):
                count = entry.total(ranks)
                if count:
                    busy = min(ranks, count)  # with fewer operations than ranks, one each by the first ranks
                    yield Transfer(
                        stream.direction,
                        busy,
                        max(round(count / busy), 1),
                        entry.size,
                        stream.pattern,
                        stream.collective,
                        stream.repeat * passes,
                        stream.stride,
                    )
        if content.table is not None:
            yield from self._averaged(content.table)
        for arrays in content.arrays:
            for access in arrays.access:
                ranks = self.ranks if access.ranks is None else units.count_ranks(access.ranks)
                for slab in access.slabs:
                    size = arrays.element * math.prod(slab.shape)
                    if slab.count:
                        busy = min(ranks, slab.count)
                        segments = max(round(slab.count / busy), 1)
                        yield Transfer(
                            access.direction, busy, 1, size, Pattern.CONTIGUOUS, access.collective, segments
                        )
        total = self.stated[dump] if self.stated is not None else 0
        if content.fit is not None:
            yield self._equal(total, content.fit.datasets, content.fit.collective)
        if content.dataset is not None:
            yield self._samples(content.dataset)
        mesh = content.mesh
        if mesh is not None:
            total = total if self.stated is not None else content.moved(self.ranks, mesh.direction)
            yield self._equal(total, mesh.variable_count, mesh.collective, mesh.direction)

    def _averaged(self, rows: Rows) -> Iterator[Transfer]:
        """The rows of a table as equal operations of all ranks, each with a region of its own."""
        for direction in Direction:
            count = rows.operations(direction)
            if count:
                busy = min(self.ranks, count)
                each = max(round(count / busy), 1)
                size = round(rows.moved(direction) / (busy * each))
                yield Transfer(direction, busy, each, size, Pattern.CONTIGUOUS, rows.collective, 1)

    def _samples(self, dataset: Dataset) -> Transfer:
        """The samples that each reader of an epoch reads, as if all were in one file."""
        readers = dataset.readers_of(self.ranks)
        samples = dataset.files * dataset.samples
        if dataset.split is Split.NONE:
            return Transfer(Direction.READ, readers, samples, dataset.sample, Pattern.REPLICATED, False)
        busy = min(readers, samples)
        in_order = dataset.order is dataset.order_of_files is Order.SEQUENTIAL
        pattern = Pattern.CONTIGUOUS if in_order else Pattern.RANDOM
        return Transfer(Direction.READ, busy, max(round(samples / busy), 1), dataset.sample, pattern, False)

    def _equal(
        self, total: int, datasets: int, collective: bool, direction: Direction = Direction.WRITE
    ) -> Transfer:
        """Transfers of equal datasets, in each of which every rank has a piece."""
        size = max(round(total / (self.ranks * datasets)), 1)
        return Transfer(direction, self.ranks, 1, size, Pattern.CONTIGUOUS, collective, datasets)


def _of_each_rank(stream: Stream, ranks: int) -> list[Entry]:
    """The sizes of a stream; those of the ranks of one collective call are one mean size."""
    operations = sum(entry.total(ranks) for entry in stream.sizes)
    if not stream.collective or len(stream.sizes) < 2 or not 0 < operations <= ranks:
        return stream.sizes
    moved = sum(entry.total(ranks) * entry.size for entry in stream.sizes)
    return [Entry(count=operations, size=round(moved / operations))]


def shapes_of(workload: Workload) -> list[Shape]:
    """The families in the order of the workload."""
    found = []
    for family in workload.families:
        ranks = family.members(workload.ranks)
        found.append(Shape(family, ranks, family.schedule.starts(), _stated(family, ranks)))
    return found


def _stated(family: Family, ranks: int) -> list[int] | None:
    """The stated bytes of each dump, or those of a mesh whose parts grow; None if there are neither."""
    sizes = family.dump_sizes()
    mesh = family.content_of(0).mesh
    if sizes is not None or mesh is None or family.growth is None:
        return sizes
    parts, nodes = mesh.total_parts(ranks), mesh.part_nodes() or 0
    factors = itertools.accumulate(family.growth, operator.mul, initial=1.0)
    return list(map(_grown(mesh, parts, nodes * parts), factors))


def _grown(mesh: Mesh, parts: int, nodes: int) -> Callable[[float], int]:
    """A function from a growth factor to the bytes of the mesh, as in the plan; each factor is computed once."""

    @functools.cache
    def grown(factor: float) -> int:
        form = form_of(mesh, needs_wide_ids(nodes))
        form = form if factor == 1.0 else dataclasses.replace(form, part_dims=None)
        return mesh_bytes(form, parts, max(round(nodes * factor), parts * 2**mesh.dimensions))

    return grown


@dataclass(frozen=True)
class Event:
    """Dumps of one family that are alike and evenly spaced: `count` of them, `every` seconds apart."""

    shape: Shape
    dump: int
    count: int
    start: float
    every: float


def events(shapes: list[Shape]) -> list[Event]:
    """All dumps in order of time; equal dumps of a family form one event if no other family comes between them."""
    dumps = sorted(
        (start, index, dump) for index, shape in enumerate(shapes) for dump, start in enumerate(shape.starts)
    )
    found: list[Event] = []
    for start, index, dump in dumps:
        shape = shapes[index]
        last = found[-1] if found else None
        if last is not None and last.shape is shape and _alike(shape, last.dump, dump):
            gap = start - (last.start + (last.count - 1) * last.every)
            if last.count == 1 or abs(gap - last.every) < 1e-6:
                every = gap if last.count == 1 else last.every
                found[-1] = Event(shape, last.dump, last.count + 1, last.start, every)
                continue
        found.append(Event(shape, dump, 1, start, 0.0))
    return found


def _alike(shape: Shape, a: int, b: int) -> bool:
    return shape.transfers(a) == shape.transfers(b)


def is_private(shape: Shape) -> bool:
    """Whether each rank has a file of its own."""
    sharing = shape.family.sharing
    alone = sharing.mode is SharingMode.GROUPS and sharing.files == shape.ranks
    return sharing.mode is SharingMode.PER_RANK or alone


def say_data_set(shape: Shape, tool: str, notes: Notes) -> None:
    """Note what becomes of a data set, where a tool has nothing like it."""
    dataset = shape.family.content_of(0).dataset
    if dataset is not None:
        notes.lost(
            f"{shape.name}: {tool} has no data sets: {plural(dataset.files, 'file')} become one shared file"
        )


LIBRARIES = (Interface.HDF5, Interface.TYPHONIO, Interface.PNETCDF, Interface.ADIOS2)
