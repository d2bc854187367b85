"""The parts and bytes of a mesh, as computed by the engine's core (engine/core/mesh).

The bytes are those of Eq. 1 of the paper, without what a library adds (docs/reference/macsio-model.md#size-equation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workalike import _core
from workalike.workload.mesh import STRUCTURED, Centring, MeshType, ValueType

Run = tuple[int, Centring, ValueType]

TOO_LARGE = 2**63
"""Bytes that stand for every mesh that is too large for a file: more than any limit of a workload."""


@dataclass(frozen=True)
class MeshForm:
    """The properties of a mesh that, with the number of its nodes, determine its bytes."""

    type: MeshType
    dimensions: int
    variables: Sequence[Run]
    part_dims: Sequence[int] | None = None
    shared_nodes: bool = False
    wide_ids: bool = False
    materials: int = 0
    mixed: float = 0.0
    ghost: int = 0
    geometry: bool = True

    @property
    def structured(self) -> bool:
        return self.type in STRUCTURED

    @property
    def whole_rows(self) -> bool:
        """Whether parts have whole rows, so that all parts are equal."""
        return self.structured or self.shared_nodes or self.part_dims is not None

    def core(self) -> _core.MeshForm:
        """The form as an object of the core."""
        return _core.MeshForm(
            self.type.value,
            self.dimensions,
            [(count, centring.value, kind.value) for count, centring, kind in self.variables],
            list(self.part_dims or ()),
            self.shared_nodes,
            self.wide_ids,
            self.materials,
            self.mixed,
            self.ghost,
            self.geometry,
        )


@dataclass(frozen=True)
class PartShape:
    """A part of `nodes` nodes and `cells` cells; `dims` rounds the last dimension up if its last row is partial."""

    nodes: int
    cells: int
    dims: tuple[int, int, int]


def shape_of(form: MeshForm, nodes: int) -> PartShape:
    """A near-square or near-cubic part of about `nodes` nodes; exactly that many if a row may be partial."""
    return PartShape(*form.core().part(nodes))


def mesh_bytes(form: MeshForm, parts: int, nodes: int) -> int:
    """Bytes of a file of `parts` parts with `nodes` nodes in all, without what a library adds; at most `TOO_LARGE`."""
    if max(parts, nodes) >= TOO_LARGE:
        return TOO_LARGE
    try:
        return form.core().bytes(parts, nodes)
    except OverflowError:
        return TOO_LARGE


def nodes_for(form: MeshForm, parts: int, size: int) -> int:
    """The number of nodes for which a file of `parts` parts comes nearest to `size` bytes."""
    return form.core().nodes_for(parts, size)
