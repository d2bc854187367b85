"""The content of a dump: access streams, library datasets, or datasets that fit a size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from workalike.workload import units
from workalike.workload.amid import AmidText, AmidWrites
from workalike.workload.dataset import Dataset
from workalike.workload.mesh import Mesh
from workalike.workload.mesh_size import MeshForm, mesh_bytes
from workalike.workload.quantities import (
    MAX_DATASETS,
    MAX_FILE_BYTES,
    MAX_OPERATION_BYTES,
    MAX_REPEATS,
    Extent,
    Operations,
    RankRanges,
    Ranks,
    Size,
    Strict,
    beyond_limit,
)
from workalike.workload.words import Direction, Pattern


class Entry(BaseModel):
    """Operations of one size: a total over the stream's ranks, or of each rank."""

    count: Operations
    size: Annotated[int, Field(ge=0, le=MAX_OPERATION_BYTES)]
    per_rank: bool = False

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        count, per_rank, sizes = units.parse_entry(value)
        return {"count": count, "size": sizes.start, "per_rank": per_rank}

    def total(self, members: int) -> int:
        """Number of operations over all `members` ranks of the stream."""
        return self.count * members if self.per_rank else self.count


def _ranges(value: Any) -> Any:
    """The list with an entry for each size of a range, `5 x 100..109 B`; other entries as they are."""
    if not isinstance(value, list):
        return value
    out: list[Any] = []
    for item in value:
        if not isinstance(item, str) or ".." not in item:
            out.append(item)
            continue
        count, per_rank, sizes = units.parse_entry(item)
        out += [{"count": count, "size": size, "per_rank": per_rank} for size in sizes]
    return out


def entry_texts(entries: Sequence[Entry]) -> list[str]:
    """The entries as text; at least three sizes that follow each other with as many operations each are a range."""
    runs: list[list[Entry]] = []
    for entry in entries:
        after = runs[-1][-1] if runs else None
        same = after is not None and (entry.count, entry.per_rank) == (after.count, after.per_rank)
        if after is not None and same and entry.size == after.size + 1:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    parts = [part for run in runs for part in ([run] if len(run) > 2 else [[entry] for entry in run])]
    return [
        units.format_entry(part[0].count, part[0].per_rank, part[0].size, part[-1].size) for part in parts
    ]


Entries = Annotated[
    list[Entry],
    Field(min_length=1),
    BeforeValidator(_ranges),
    PlainSerializer(entry_texts, return_type=list[str]),
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "string",
                "pattern": units.ENTRY_PATTERN,
                "examples": ["16384 x 128 MiB", "8/rank x 128 MiB", "2/rank x 500..509 B"],
            },
        }
    ),
]


class Stream(Strict):
    """An access stream: one homogeneous part of a dump.

    `sizes` are totals over the stream's ranks, unless written per rank. `base` is where it begins in the file, by
    default after the dump's earlier streams of the same direction. `stride` (bytes; pattern strided, or interleaved with
    one size) is the distance between the starts of a rank's successive operations. `repeat` repeats the whole stream,
    each time after the last one: `repeat: 8` of a contiguous stream stands for eight variables, in each of which every rank has a piece.
    `nonblocking` calls of MPI-IO are posted, and completed at the end of the stream.
    """

    direction: Direction
    sizes: Entries
    pattern: Pattern = Pattern.CONTIGUOUS
    ranks: Ranks = None
    collective: bool = False
    base: Size | None = None
    mixed: bool = False
    nonblocking: bool = False
    stride: Size = 0
    pieces: Annotated[int, Field(ge=1, le=2**30)] = 1
    repeat: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 1

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        largest = max(e.size for e in self.sizes)
        if self.pattern is Pattern.STRIDED and self.stride < largest:
            raise ValueError(
                f"pattern strided needs a `stride` of at least its largest size, {units.format_size(largest)}"
            )
        if self.stride and self.pattern is Pattern.INTERLEAVED:
            self._check_rounds(largest)
        elif self.stride and self.pattern is not Pattern.STRIDED:
            raise ValueError("a `stride` belongs to pattern strided or interleaved")
        if self.stride > MAX_OPERATION_BYTES or (self.base or 0) > MAX_FILE_BYTES:
            raise beyond_limit(
                f"a file may have at most {units.format_size(MAX_FILE_BYTES)}: lower base or stride"
            )
        if self.pieces > 1:
            self._check_pieces()
        if self.nonblocking and (self.collective or self.pieces > 1):
            raise ValueError("`nonblocking` operations are independent, and of one piece")
        return self

    def _check_rounds(self, largest: int) -> None:
        if len(self.sizes) > 1 or self.stride < largest:
            raise ValueError("the `stride` of interleaved operations needs one size of at most as many bytes")

    def _check_pieces(self) -> None:
        if self.mixed or self.pattern not in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED):
            raise ValueError(
                "operations of several `pieces` must be contiguous or interleaved, and not mixed"
            )
        odd = next((e.size for e in self.sizes if e.size % self.pieces), None)
        if odd is not None:
            raise ValueError(f"{odd} bytes cannot be cut into {self.pieces} equal pieces")


