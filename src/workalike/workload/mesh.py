"""Meshes: parts, and the variables on them, as in MACSio's data model (docs/reference/macsio-model.md#data-model)."""

from __future__ import annotations

import itertools
import math
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator

from workalike.workload import units
from workalike.workload.quantities import MAX_DATASETS, MAX_OPERATION_BYTES, Size, Strict, beyond_limit
from workalike.workload.words import Direction

MAX_PARTS = 2**26
MAX_GHOST = 15
MAX_MATERIALS = 65_536
NODE_BYTES = 8  # MACSio states a part's size as the bytes of one variable of 8-byte values on its nodes


class MeshType(StrEnum):
    UNIFORM = "uniform"
    RECTILINEAR = "rectilinear"
    CURVILINEAR = "curvilinear"
    UNSTRUCTURED = "unstructured"
    ARBITRARY = "arbitrary"
    POINT = "point"


STRUCTURED = (MeshType.UNIFORM, MeshType.RECTILINEAR, MeshType.CURVILINEAR)


class Centring(StrEnum):
    """Where a variable has values; edges are along the first dimension, faces across it."""

    ZONE = "zone"
    NODE = "node"
    EDGE = "edge"
    FACE = "face"


class ValueType(StrEnum):
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT32 = "int32"
    INT64 = "int64"

    @property
    def bytes(self) -> int:
        return 4 if self in (ValueType.FLOAT32, ValueType.INT32) else 8


class Variables(Strict):
    """`count` variables of one kind, one after the other."""

    count: Annotated[int, Field(ge=1, le=MAX_DATASETS)] = 1
    centring: Centring = Centring.ZONE
    type: ValueType = ValueType.FLOAT64


# MACSio's variables come in cycles of eight: constant, random, spherical; xramp, ysin, noise, noise_sum; xlayers.
CYCLE = (
    *[(Centring.ZONE, ValueType.FLOAT64)] * 3,
    *[(Centring.NODE, ValueType.FLOAT64)] * 4,
    (Centring.ZONE, ValueType.INT32),
)


class Mesh(Strict):
    """Parts of a mesh, and the variables on it.

    `parts` is the mean number of a rank's parts; with 1.5, every second rank has two. `part_size` is the bytes of one
    variable of 8-byte values on the nodes of a part (MACSio's part size), `part_dims` the nodes of a part in each
    dimension. With neither, the size of parts follows from the family's `sizes`. `variables` is a number of variables
    of MACSio's cycle, or a list. `ghost` is the number of layers of ghost elements, `mixed` the share of cells with
    several of the `materials`, `globals` the number of variables that belong to no mesh (TyphonIO).
    """

    type: MeshType = MeshType.UNSTRUCTURED
    dimensions: Annotated[int, Field(ge=1, le=3)] = 2
    parts: Annotated[float, Field(gt=0, le=MAX_PARTS, allow_inf_nan=False)] = 1.0
    part_size: Size | None = None
    part_dims: list[Annotated[int, Field(ge=2, le=MAX_OPERATION_BYTES)]] | None = None
    variables: Annotated[int, Field(ge=1, le=MAX_DATASETS)] | list[Variables] = 20
    shared_nodes: bool = False
    materials: Annotated[int, Field(ge=0, le=MAX_MATERIALS)] = 0
    mixed: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0
    ghost: Annotated[int, Field(ge=0, le=MAX_GHOST)] = 0
    globals: Annotated[int, Field(ge=0, le=MAX_DATASETS)] = 0
    geometry: bool = True
    direction: Direction = Direction.WRITE
    collective: bool = True

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.part_size is not None and self.part_dims is not None:
            raise ValueError("give `part_size` or `part_dims`, not both")
        if self.part_dims is not None and len(self.part_dims) != self.dimensions:
            raise ValueError(f"`part_dims` needs {self.dimensions} numbers, one per dimension")
        if isinstance(self.variables, list) and not self.variables:
            raise ValueError("a mesh needs at least one variable")
        if self.mixed and not self.materials:
            raise ValueError("`mixed` cells need `materials`, the number of materials")
        if self.type is MeshType.POINT and self.mixed:
            raise ValueError("a point mesh has no cells that could be mixed")
        if (
            self.part_size is not None
            and not 2**self.dimensions * NODE_BYTES <= self.part_size <= MAX_OPERATION_BYTES
        ):
            least, most = (
                units.format_size(2**self.dimensions * NODE_BYTES),
                units.format_size(MAX_OPERATION_BYTES),
            )
            raise ValueError(f"a part of {self.dimensions} dimensions has {least} to {most}")
        if self.part_dims is not None and math.prod(self.part_dims) * NODE_BYTES > MAX_OPERATION_BYTES:
            raise beyond_limit(
                f"a part may have at most {units.format_size(MAX_OPERATION_BYTES)}: lower `part_dims`"
            )
        return self

    def runs(self) -> list[tuple[int, Centring, ValueType]]:
        """The variables as (count, centring, type); adjacent variables of one kind are one entry."""
        if isinstance(self.variables, list):
            return [(v.count, v.centring, v.type) for v in self.variables]
        kinds = itertools.islice(itertools.cycle(CYCLE), self.variables)
        return [(len(list(same)), *kind) for kind, same in itertools.groupby(kinds)]

    @property
    def variable_count(self) -> int:
        return sum(count for count, _, _ in self.runs())

    def total_parts(self, members: int) -> int:
        """The number of parts of `members` ranks."""
        return max(1, round(members * Fraction(self.parts)))

    def part_nodes(self) -> int | None:
        """Nodes of a part before its dimensions are rounded; None if the workload does not state them."""
        if self.part_dims is not None:
            return math.prod(self.part_dims)
        return None if self.part_size is None else self.part_size // NODE_BYTES
