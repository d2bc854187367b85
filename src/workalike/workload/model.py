"""The workload: what an application does to storage, in numbers and words of closed lists.

Nothing here can hold a string of a log (design, rule 5): every text field is either an
enumeration or parsed into numbers. Sizes are bytes, times seconds since the job's start.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from workalike.workload import units

MAX_RANKS = 2**24
MAX_DUMPS = 200_000
MAX_FAMILIES = 10_000
MAX_REPEATS = 1024

SCHEMA_VERSION = 1


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=False)


class Role(StrEnum):
    CHECKPOINT = "checkpoint"
    VISUALIZATION = "visualization"
    RESTART = "restart"
    INPUT = "input"
    SCRATCH = "scratch"
    OUTPUT = "output"
    LOG = "log"
    OTHER = "other"


class Interface(StrEnum):
    """Which library the application called."""

    POSIX = "posix"
    STDIO = "stdio"
    MPIIO = "mpiio"
    HDF5 = "hdf5"
    TYPHONIO = "typhonio"
    PNETCDF = "pnetcdf"


class Level(StrEnum):
    """Where bytes and operations are counted (design, "Semantics")."""

    POSIX = "posix"
    STDIO = "stdio"
    MPIIO = "mpiio"
    H5D = "h5d"
    PNETCDF = "pnetcdf"


class SharingMode(StrEnum):
    SHARED = "shared"
    PER_RANK = "per-rank"
    GROUPS = "groups"
    SUBSET = "subset"
    ROOT = "root"


class Turns(StrEnum):
    CONCURRENT = "concurrent"
    BATON = "baton"


class Lifetime(StrEnum):
    """A file a dump; one file held open and appended; one file opened anew at each dump."""

    PER_DUMP = "per-dump"
    APPENDED = "appended"
    REUSED = "reused"


class Direction(StrEnum):
    READ = "read"
    WRITE = "write"


class Pattern(StrEnum):
    CONTIGUOUS = "contiguous"
    INTERLEAVED = "interleaved"
    STRIDED = "strided"
    RANDOM = "random"
    SAME = "same"
    REPLICATED = "replicated"


class Reader(StrEnum):
    WRITER = "writer"
    NEIGHBOUR = "neighbour"


class Assumption(StrEnum):
    """What the log could not tell and was assumed instead."""

    PLACEMENT = "placement"  # offsets follow from counters, not from a trace
    RANK_SHARES = "rank-shares"  # who moved how much in a reduced record
    SIZES = "sizes"  # the sizes beyond the four common ones are solved from the histogram
    STATES = "states"  # the number of dumps in one long-lived file
    STATE_SIZES = "state-sizes"  # the bytes of each state follow the checkpoints' growth (Eq. 2 to 4)
    SCHEDULE = "schedule"  # dump times are evenly spread or borrowed
    ROLE = "role"
    DATASET_SHAPE = "dataset-shape"
    ORDER = "order"  # the order of streams in a dump
    SYNC_PLACE = "sync-place"
    DECK = "deck"  # taken from another workload's input deck


class Reason(StrEnum):
    """Why data of the log is not in the workload."""

    PARTIAL_MODULE = "partial-module"
    UNSUPPORTED_MODULE = "unsupported-module"
    SIEVING = "sieving"
    LIBRARY_METADATA = "library-metadata"
    FILL_VALUES = "fill-values"
    NOISE = "noise"
    MMAP = "mmap"


def _ranks_in(value: object) -> object:
    """Text from a file; from code also None and (first, last, step) tuples, which YAML cannot hold."""
    if value is None or (isinstance(value, list) and value and all(isinstance(r, tuple) for r in value)):
        return value
    return units.parse_ranks(value)


Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    PlainSerializer(units.format_size, return_type=str),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "examples": ["259 MiB"]}]}),
]
Seconds = Annotated[
    float,
    BeforeValidator(units.parse_time),
    PlainSerializer(units.format_time, return_type=str),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "examples": ["12.5 s"]}]}),
]
Ranks = Annotated[
    list[tuple[int, int, int]] | None,
    BeforeValidator(_ranks_in),
    PlainSerializer(units.format_ranks, return_type=str),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "examples": ["all", "0-511:8"]}]}),
]
Count = Annotated[int, Field(ge=0, le=units.MAX_INT)]


class Entry(BaseModel):
    """Operations of one size; written `16384 x 128 MiB` (a total) or `8/rank x 128 MiB`."""

    count: Count
    size: Annotated[int, Field(ge=0, le=units.MAX_INT)]
    per_rank: bool = False

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        if isinstance(value, str):
            count, per_rank, size = units.parse_entry(value)
            return {"count": count, "size": size, "per_rank": per_rank}
        return value

    def total(self, members: int) -> int:
        """Operations over all `members` ranks of the stream."""
        return self.count * members if self.per_rank else self.count

    def text(self) -> str:
        return f"{self.count}{'/rank' if self.per_rank else ''} x {units.format_size(self.size)}"


EntryText = Annotated[
    Entry,
    PlainSerializer(lambda e: e.text(), return_type=str),
    WithJsonSchema({"type": "string", "examples": ["16384 x 128 MiB", "8/rank x 128 MiB"]}),
]


class Stream(Strict):
    """An access stream: one homogeneous part of a dump.

    `sizes` are totals over the stream's ranks unless written per rank; `base` is where it begins in the
    file, by default behind the dump's earlier streams of the same direction; `stride` (bytes, pattern
    strided) is the distance between the starts of a rank's successive operations. With `repeat` all of it is
    done that often, each time behind the last: `repeat: 8` of a contiguous stream are eight variables, in
    each of which every rank owns a piece.
    """

    direction: Direction
    sizes: Annotated[list[EntryText], Field(min_length=1)]
    pattern: Pattern = Pattern.CONTIGUOUS
    ranks: Ranks = None
    collective: bool = False
    base: Size | None = None
    mixed: bool = False
    stride: Size = 0
    pieces: Annotated[int, Field(ge=1, le=2**31)] = 1
    repeat: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 1


class Slab(Strict):
    """`count` hyperslabs over all ranks and datasets, each of `shape` elements with `stride`."""

    count: Count
    shape: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=32)]
    stride: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list)


class ArrayAccess(Strict):
    direction: Direction
    slabs: Annotated[list[Slab], Field(min_length=1)]
    ranks: Ranks = None
    collective: bool = False


class Arrays(Strict):
    """Equal library datasets and how they are accessed (hdf5)."""

    datasets: Annotated[int, Field(ge=1, le=10**7)] = 1
    element: Annotated[int, Field(ge=1, le=2**20)] = 8
    dims: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=32)]
    chunk: list[Annotated[int, Field(ge=1)]] | None = None
    extendible: bool = False
    access: Annotated[list[ArrayAccess], Field(min_length=1)]


class Fit(Strict):
    """Equal 1-D datasets, sized so that a dump moves `sizes` bytes, the library's metadata included."""

    datasets: Annotated[int, Field(ge=1, le=10**6)] = 1
    element: Annotated[int, Field(ge=1, le=2**20)] = 8
    collective: bool = True


