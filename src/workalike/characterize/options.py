"""The choices that a user has in characterization."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from workalike.facts.levels import WITH_DATASETS
from workalike.workload.words import Level


class Model(StrEnum):
    """How the content of dumps is expressed where the log allows several ways."""

    MESH = "mesh"
    ARRAYS = "arrays"
    EXTENTS = "extents"


class CounterGroup(StrEnum):
    """Counters that the search over readings can leave out, to see afterwards how well it has met them."""

    ORDER = "order"
    SIZES = "sizes"
    EXTENTS = "extents"
    CALLS = "calls"
    ALIGNMENT = "alignment"

    @property
    def counters(self) -> tuple[str, ...]:
        """What their names begin with."""
        return _GROUPS[self]


_GROUPS = {
    CounterGroup.ORDER: ("SEQ_", "CONSEC_"),
    CounterGroup.SIZES: ("SIZE_", "ACCESS"),
    CounterGroup.EXTENTS: ("MAX_BYTE_", "STRIDE"),
    CounterGroup.CALLS: (
        *("RW_SWITCHES", "OPENS", "INDEP_OPENS", "COLL_OPENS", "SEEKS", "STATS", "MMAPS"),
        *("FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"),
    ),
    CounterGroup.ALIGNMENT: ("FILE_NOT_ALIGNED",),
}


@dataclass(frozen=True)
class CharacterizeOptions:
    """What the options of `characterize` set.

    `states` is the number of dumps in each long-lived file; `include_program_start` keeps every file. `level` is taken where a
    file has it. Without `use_trace`, DXT is ignored; without `tables`, what no rule gives is approximated by rules.
    Without `refine`, families stay as the rules have them, which is enough for a log of a replica. `leave_out` are groups
    of counters that do not count in the search over readings. `lowered` are files, by record id, whose calls below a
    library are modelled, at a level that saw them, since a rehearsal of the library came nowhere near. `model` ARRAYS
    takes the library's level where a file has one, EXTENTS leaves those levels out. MESH expresses HDF5 families as
    meshes of `variables` variables (None: by the number of their datasets).
    """

    states: int | None = None
    include_program_start: bool = False
    level: Level | None = None
    use_trace: bool = True
    tables: bool = True
    refine: bool = True
    model: Model | None = None
    variables: int | None = None
    leave_out: Collection[CounterGroup] = ()
    lowered: Mapping[int, Level] = field(default_factory=dict)

    def wanted_level(self, levels: Sequence[Level]) -> Level | None:
        """The level that the user asks for, out of a file's levels, highest first; None leaves the choice to the log."""
        if self.model is Model.ARRAYS:
            return next((level for level in levels if level in WITH_DATASETS), None)
        return self.level if self.level in levels else None