class BufferedStream(Stream):
    """Operations by a stream of the C library on a file that POSIX has open, after the `streams` (writes: after theirs).

    Each of its ranks has a stream: on a copy of the open descriptor (`fdopen`), or, with `by_name`, opened by the
    file's name (`fopen`). `seeks` and `flushes` are those of the streams, over all ranks.
    """

    by_name: bool = False
    seeks: Operations = 0
    flushes: Operations = 0

    @model_validator(mode="after")
    def _of_one_piece(self) -> Self:
        if self.collective or self.nonblocking or self.pieces > 1:
            raise ValueError("operations of `buffered` streams are independent, and of one piece")
        return self


class Slab(Strict):
    """`count` hyperslabs over all ranks and datasets, each of `shape` elements with `stride`."""

    count: Operations
    shape: Annotated[list[Extent], Field(min_length=1, max_length=32)]
    stride: list[Extent] = Field(default_factory=list)

    def bytes(self, element: int) -> int:
        """Bytes of all hyperslabs, with `element` bytes per element."""
        return self.count * element * math.prod(self.shape)


class ArrayAccess(Strict):
    direction: Direction
    slabs: Annotated[list[Slab], Field(min_length=1)]
    ranks: Ranks = None
    collective: bool = False
    nonblocking: bool = False


class Arrays(Strict):
    """Equal datasets of a library, and how they are accessed (hdf5, pnetcdf).

    `unlimited`: the dimension in which an extendible dataset grows, 0 is the slowest (not 0: hdf5 only). `fill_values`: the library writes fill values when it allocates space, so that all data are written twice.
    `members`: an element is a compound of that many equal members, with `element` bytes in all. `multi`: one call
    writes a slab of each dataset (hdf5). `nonblocking` accesses are posted, and completed at the end of the dump
    (pnetcdf). A dump that leaves these datasets alone, while another dump of the file uses them, has no `access`.
    """

    datasets: Annotated[int, Field(ge=1, le=MAX_DATASETS)] = 1
    element: Annotated[int, Field(ge=1, le=2**20)] = 8
    members: Annotated[int, Field(ge=1, le=4096)] = 1
    dims: Annotated[list[Extent], Field(min_length=1, max_length=32)]
    chunk: list[Extent] | None = None
    extendible: bool = False
    unlimited: Annotated[int, Field(ge=0, lt=32)] = 0
    fill_values: bool = False
    multi: bool = False
    access: list[ArrayAccess]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rank = len(self.dims)
        if self.element % self.members:
            raise ValueError(f"an element of {self.element} B has no {self.members} equal members")
        if self.multi:
            self._check_multi()
        if self.unlimited and not (self.extendible and self.unlimited < rank):
            raise ValueError(f"`unlimited` needs `extendible: true`, and a dimension from 0 to {rank - 1}")
        if self.element * math.prod(self.dims) > MAX_OPERATION_BYTES:
            raise beyond_limit(f"a dataset may have at most {units.format_size(MAX_OPERATION_BYTES)}")
        if self.chunk is not None and len(self.chunk) != rank:
            raise ValueError(f"`chunk` needs {rank} extents, as many as `dims`")
        if self.chunk is not None and self.element * math.prod(self.chunk) >= 2**32:
            raise ValueError("a chunk must be smaller than 4 GiB (HDF5 stores its size in 32 bits)")
        for slab in (s for access in self.access for s in access.slabs):
            if len(slab.shape) != rank or (slab.stride and len(slab.stride) != rank):
                raise ValueError(f"a slab's `shape` and `stride` need {rank} extents, as many as `dims`")
            strides = slab.stride or [1] * rank
            if any((n - 1) * s + 1 > d for n, s, d in zip(slab.shape, strides, self.dims, strict=True)):
                raise ValueError(f"a slab of {slab.shape} with stride {strides} is larger than the dataset")
        return self

    def _check_multi(self) -> None:
        """Check that calls over all datasets write, and that each has a slab of every dataset."""
        if any(access.direction is not Direction.WRITE for access in self.access):
            raise ValueError("`multi` calls only write: leave it out where an access reads")
        odd = next((s.count for a in self.access for s in a.slabs if s.count % self.datasets), None)
        if odd is not None:
            raise ValueError(f"`multi` needs counts that are multiples of `datasets`, which {odd} is not")