class Content(Strict):
    """What one dump does. Counts are totals over the dump's ranks; `opens` 0 means one a member."""

    opens: Count = 0
    stats: Count = 0
    seeks: Count = 0
    fsyncs: Count = 0
    flushes: Count = 0
    streams: list[Stream] = Field(default_factory=list)
    arrays: list[Arrays] = Field(default_factory=list)
    fit: Fit | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.fit is not None and (self.streams or self.arrays):
            raise ValueError("fit stands alone: it replaces streams and arrays")
        return self

    def moved(self, members: int, direction: Direction) -> int:
        """Bytes that `members` ranks move in one direction (a fit has none of its own)."""
        total = 0
        for stream in self.streams:
            if stream.direction is direction:
                n = members if stream.ranks is None else units.count_ranks(stream.ranks)
                total += stream.repeat * sum(e.total(n) * e.size for e in stream.sizes)
        for arrays in self.arrays:
            for access in arrays.access:
                if access.direction is direction:
                    total += sum(_slab_bytes(s, arrays.element) for s in access.slabs)
        return total


def _slab_bytes(slab: Slab, element: int) -> int:
    size = slab.count * element
    for extent in slab.shape:
        size *= extent
    return size


class Sharing(Strict):
    """Who writes into which file; also written as one word (`sharing: per-rank`)."""

    mode: SharingMode = SharingMode.SHARED
    ranks: Ranks = None
    files: Annotated[int, Field(ge=1, le=MAX_RANKS)] = 1
    turns: Turns = Turns.CONCURRENT
    gather: bool = False

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"mode": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.mode is SharingMode.SUBSET and self.ranks is None:
            raise ValueError("sharing subset needs its ranks, for instance `ranks: 0-55`")
        if self.mode is SharingMode.ROOT:
            self.ranks = self.ranks or [(0, 0, 1)]
            if units.count_ranks(self.ranks) != 1:
                raise ValueError("sharing root has one rank")
        return self


