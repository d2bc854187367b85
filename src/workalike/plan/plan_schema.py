"""The plan: rules for what every rank does. docs/plan-format.md explains each field.

Sizes are in bytes, times in seconds; ranks are `"all"` or [first, last, step] ranges.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from workalike.notebook import html_table
from workalike.plan.choices import Backend as Backend
from workalike.plan.choices import Clock as Clock
from workalike.plan.choices import GapFill as GapFill
from workalike.text import plural
from workalike.workload import units
from workalike.workload.model import (
    MAX_RANKS,
    Centring,
    Count,
    Direction,
    FileDriver,
    Interface,
    Level,
    Lifetime,
    MeshType,
    Order,
    Pattern,
    Reader,
    Role,
    SharingMode,
    Strict,
    Turns,
    TyphonioPattern,
    ValueType,
)
from workalike.workload.processes import MAX_PROCESSES
from workalike.workload.quantities import MAX_BUFFER_ALIGNMENT, DirectoryName
from workalike.workload.schedule import MAX_SKEWS

PLAN_VERSION = 2

Rank = Annotated[int, Field(ge=0, lt=MAX_RANKS)]
Positive = Annotated[int, Field(ge=1, le=units.MAX_INT)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Ranges = Literal["all"] | list[tuple[Rank, Rank, Annotated[int, Field(ge=1, le=MAX_RANKS)]]]


class PlanSharing(Strict):
    mode: SharingMode = SharingMode.SHARED
    ranks: Ranges = "all"
    files: Positive = 1
    turns: Turns = Turns.CONCURRENT
    gather: bool = False


class PlanHdf5(Strict):
    layout: Literal["contiguous", "chunked"] = "contiguous"
    chunk_bytes: int = 1048576
    alignment: int = 0
    threshold: int = 0
    metadata_block: int | None = None
    sieve_buffer: int | None = None
    collective_metadata: bool = False
    individual_io: bool = False
    file_space: Literal["standard", "fsm-aggr", "page", "aggr", "none"] = "standard"
    page_bytes: int | None = None
    libver: Literal["earliest", "v18", "v110", "latest"] = "earliest"
    deflate: int = 0
    shuffle: bool = False
    subfiling: bool = False
    driver: FileDriver = FileDriver.MPI


class PlanSkew(Strict):
    """Ranks that begin with a direction later than the others, in each dump of a family or in one."""

    ranks: Ranges
    delay_s: Seconds
    dump: int | None = None


Skews = Annotated[list[PlanSkew], Field(max_length=MAX_SKEWS)]


class PlanSkews(Strict):
    """The late ranks of each direction."""

    reads: Skews | None = None
    writes: Skews | None = None


class PlanFolders(Strict):
    files: Positive | None = None
    per_rank: bool | None = None


class PlanFamily(Strict):
    id: int
    role: Role
    number: Positive
    interface: Interface
    backend: Backend
    level: Level
    sharing: PlanSharing
    lifetime: Literal[Lifetime.PER_DUMP, Lifetime.APPENDED, Lifetime.REUSED]
    keep: int = 0
    rename: bool = False
    backup: bool | None = None  # left out where it is not so
    truncate: bool = False
    sparse: bool | None = None
    removed: bool | None = None
    reader: Reader = Reader.WRITER
    shift: Positive | None = None
    drop_caches: bool = False
    directory: DirectoryName | None = None
    direct: bool | None = None
    folders: PlanFolders | None = None
    hints: dict[str, str] = Field(default_factory=dict)
    hdf5: PlanHdf5 = Field(default_factory=PlanHdf5)
    typhonio: TyphonioPattern = TyphonioPattern.FAITHFUL
    aggregators: int = 0
    buffer_alignment: Annotated[int, Field(ge=1, le=MAX_BUFFER_ALIGNMENT)] | None = None
    skew: PlanSkews | None = None


class PlanStream(Strict):
    ranks: Ranges
    direction: Direction
    pattern: Pattern | Literal["table"]
    collective: bool
    nonblocking: bool | None = None  # left out where it is not so
    base: Count
    entries: list[tuple[Count, Count]]
    mixed: bool = False
    stride: Count = 0
    pieces: Positive = 1
    table: str | None = None
    rows: tuple[Count, Count] | None = None
    buffered: Literal["descriptor", "name"] | None = None
    buffer_seeks: Count | None = None
    buffer_flushes: Count | None = None


class PlanAccess(Strict):
    ranks: Ranges
    direction: Direction
    collective: bool
    nonblocking: bool = False
    entries: list[tuple[Count, list[Positive], list[Positive]]]


class PlanArrays(Strict):
    datasets: Positive
    element: Positive
    members: Positive = 1
    dims: list[Positive]
    chunk: list[Positive] | None = None
    extendible: bool
    unlimited: Count = 0
    fill_values: bool = False
    multi: bool = False
    access: list[PlanAccess]


class PlanFit(Strict):
    bytes: Count
    datasets: Positive
    element: Positive
    collective: bool
    ops: Count | None = None


class PlanMesh(Strict):
    """`nodes` over all parts, or `bytes` that the dump moves, including what a library adds."""

    type: MeshType
    dimensions: Positive
    parts: Positive
    nodes: Count = 0
    bytes: Count | None = None
    part_dims: list[Positive] | None = None
    variables: list[tuple[Count, Centring, ValueType]]
    shared_nodes: bool = False
    wide_ids: bool = False
    materials: Count = 0
    mixed: Annotated[float, Field(ge=0, le=1)] = 0.0
    ghost: Count = 0
    globals: Count = 0
    geometry: bool = True
    direction: Direction
    collective: bool


class PlanDataset(Strict):
    """Equal files of samples, read once in each epoch; `deal` samples at a time go to each reader in turn."""

    files: Positive
    samples: Positive = 1
    bytes: Count
    deviation: Count = 0
    header: Count = 0
    transfer: Count = 0
    file_order: Order = Order.SEQUENTIAL
    sample_order: Order = Order.SEQUENTIAL
    deal: Count = 0
    readers: Count = 0
    batch: Positive = 1
    prefetch: Count = 0
    opens: Positive = 1
    stats: Count = 0
    seeks: Count = 0


class PlanContent(Strict):
    opens: Count
    stats: Count = 0
    seeks: Count = 0
    fsyncs: Count = 0
    flushes: Count = 0
    reopen: bool | None = None  # left out where it is not so
    maps: Positive | None = None  # left out where there are none
    renames: Positive | None = None  # left out where there are none
    seek_each: Literal[True] | None = None
    sync: tuple[Positive, Positive] | None = None
    flush: tuple[Positive, Positive] | None = None
    streams: list[PlanStream] = Field(default_factory=list)
    arrays: list[PlanArrays] = Field(default_factory=list)
    fit: PlanFit | None = None
    mesh: PlanMesh | None = None
    dataset: PlanDataset | None = None


Window = tuple[Seconds, Seconds, Seconds]


class PlanDump(Strict):
    """`writes` and `reads`: start of the first and end of the last, from the dump's start, and time inside calls."""

    family: Count
    index: Count
    file: Count
    content: Count
    base: Count = 0
    start_s: Seconds
    end_s: Seconds
    compute_s: Seconds = 0.0
    writes: Window | None = None
    reads: Window | None = None
    metadata_s: Seconds | None = None
    barrier: bool = False
    prepare: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for name in ("writes", "reads"):
            window = getattr(self, name)
            if window is None:
                continue
            first, last, busy = window
            if not (first <= last <= self.end_s - self.start_s and busy <= last - first):
                raise ValueError(
                    f"`{name}` must be 0 <= first <= last <= end_s - start_s, busy <= last - first"
                )
        return self