class Fit(Strict):
    """Equal 1-D datasets of such a size that a dump moves `sizes` bytes, including the library's metadata."""

    datasets: Annotated[int, Field(ge=1, le=MAX_DATASETS)] = 1
    element: Annotated[int, Field(ge=1, le=2**20)] = 8
    collective: bool = True


class Rows(Strict):
    """A dump's operations as rows of the workload's operation table, each rank's in the order of the rows.

    `first` is the first row; the reads and writes are the number of rows. With `nonblocking`, those that are not
    collective are posted, and completed at the end.
    """

    first: Operations = 0
    reads: Operations = 0
    writes: Operations = 0
    bytes_read: Size = 0
    bytes_written: Size = 0
    nonblocking: bool = False
    collective: bool = False

    @property
    def count(self) -> int:
        return self.reads + self.writes

    def moved(self, direction: Direction) -> int:
        """Bytes of all rows of a direction."""
        return self.bytes_written if direction is Direction.WRITE else self.bytes_read

    def operations(self, direction: Direction) -> int:
        """Rows of a direction."""
        return self.writes if direction is Direction.WRITE else self.reads


CALLS = ("opens", "stats", "seeks", "fsyncs", "flushes", "maps", "renames")
"""Calls that a content counts; 0 where it does not name them."""


def count_of(calls: int | str) -> int:
    """Calls that a content counts; 0 for those that go with its operations."""
    return calls if isinstance(calls, int) else 0