class Schedule(Strict):
    """When the dumps are due: `start` for each, or `first` and `every`, or `gaps` (start to start)."""

    count: Annotated[int, Field(ge=1, le=MAX_DUMPS)] | None = None
    start: list[Seconds] | None = None
    first: Seconds | None = None
    every: Seconds | None = None
    gaps: list[Seconds] | None = None
    duration: Seconds | list[Seconds] = 0.0

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.start is None and self.gaps is None and self.count is None:
            raise ValueError("a schedule needs `start`, or `gaps`, or `count` with `first` and `every`")
        if self.start is not None and (self.gaps is not None or self.every is not None or self.first is not None):
            raise ValueError("`start` lists every dump: leave out `first`, `every` and `gaps`")
        if self.gaps is not None and self.every is not None:
            raise ValueError("give `every` or `gaps`, not both")
        for listed in (self.start, self.gaps):
            if listed is not None and not 1 <= len(listed) <= MAX_DUMPS:
                raise ValueError(f"a schedule has 1 to {MAX_DUMPS} dumps")
            if listed is not None and self.count not in (None, len(listed)):
                raise ValueError(f"count says {self.count}, the list has {len(listed)}")
        if isinstance(self.duration, list) and len(self.duration) != self.dumps:
            raise ValueError(f"{len(self.duration)} durations for {self.dumps} dumps")
        return self

    @property
    def dumps(self) -> int:
        if self.start is not None:
            return len(self.start)
        if self.gaps is not None:
            return len(self.gaps)
        return self.count or 1

    def starts(self) -> list[float]:
        """Start of each dump in seconds since the job's start."""
        if self.start is not None:
            return list(self.start)
        if self.gaps is not None:
            now, starts = self.first or 0.0, []
            for gap in self.gaps:
                now += gap
                starts.append(now)
            return starts
        first, every = self.first or 0.0, self.every or 0.0
        return [first + i * every for i in range(self.dumps)]

    def ends(self) -> list[float]:
        starts = self.starts()
        lengths = self.duration if isinstance(self.duration, list) else [self.duration] * len(starts)
        return [s + d for s, d in zip(starts, lengths, strict=True)]


class Tunable(Strict):
    """What a bidder may change; everything else of a family is fixed."""

    cb_nodes: int | None = Field(default=None, ge=1)
    cb_buffer_size: Size | None = None
    collective_buffering: bool | None = None
    data_sieving: bool | None = None
    alignment: Size | None = None
    stripe_size: Size | None = None
    stripe_count: int | None = Field(default=None, ge=-1)
    chunk_bytes: Size | None = None
    layout: Annotated[str, Field(pattern="^(contiguous|chunked)$")] | None = None


