"""A family as other tools see it: dumps of so many bytes, each a few kinds of equal transfers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workalike.workload import units
from workalike.workload.model import Content, Family, Workload
from workalike.workload.words import Direction, Interface, Pattern, SharingMode


@dataclass(frozen=True)
class Transfer:
    """`count` operations of `size` bytes by each of `ranks` ranks, `segments` times one behind the other.

    Counts and sizes are means where ranks differ.
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
    """A family and the job's ranks that take part in it."""

    family: Family
    ranks: int
    starts: list[float]

    @property
    def name(self) -> str:
        return f"{self.family.role.value} {self.family.number}"

    @property
    def mesh(self) -> Any:
        """The mesh of the content, if it is one."""
        return getattr(self.family.content_of(0), "mesh", None)

    @property
    def datasets(self) -> int:
        """Datasets of a dump, 0 where it has none."""
        content = self.family.content_of(0)
        if content.fit is not None:
            return content.fit.datasets
        return sum(arrays.datasets for arrays in content.arrays)

    @property
    def reads(self) -> bool:
        """Whether it only reads."""
        transfers = self.transfers(0)
        return bool(transfers) and all(t.direction is Direction.READ for t in transfers)

    @property
    def collective(self) -> bool:
        return any(t.collective for t in self.transfers(0))

    def bytes_of(self, dump: int) -> int:
        """Bytes of a dump, both directions together."""
        sizes = self.family.dump_sizes()
        if sizes is not None:
            return sizes[dump]
        return sum(t.bytes for t in self.transfers(dump))

    def transfers(self, dump: int) -> list[Transfer]:
        """What each rank does in a dump; sizes follow the dump's stated bytes."""
        content = self.family.content_of(dump)
        sizes = self.family.dump_sizes()
        transfers = list(self._of(content, dump))
        moved = sum(t.bytes for t in transfers)
        if sizes is None or not moved or moved == sizes[dump]:
            return transfers
        factor = sizes[dump] / moved
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

    def _of(self, content: Content, dump: int) -> Iterator[Transfer]:
        for stream in content.streams:
            ranks = self.ranks if stream.ranks is None else units.count_ranks(stream.ranks)
            for entry in stream.sizes:
                count = entry.total(ranks)
                if count:
                    busy = min(ranks, count)  # fewer operations than ranks: the first ones
                    yield Transfer(
                        stream.direction,
                        busy,
                        max(round(count / busy), 1),
                        entry.size,
                        stream.pattern,
                        stream.collective,
                        stream.repeat,
                        stream.stride,
                    )
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
        stated = self.family.dump_sizes()
        if content.fit is not None and stated is not None:
            yield self._equal(stated[dump], content.fit.datasets, content.fit.collective)
        mesh = getattr(content, "mesh", None)
        if mesh is not None:
            moved = content.moved(self.ranks, mesh.direction)
            total = stated[dump] if stated else round(moved * self._growth(dump))
            yield self._equal(total, mesh.variable_count, bool(mesh.collective), mesh.direction)

    def _equal(
        self, total: int, datasets: int, collective: bool, direction: Direction = Direction.WRITE
    ) -> Transfer:
        """Equal datasets, of each of which every rank has a piece."""
        size = max(round(total / (self.ranks * datasets)), 1)
        return Transfer(direction, self.ranks, 1, size, Pattern.CONTIGUOUS, collective, datasets)

    def _growth(self, dump: int) -> float:
        return float(math.prod((self.family.growth or [])[:dump]))


def shapes_of(workload: Workload) -> list[Shape]:
    """The families in the order of the workload."""
    return [
        Shape(family, family.members(workload.ranks), family.schedule.starts())
        for family in workload.families
    ]


@dataclass(frozen=True)
class Event:
    """Dumps of one family that are alike and evenly spaced: `count` of them, `every` seconds apart."""

    shape: Shape
    dump: int
    count: int
    start: float
    every: float


def events(shapes: list[Shape]) -> list[Event]:
    """All dumps in time, runs of equal ones of a family together as long as no other family comes between."""
    todo = sorted(
        (start, index, dump) for index, shape in enumerate(shapes) for dump, start in enumerate(shape.starts)
    )
    found: list[Event] = []
    for start, index, dump in todo:
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


LIBRARIES = (Interface.HDF5, Interface.TYPHONIO, Interface.PNETCDF)