class PlanCompute(Strict):
    """The work that every rank does at each dump: a level, and units of its work."""

    level: Annotated[int, Field(ge=1, le=3)]
    units: Annotated[int, Field(ge=1, le=65536)]


class PlanProcesses(Strict):
    """Ranks that began and ended together, in seconds of the original run; without `end_s` they live to its end."""

    ranks: Ranges
    start_s: Seconds = 0.0
    end_s: Seconds | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end_s is not None and self.end_s < self.start_s:
            raise ValueError("`end_s` is before `start_s`")
        return self


class PlanScale(Strict):
    """Factors of the replica relative to the original, for ranks, bytes and time; at time 0 nothing waits."""

    ranks: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    bytes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    time: Seconds = 0.0
    scaling: Literal["strong", "weak"] = "strong"


class PlanPayload(Strict):
    compressibility: Annotated[float, Field(ge=0, le=1)] = 0.0


class Plan(Strict):
    """Rules for what every rank does: families, the contents of their dumps, and the dumps in order of their start."""

    format: Literal["workalike-plan"] = "workalike-plan"
    version: Annotated[int, Field(ge=PLAN_VERSION, le=PLAN_VERSION)] = PLAN_VERSION
    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    seed: int = 1
    clock: Clock = "gap"
    time_scale: Seconds = 0.0
    gap_fill: GapFill = "sleep"
    cpu_share: Annotated[float, Field(ge=0, le=1)] | None = None
    compute: PlanCompute | None = None
    processes: Annotated[list[PlanProcesses], Field(max_length=MAX_PROCESSES)] | None = None
    payload: PlanPayload = Field(default_factory=PlanPayload)
    scale: PlanScale = Field(default_factory=PlanScale)
    families: list[PlanFamily]
    contents: list[PlanContent]
    dumps: list[PlanDump]
    _tables: dict[str, bytes] = PrivateAttr(default_factory=dict)

    def _repr_html_(self) -> str:
        """For notebooks: a row for each family."""
        dumps = Counter(dump.family for dump in self.dumps)
        rows = [
            (f"{f.role.value} {f.number}", f.interface.value, f.backend, f"{dumps[f.id]:,}")
            for f in self.families
        ]
        title = f"Plan: {plural(self.ranks, 'rank')}, {plural(len(self.dumps), 'dump')}"
        return html_table(title, ("family", "interface", "backend", "dumps"), rows)

    @property
    def tables(self) -> dict[str, bytes]:
        """Operation tables by name, the content of files in the folder of the plan's."""
        return self._tables