class Family(Strict):
    """A file family: the files of one purpose, and every dump or load of them."""

    role: Role
    number: Annotated[int, Field(ge=1, le=10**6)] = 1
    interface: Interface = Interface.MPIIO
    level: Level | None = None  # by default the interface's own, mpiio for libraries above it
    sharing: Sharing = Field(default_factory=Sharing)
    lifetime: Lifetime = Lifetime.PER_DUMP
    keep: Annotated[int, Field(ge=0)] = 0
    rename: bool = False
    reader: Reader = Reader.WRITER
    drop_caches: bool = False
    schedule: Schedule
    sizes: Size | list[Size] | None = None
    growth: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = None
    content: Content | None = None
    contents: list[Content] = Field(default_factory=list)
    use: list[Annotated[int, Field(ge=0)]] | None = None
    assumed: list[Assumption] = Field(default_factory=list)
    tunable: Tunable = Field(default_factory=Tunable)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        n = self.schedule.dumps
        if (self.content is None) == (not self.contents):
            raise ValueError("a family has `content` (the same for every dump) or `contents`")
        if self.use is None and self.contents and len(self.contents) != n:
            raise ValueError(f"{len(self.contents)} contents for {n} dumps: say with `use` which dump has which")
        if self.use is not None and (len(self.use) != n or any(u >= len(self.contents) for u in self.use)):
            raise ValueError(f"`use` needs one index into `contents` for each of the {n} dumps")
        if isinstance(self.sizes, list) and len(self.sizes) != n:
            raise ValueError(f"{len(self.sizes)} sizes for {n} dumps")
        if self.growth is not None and (isinstance(self.sizes, list) or len(self.growth) != n - 1):
            raise ValueError(f"growth has one factor between dumps ({n - 1}), applied to a single `sizes`")
        if self.growth is not None and self.sizes is None:
            raise ValueError("growth needs `sizes`, the size of the first dump")
        for content in self.contents or [self.content]:
            if content is not None and content.fit is not None and self.sizes is None:
                raise ValueError("content fit needs `sizes`, the bytes of a dump")
        return self

    @property
    def counted_at(self) -> Level:
        """The level at which bytes and operations of this family are counted."""
        if self.level is not None:
            return self.level
        own = {Interface.POSIX: Level.POSIX, Interface.STDIO: Level.STDIO}
        return own.get(self.interface, Level.MPIIO)

    def content_of(self, dump: int) -> Content:
        if self.content is not None:
            return self.content
        return self.contents[self.use[dump] if self.use is not None else dump]

    def dump_sizes(self) -> list[int] | None:
        """Bytes of each dump where the workload states them, else None (the content's own bytes)."""
        n = self.schedule.dumps
        if self.sizes is None or isinstance(self.sizes, list):
            return self.sizes
        factor, out = 1.0, [self.sizes]
        for step in self.growth or [1.0] * (n - 1):
            factor *= step  # a double applied to the base, so that rounding does not accumulate
            out.append(round(self.sizes * factor))
        return out

    def members(self, ranks: int) -> int:
        """How many of `ranks` ranks take part."""
        return ranks if self.sharing.ranks is None else units.count_ranks(self.sharing.ranks)


class Uncovered(Strict):
    """Bytes of the log that the workload does not hold, and why."""

    reason: Reason
    bytes: Size = 0
    files: Count = 0


class Workload(Strict):
    """A workload file, schema version 1."""

    workalike: Annotated[int, Field(ge=1, le=SCHEMA_VERSION)] = SCHEMA_VERSION
    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    nodes: Annotated[int, Field(ge=1, le=MAX_RANKS)] | None = None
    runtime: Seconds = 0.0
    families: Annotated[list[Family], Field(max_length=MAX_FAMILIES)]
    uncovered: list[Uncovered] = Field(default_factory=list)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        seen = set()
        for family in self.families:
            if (family.role, family.number) in seen:
                raise ValueError(f"two families are {family.role.value} {family.number}: number them")
            seen.add((family.role, family.number))
            sets = [family.sharing.ranks]
            for content in family.contents or [family.content]:
                sets += [s.ranks for s in content.streams] if content else []
            for ranks in sets:
                if ranks and ranks[-1][1] >= self.ranks:
                    raise ValueError(f"{family.role.value} {family.number} names rank {ranks[-1][1]} of {self.ranks}")
        return self
