"""IDs, shapes and connectivity of an unstructured mesh.

See docs/reference/typhonio-format.md#mesh and docs/reference/typhonio-calls.md#whole-reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workalike.typhonio.chunks import Chunks
from workalike.typhonio.fields import Context, Object, array
from workalike.typhonio.format_names import ALL_GHOSTS, SHAPE_NODES, Centring
from workalike.typhonio.hdf5 import Data, Unreadable

MOST_NODES_SEEN = 2**28  # meshes with more nodes are not checked for missing IDs, to bound memory


def check_graph(mesh: Object, chunks: Chunks, sizes: dict[str, int], context: Context) -> None:
    """Check the five arrays: their extents against CHUNKINFO, then their values."""
    nodes = chunks.values(Centring.NODE, ALL_GHOSTS)
    shapes = chunks.word("nshapes") + chunks.word("ghost_shapes")
    connectivity = chunks.word("nconnectivity") + chunks.word("ghost_connectivity")
    ids = array(mesh, "TIO_MESH_NODEIDS", int(nodes.sum()), context)
    cells = array(mesh, "TIO_MESH_CELLIDS", chunks.total(Centring.CELL, ALL_GHOSTS), context)
    codes = array(mesh, "TIO_MESH_SHAPES", int(shapes.sum()), context)
    per_shape = array(mesh, "TIO_MESH_CELLS_PER_SHAPE", int(shapes.sum()), context)
    links = array(mesh, "TIO_MESH_CONNECTIVITY", int(connectivity.sum()), context)
    if ids is not None:
        _check_ids(mesh.at("TIO_MESH_NODEIDS"), ids, int(nodes.sum()), sizes.get("nnodes"), context)
    if cells is not None:
        _check_cells(mesh.at("TIO_MESH_CELLIDS"), cells, chunks, context)
    if codes is not None and per_shape is not None:
        _check_shapes(mesh, chunks, codes, per_shape, context)
    if links is not None:
        _check_connectivity(mesh.at("TIO_MESH_CONNECTIVITY"), links, connectivity, nodes, context)


def _check_ids(place: str, ids: Data, length: int, nnodes: int | None, context: Context) -> None:
    """Check node IDs, which are global and from 1 to nnodes, as they index the arrays of a whole-mesh read."""
    low, high = 1, 0
    seen = np.zeros(nnodes + 1, dtype=bool) if nnodes is not None and nnodes < MOST_NODES_SEEN else None
    try:
        for _, values in ids.blocks(context.budget, length):
            low, high = min(low, int(values.min())), max(high, int(values.max()))
            if seen is not None:
                seen[values[(values >= 1) & (values < len(seen))].astype(np.int64)] = True
    except Unreadable as error:
        context.findings.error(place, str(error), "the IDs were not checked to their end")
        return
    if low < 1:
        what = f"node IDs begin at {low}: whole-mesh reads fail"
        context.findings.error(place, what, "number nodes from 1; until then read chunk by chunk")
    if nnodes is None or not length:
        return
    if high > nnodes:
        what = f"the highest node ID is {high:,}, nnodes is {nnodes:,}: whole-mesh reads pass the caller's buffer"
        context.findings.error(place, what, "let nnodes be the highest ID")
    elif high < nnodes and low >= 1:
        what = f"the highest node ID is {high:,}, nnodes is {nnodes:,}"
        context.findings.warning(place, what, "let nnodes be the highest ID")
    elif low >= 1 and seen is not None and not seen[1:].all():
        what = f"{int((~seen[1:]).sum()):,} of {nnodes:,} node IDs are missing: whole-mesh reads leave them untouched"
        context.findings.warning(place, what, "number nodes without gaps")


def _check_cells(place: str, cells: Data, chunks: Chunks, context: Context) -> None:
    try:
        lowest = min((int(v.min()) for _, v in cells.blocks(context.budget, cells.length)), default=1)
    except Unreadable as error:
        context.findings.error(place, str(error), "the IDs were not checked to their end")
        return
    if lowest < 1:
        context.findings.warning(place, f"cell IDs begin at {lowest}", "number cells from 1")


def _check_shapes(mesh: Object, chunks: Chunks, codes: Data, per_shape: Data, context: Context) -> None:
    """Check that the cells of all shapes add up to the cells of a chunk, and their nodes to its connectivity."""
    place = mesh.at("TIO_MESH_CELLS_PER_SHAPE")
    try:
        shape = codes.numbers().reshape(-1).astype(object)
        count = per_shape.numbers().reshape(-1).astype(object)
    except Unreadable as error:
        context.findings.error(place, str(error), "the shapes were not checked")
        return
    if len(shape) != len(count):
        return  # a wrong extent, which is a finding already
    unknown = [c for c in set(shape) if c not in SHAPE_NODES and c < 1]
    if unknown:
        what = f"{unknown[0]} is not a shape"
        context.findings.error(mesh.at("TIO_MESH_SHAPES"), what, "use -10 to -17, or n for an n-gon")
        return
    nodes = np.array([SHAPE_NODES.get(c, c) for c in shape], dtype=object) * count
    start = 0
    for c in range(len(chunks)):
        for ghost in ("", "ghost_"):
            n = chunks.word(f"{ghost}nshapes" if not ghost else "ghost_shapes")[c]
            cells = chunks.word("ncells" if not ghost else "ghost_cells")[c]
            links = chunks.word("nconnectivity" if not ghost else "ghost_connectivity")[c]
            listed = sum(count[start : start + n])
            needed = sum(nodes[start : start + n])
            start += n
            if listed != cells or needed != links:
                what = (
                    f"the shapes of chunk {c} have {listed:,} cells with {needed:,} nodes, the chunk says {cells:,} "
                    f"with {links:,}"
                )
                context.findings.warning(place, what, "write the number of cells of each shape")
                return


def _check_connectivity(
    place: str, links: Data, lengths: NDArray[Any], nodes: NDArray[Any], context: Context
) -> None:
    """Check that each entry is a node of its own chunk, from 1; with others the library reads outside its arrays."""
    ends = np.cumsum(lengths).astype(np.int64)
    limits = nodes.astype(np.int64)
    lowest, outside, where = 1, 0, 0
    try:
        for first, values in links.blocks(context.budget, int(ends[-1])):
            chunk = np.searchsorted(ends, np.arange(first, first + len(values)), side="right")
            beyond = np.flatnonzero(values > limits[chunk].astype(values.dtype))
            if len(beyond) and not outside:
                outside, where = int(values[beyond[0]]), int(chunk[beyond[0]])
            lowest = min(lowest, int(values.min()))
    except Unreadable as error:
        context.findings.error(place, str(error), "the connectivity was not checked to its end")
        return
    if lowest < 1:
        what = f"entries begin at {lowest}: whole-mesh reads access memory outside their arrays"
        context.findings.error(place, what, "number the nodes of each chunk from 1")
    if outside:
        what = f"an entry of chunk {where} is {outside:,}, the chunk has {limits[where]:,} nodes"
        context.findings.error(place, what, "number nodes within their chunk, from 1")