class Content(Strict):
    """What one dump does. Counts are totals over the dump's ranks; `opens` 0 means one open per member, but none where
    the content has nothing but `stats`.

    With `reopen` the opens of a rank are spread over its operations: the file is closed and opened anew amid them, not
    opened so often before them. `seeks: each` is a seek before each operation. `maps` are of the open files into memory,
    before the first operation; nothing is moved through them. `fsyncs` and `flushes` come at the end of the dump. What
    `sync` and `flush` say comes in addition: an fsync or flush of a rank after each of its writes, or after each of a
    number of them. `renames` are those of its files after it has closed them, beside the one that `rename` or `backup` of
    the family says.

    With `passes` the streams are gone through that often, one after the other and over the same bytes of the file;
    their sizes are those of one pass.
    """

    opens: Operations = 0
    reopen: bool = False
    stats: Operations = 0
    seeks: Operations | Literal["each"] = 0
    fsyncs: Operations = 0
    flushes: Operations = 0
    maps: Operations = 0
    renames: Operations = 0
    sync: AmidText = AmidWrites()
    flush: AmidText = AmidWrites()
    streams: list[Stream] = Field(default_factory=list)
    passes: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 1
    table: Rows | None = None
    buffered: list[BufferedStream] = Field(default_factory=list)
    arrays: list[Arrays] = Field(default_factory=list)
    fit: Fit | None = None
    mesh: Mesh | None = None
    dataset: Dataset | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.fit is not None and (self.streams or self.arrays):
            raise ValueError("`fit` replaces streams and arrays: leave them out")
        if self.mesh is not None and (self.streams or self.arrays or self.fit):
            raise ValueError("`mesh` replaces streams, arrays and fit: leave them out")
        if self.table is not None and (self.streams or self.arrays or self.fit or self.mesh):
            raise ValueError("`table` replaces streams, arrays, fit and mesh: leave them out")
        if self.reopen and self.buffered:
            raise ValueError("`buffered` streams are on files that stay open: leave out `reopen`")
        if self.buffered and (self.arrays or self.fit or self.mesh):
            raise ValueError("`buffered` goes with `streams` and `table`")
        if self.dataset is not None and not self._only_dataset():
            raise ValueError("`dataset` has its own calls and replaces all other content: leave that out")
        if self.arrays and not (self.streams or any(arrays.access for arrays in self.arrays)):
            raise ValueError("no dataset of `arrays` has an `access`: state who writes or reads it")
        if self.reopen and (not self.opens or self.arrays or not (self.streams or self.table)):
            raise ValueError(
                "`reopen` spreads the `opens` over the operations of streams or a table: state them"
            )
        if self.passes > 1 and (self.arrays or not self.streams):
            raise ValueError("`passes` are of streams alone")
        if (self.sync or self.flush) and not (self.streams or self.table or self.arrays):
            raise ValueError(
                "`sync` and `flush` are amid writes of streams or arrays: use `fsyncs` or `flushes`"
            )
        return self

    def _only_dataset(self) -> bool:
        other = self.all_streams or self.arrays or self.fit or self.mesh or self.table
        counts = (self.opens, self.stats, self.seeks, self.fsyncs, self.flushes, self.maps, self.renames)
        calls = (*counts, self.sync, self.flush)
        return not other and not any(calls)

    @property
    def all_streams(self) -> list[Stream]:
        """Its streams, and the buffered ones."""
        return [*self.streams, *self.buffered]

    @property
    def only_stats(self) -> bool:
        """Whether the files are asked for their status and not opened."""
        has_data = self.all_streams or self.table or self.arrays or self.fit or self.mesh or self.dataset
        calls = (self.opens, self.seeks, self.fsyncs, self.flushes, self.maps)
        return self.stats > 0 and not has_data and not any(calls)

    def moved(self, members: int, direction: Direction) -> int:
        """Bytes that `members` ranks move in one direction; a `fit` has none, because the family states them."""
        total = 0
        if self.mesh is not None and self.mesh.direction is direction:
            total += mesh_moves(self.mesh, members)
        if self.table is not None:
            total += self.table.moved(direction)
        if self.dataset is not None and direction is Direction.READ:
            total += self.dataset.moved(members)
        for passes, streams in ((self.passes, self.streams), (1, self.buffered)):
            for stream in streams:
                if stream.direction is direction:
                    n = members if stream.ranks is None else units.count_ranks(stream.ranks)
                    total += passes * stream.repeat * sum(e.total(n) * e.size for e in stream.sizes)
        for arrays in self.arrays:
            for access in arrays.access:
                if access.direction is direction:
                    total += sum(s.bytes(arrays.element) for s in access.slabs)
        return total

    def collective(self) -> bool:
        """Whether any of its calls are collective."""
        if self.fit is not None:
            return self.fit.collective
        if self.mesh is not None:
            return self.mesh.collective
        if self.table is not None:
            return self.table.collective
        accesses = [access for arrays in self.arrays for access in arrays.access]
        return any(s.collective for s in self.streams) or any(a.collective for a in accesses)

    def rank_sets(self) -> list[RankRanges | None]:
        """The rank sets of its streams and array accesses; None: all members."""
        return [s.ranks for s in self.all_streams] + [
            a.ranks for arrays in self.arrays for a in arrays.access
        ]


def form_of(mesh: Mesh, wide_ids: bool = False) -> MeshForm:
    """What decides the bytes of a workload's mesh."""
    return MeshForm(
        type=mesh.type,
        dimensions=mesh.dimensions,
        variables=mesh.runs(),
        part_dims=mesh.part_dims,
        shared_nodes=mesh.shared_nodes,
        wide_ids=wide_ids,
        materials=mesh.materials,
        mixed=mesh.mixed,
        ghost=mesh.ghost,
        geometry=mesh.geometry,
    )


def mesh_moves(mesh: Mesh, members: int, grown: float = 1.0) -> int:
    """Bytes of a mesh on `members` ranks in one file, with parts `grown` times as large.

    0 if the mesh states no size of parts, because the family's `sizes` state the bytes.
    """
    nodes = mesh.part_nodes()
    if nodes is None:
        return 0
    parts = mesh.total_parts(members)
    total = round(nodes * parts * grown)
    form = form_of(mesh, needs_wide_ids(total))
    return mesh_bytes(form if grown == 1 else replace(form, part_dims=None), parts, total)


def needs_wide_ids(nodes: int) -> bool:
    """Whether node numbers need more than 32 bits; ghosts may double the number of nodes."""
    return nodes > 2**30
