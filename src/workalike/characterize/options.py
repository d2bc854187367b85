"""What a user may decide about characterization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from workalike.facts.levels import WITH_DATASETS
from workalike.workload.words import Level


class Model(StrEnum):
    """What to take a dump for where the log leaves a choice."""

    MESH = "mesh"
    ARRAYS = "arrays"
    EXTENTS = "extents"


@dataclass(frozen=True)
class CharacterizeOptions:
    """`states` fixes the number of dumps in each long-lived file; `include_noise` keeps every file.

    `level` is taken where a file has it; `use_trace` off ignores DXT, as if the log had none.
    `model` arrays is the library's level where a file has one, extents leaves those levels out; mesh takes HDF5 families for
    meshes of `variables` variables (None: as many as their datasets tell).
    """

    states: int | None = None
    include_noise: bool = False
    level: Level | None = None
    use_trace: bool = True
    model: Model | None = None
    variables: int | None = None

    def wanted_level(self, levels: Sequence[Level]) -> Level | None:
        """Which of a file's levels, highest first, the user asks for; None leaves it to the log."""
        if self.model is Model.ARRAYS:
            return next((level for level in levels if level in WITH_DATASETS), None)
        return self.level if self.level in levels else None
