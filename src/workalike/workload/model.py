"""The workload: what an application does to storage, in numbers and words of closed lists.

No field can contain a string of a log: every text field is an enumeration, or is parsed into numbers. One is a word of
its author, `directory`, which no log gives. Sizes are in bytes, times in seconds since the job's start.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from workalike.notebook import html_table
from workalike.text import plural
from workalike.workload import units
from workalike.workload.amid import AmidWrites
from workalike.workload.content import (
    ArrayAccess,
    Arrays,
    BufferedStream,
    Content,
    Entry,
    Fit,
    Rows,
    Slab,
    Stream,
)
from workalike.workload.dataset import Dataset
from workalike.workload.family import Family, Sharing
from workalike.workload.mesh import Centring, Mesh, MeshType, ValueType, Variables
from workalike.workload.per_dump import MOST_VALUES, size_of
from workalike.workload.processes import Processes, ProcessGroups, contradiction, named_twice
from workalike.workload.quantities import (
    MAX_ALIGNMENT,
    MAX_ALL_DUMPS,
    MAX_DATASETS,
    MAX_DUMPS,
    MAX_FAMILIES,
    MAX_FILE_BYTES,
    MAX_OPERATION_BYTES,
    MAX_OPERATIONS,
    MAX_RANKS,
    MAX_REPEATS,
    MAX_STRIPES,
    Count,
    RankRanges,
    Ranks,
    Seconds,
    Size,
    Strict,
    beyond_limit,
)
from workalike.workload.schedule import Schedule, Window
from workalike.workload.table_reference import TableReference
from workalike.workload.tunable import Tunable
from workalike.workload.words import (
    Assumption,
    Direction,
    FileDriver,
    FileSpace,
    Interface,
    Layout,
    Level,
    LibraryBounds,
    Lifetime,
    Order,
    Pattern,
    Privacy,
    Reader,
    Reason,
    Role,
    SharingMode,
    Split,
    Turns,
    TyphonioPattern,
)

__all__ = [
    "MAX_ALIGNMENT",
    "MAX_ALL_DUMPS",
    "MAX_DATASETS",
    "MAX_DUMPS",
    "MAX_FAMILIES",
    "MAX_FILE_BYTES",
    "MAX_OPERATIONS",
    "MAX_OPERATION_BYTES",
    "MAX_RANKS",
    "MAX_REPEATS",
    "MAX_STRIPES",
    "AmidWrites",
    "ArrayAccess",
    "Arrays",
    "Assumption",
    "BufferedStream",
    "Centring",
    "Compute",
    "Content",
    "Count",
    "Dataset",
    "Direction",
    "Entry",
    "Family",
    "FileDriver",
    "FileSpace",
    "Fit",
    "Interface",
    "Layout",
    "Level",
    "LibraryBounds",
    "Lifetime",
    "Mesh",
    "MeshType",
    "Order",
    "Pattern",
    "Privacy",
    "Processes",
    "RankRanges",
    "Ranks",
    "Reader",
    "Reason",
    "Role",
    "Rows",
    "Schedule",
    "Seconds",
    "Sharing",
    "SharingMode",
    "Size",
    "Slab",
    "Split",
    "Stream",
    "Strict",
    "TableReference",
    "Tunable",
    "Turns",
    "TyphonioPattern",
    "Uncovered",
    "ValueType",
    "Variables",
    "Window",
    "Workload",
]

SCHEMA_VERSION = 2


class Compute(Strict):
    """What every rank computes at each dump: before a dump that writes, after one that only reads (MINIO, section 2.2).

    `level` 1 moves memory, 2 multiplies small matrices, 3 sweeps a stencil with exchange between ranks. `length` L
    means 2^(L-1) units of work (docs/workload-format.md, "Computing between dumps").
    """

    level: Annotated[int, Field(ge=1, le=3)]
    length: Annotated[int, Field(ge=1, le=5)] = 1

    @property
    def units(self) -> int:
        return int(2 ** (self.length - 1))


class Uncovered(Strict):
    """What of the log is not in the workload, and the reason; calls and rank-seconds where they are known."""

    reason: Reason
    bytes: Size = 0
    files: Count = 0
    calls: Count = 0
    seconds: Seconds = 0.0


LEAST_COVERAGE_PCT = 95.0
"""Where less of the calls or of the I/O time is in a workload, no replica of it is graded above `close`."""
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class Coverage(Strict):
    """The shares of the application's bytes, calls and I/O time that the workload has, in per cent.

    Files of program start are not among those of the application.
    """

    bytes: Percent = 100.0
    calls: Percent = 100.0
    seconds: Percent = 100.0

    @property
    def is_enough(self) -> bool:
        """Whether calls and I/O time are both covered to 95 %."""
        return min(self.calls, self.seconds) >= LEAST_COVERAGE_PCT


class Workload(Strict):
    """A workload file, schema version 2."""

    workalike: Annotated[int, Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)] = SCHEMA_VERSION
    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    nodes: Annotated[int, Field(ge=1, le=MAX_RANKS)] | None = None
    runtime: Seconds = 0.0
    compute: Compute | None = None
    cpu_share: Annotated[float, Field(ge=0, le=1)] | None = None
    compressibility: Annotated[float, Field(ge=0, le=1)] = 0.0
    processes: ProcessGroups = Field(default_factory=list)
    operations: TableReference | None = None
    families: Annotated[list[Family], Field(max_length=MAX_FAMILIES)]
    uncovered: list[Uncovered] = Field(default_factory=list)
    coverage: Coverage | None = None
    privacy: Privacy = Privacy.NAMES

    def _repr_html_(self) -> str:
        """For notebooks: a row for each family."""
        rows = [
            (f"{f.role.value} {f.number}", f.interface.value, f.sharing.mode.value, f"{f.schedule.dumps:,}")
            for f in self.families
        ]
        title = f"Workload: {plural(self.ranks, 'rank')}, {plural(len(rows), 'family')}"
        return html_table(title, ("family", "interface", "sharing", "dumps"), rows)

    @model_validator(mode="before")
    @classmethod
    def _prepared(cls, value: Any) -> Any:
        """Bound what the families make of values of each dump, and number those that state no number."""
        families = value.get("families") if isinstance(value, dict) else None
        if not isinstance(families, list):
            return value
        made = 0
        for index, family in enumerate(families):
            made += size_of(family) if isinstance(family, dict) else 0
            if made > MOST_VALUES:
                raise _in_family(
                    index, f"more than {MOST_VALUES:,} values of each dump in all families", limit=True
                )
        return value | {"families": numbered(families)}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        seen = set()
        for index, family in enumerate(self.families):
            name = f"{family.role.value} {family.number}"
            if name in seen:
                raise _in_family(index, f"two families are {name}: number them")
            seen.add(name)
            for ranks in [family.sharing.ranks, *(r for c in family.all_contents() for r in c.rank_sets())]:
                if ranks and ranks[-1][1] >= self.ranks:
                    text = f"names rank {ranks[-1][1]}, but the job has {self.ranks} ranks (the first is 0)"
                    raise _in_family(index, text)
            members = family.members(self.ranks)
            if family.sharing.files > members:
                raise _in_family(index, f"{family.sharing.files} files for {members} ranks: lower `files`")
            for rows in (c.table for c in family.all_contents() if c.table is not None):
                self._check_rows(index, family, rows)
            if self._most_bytes(family) > MAX_FILE_BYTES:
                raise _in_family(index, f"moves more than {units.format_size(MAX_FILE_BYTES)}", limit=True)
            for window in filter(None, map(family.schedule.window, Direction)):
                for dump in {late.dump for late in window.skew}:
                    groups = [late.ranks for late in window.skew if late.dump == dump]
                    if reason := named_twice(groups, self.ranks, "skew"):
                        raise _in_family(index, reason)
        if sum(family.schedule.dumps for family in self.families) > MAX_ALL_DUMPS:
            raise beyond_limit(f"more than {MAX_ALL_DUMPS} dumps in all")
        if reason := contradiction(self.processes, self.ranks, self.runtime):
            raise ValueError(reason)
        return self

    def _check_rows(self, index: int, family: Family, rows: Rows) -> None:
        """Check that the operation table has the rows, and that the family may have them."""
        stated = 0 if self.operations is None else self.operations.rows
        if rows.first + rows.count > stated:
            text = f"names rows {rows.first} to {rows.first + rows.count - 1} of a table of {stated} rows"
            raise _in_family(index, text)
        if family.sizes is not None or family.growth is not None:
            raise _in_family(
                index, "the bytes of a `table` are those of its rows: leave out `sizes` and `growth`"
            )

    def _most_bytes(self, family: Family) -> int:
        """An upper bound of the bytes that a family moves."""
        stated = family.dump_sizes()
        if stated:
            return sum(stated)
        members = family.members(self.ranks)
        contents = family.all_contents()
        return family.schedule.dumps * max(sum(c.moved(members, d) for d in Direction) for c in contents)


def numbered(families: list[Any]) -> list[Any]:
    """The families, those without a number with the lowest one that no family of their role states."""
    taken: dict[Any, set[Any]] = defaultdict(set)
    for family in families:
        if isinstance(family, dict) and isinstance(family.get("role"), str):
            taken[family["role"]].add(str(family.get("number")))
    out = []
    for family in families:
        if (
            isinstance(family, dict)
            and isinstance(role := family.get("role"), str)
            and "number" not in family
        ):
            number = next(n for n in itertools.count(1) if str(n) not in taken[role])
            taken[role].add(str(number))
            family = family | {"number": number}
        out.append(family)
    return out


def _in_family(index: int, message: str, *, limit: bool = False) -> PydanticCustomError:
    """An error of the whole document that a family caused; `workload_file` makes that family its place.

    `limit`: as `beyond_limit`.
    """
    return PydanticCustomError("family", "{message}", {"message": message, "family": index, "limit": limit})
