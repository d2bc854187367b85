"""The bytes of a mesh in closed form: Eq. 1 of the paper without what a library adds.

See docs/reference/macsio-model.md#size-equation.

Written from the equation, independently of the engine's core, which tests compare with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from workalike.workload.mesh import Centring, MeshType
from workalike.workload.mesh_size import MeshForm


@dataclass(frozen=True)
class PartShape:
    """A part of `nodes` nodes; `dims` rounds the last dimension up if its last row is partial."""

    dimensions: int
    nodes: int
    dims: tuple[int, int, int]

    @property
    def layer(self) -> int:
        """Nodes of a row (two dimensions) or of a plane (three)."""
        return math.prod(self.dims[: self.dimensions - 1])

    @property
    def cells(self) -> int:
        if self.dimensions == 1:
            return self.nodes - 1
        if self.dimensions == 2:
            return _plane_cells(self.nodes, self.dims[0])
        planes, rest = divmod(self.nodes, self.layer)
        return (planes - 1) * (self.dims[0] - 1) * (self.dims[1] - 1) + _plane_cells(rest, self.dims[0])

    def count(self, centring: Centring) -> int:
        """Values of a variable on the part."""
        if centring is Centring.NODE:
            return self.nodes
        if centring is Centring.ZONE:
            return self.cells
        row = self.dims[0]
        if centring is Centring.EDGE:
            return self.nodes // row * (row - 1) + max(0, self.nodes % row - 1)
        if self.dimensions == 1:
            return self.nodes
        if self.dimensions == 2:
            return self.nodes - row
        planes, rest = divmod(self.nodes, self.layer)
        return (planes - 1) * row * (self.dims[1] - 1) + max(0, rest - row)

    def grown(self, ghost: int) -> PartShape:
        """The box of the part with `ghost` layers around it."""
        dims = tuple(n + 2 * ghost if d < self.dimensions else n for d, n in enumerate(self.dims))
        return PartShape(self.dimensions, math.prod(dims), (dims[0], dims[1], dims[2]))


def shape_of(form: MeshForm, nodes: int) -> PartShape:
    """A near-square or near-cubic part of about `nodes` nodes; exactly that many if a row may be partial."""
    d = form.dimensions
    if form.part_dims is not None:
        dims = [*form.part_dims, 1, 1][:3]
        return PartShape(d, math.prod(dims), (dims[0], dims[1], dims[2]))
    nodes = max(nodes, 2**d)
    if d == 1:
        return PartShape(1, nodes, (nodes, 1, 1))
    first = _nearest(math.sqrt(nodes) if d == 2 else math.cbrt(nodes))
    second = _nearest(math.sqrt(nodes // first)) if d == 3 else 1
    layer = first * second
    last = max(2, (nodes + layer // 2) // layer if form.whole_rows else -(-nodes // layer))
    if form.whole_rows:
        nodes = layer * last
    return PartShape(d, nodes, (first, last, 1) if d == 2 else (first, second, last))


def arrange_parts(parts: int, dimensions: int) -> tuple[int, int, int]:
    """`parts` in a layout as near to a square or cube as their divisors allow."""
    out = [1, 1, 1]
    if dimensions == 3:
        out[0] = _divisor(parts, int(math.cbrt(parts) + 1e-9))
        parts //= out[0]
    if dimensions >= 2:
        out[dimensions - 2] = _divisor(parts, int(math.sqrt(parts) + 1e-9))
        parts //= out[dimensions - 2]
    out[dimensions - 1] = parts
    return out[0], out[1], out[2]


def mesh_bytes(form: MeshForm, parts: int, nodes: int) -> int:
    """Bytes of a file of `parts` parts with `nodes` nodes in all, without what a library adds."""
    each, more = divmod(nodes, parts)
    small = shape_of(form, each)
    if form.whole_rows:
        more = 0
    total = (parts - more) * part_bytes(form, small)
    if more:
        total += more * part_bytes(form, shape_of(form, each + 1))
    if form.geometry and form.type in (MeshType.UNIFORM, MeshType.RECTILINEAR):
        grid = arrange_parts(parts, form.dimensions)
        shared = form.shared_nodes
        total += 8 * sum(
            grid[d] * (small.dims[d] - 1) + 1 if shared else grid[d] * small.dims[d]
            for d in range(form.dimensions)
        )
    return total


def part_bytes(form: MeshForm, shape: PartShape) -> int:
    """Bytes of one part: its share of the mesh, its material, its variables."""
    nodes, zones = _values(form, shape, Centring.NODE), _values(form, shape, Centring.ZONE)
    total = 0
    if form.geometry and form.type not in (MeshType.UNIFORM, MeshType.RECTILINEAR):
        total += 8 * form.dimensions * nodes
    if form.geometry and form.type in (MeshType.UNSTRUCTURED, MeshType.ARBITRARY):
        ids = 8 if form.wide_ids else 4
        shapes = 2 if form.ghost else 1
        total += ids * (nodes + zones + 2**form.dimensions * zones) + (4 + ids) * shapes
    if form.materials:
        mixed = math.floor(shape.cells * form.mixed)
        total += 4 * (nodes if form.type is MeshType.POINT else zones) + mixed * (2 * 4 + 4 + 4 + 2 * 8)
    for count, centring, kind in form.variables:
        centre = Centring.NODE if form.type is MeshType.POINT else centring
        total += count * kind.bytes * _values(form, shape, centre)
    return total


def nodes_for(form: MeshForm, parts: int, size: int) -> int:
    """The number of nodes for which a file of `parts` parts comes nearest to `size` bytes."""
    least: int = parts * 2**form.dimensions
    low = least
    if mesh_bytes(form, parts, low) >= size:
        return low
    high = 2 * low
    while mesh_bytes(form, parts, high) <= size:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if mesh_bytes(form, parts, middle) <= size else (low, middle)
    near: list[int] = [low, *range(max(least, low - 2), low + 3)]
    return min(near, key=lambda n: abs(mesh_bytes(form, parts, n) - size))


def _values(form: MeshForm, shape: PartShape, centring: Centring) -> int:
    if not form.ghost:
        return shape.count(centring)
    if form.structured:
        return shape.grown(form.ghost).count(centring)
    # Ghosts of an unstructured part are those of the box around it.
    centre = Centring.ZONE if centring is Centring.ZONE else Centring.NODE
    return shape.count(centre) + shape.grown(form.ghost).count(centre) - shape.grown(0).count(centre)


def _plane_cells(nodes: int, row: int) -> int:
    rows, rest = divmod(nodes, row)
    return (rows - 1) * (row - 1) + max(0, rest - 1) if rows else 0


def _nearest(root: float) -> int:
    return max(2, math.floor(root + 0.5))


def _divisor(value: int, most: int) -> int:
    return next((d for d in range(most, 1, -1) if value % d == 0), 1)
