"""CHUNKINFO: the number of values in each chunk of a mesh.

See docs/reference/typhonio-format.md#chunk-table and docs/reference/typhonio-calls.md#whole-reads. The library computes
all that it reads from these numbers, and ignores the extents of the datasets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workalike.typhonio.fields import Context, Object, open_data
from workalike.typhonio.format_names import (
    ALL_GHOSTS,
    CHUNK_WORDS,
    CHUNKINFO,
    FEWER,
    Centring,
    MeshType,
)
from workalike.typhonio.hdf5 import Unreadable

MOST_CHUNKS = 10**6
MOST = 2**44  # largest number in a chunk, so that sums stay within 64 bits
UNSTRUCTURED = (
    "nnodes",
    "ncells",
    "nshapes",
    "nconnectivity",
    "ghost_nodes",
    "ghost_cells",
    "ghost_shapes",
    "ghost_connectivity",
)


@dataclass(frozen=True)
class Chunks:
    """The chunks of one mesh. `words` has shape [nchunks, 12] and Python integers, which do not overflow."""

    type: MeshType
    ndims: int
    words: NDArray[Any]
    layers: int  # layers of ghosts around the chunks of a non-colinear mesh

    def __len__(self) -> int:
        return len(self.words)

    def word(self, name: str) -> NDArray[Any]:
        """A column of an unstructured mesh by name."""
        return self.words[:, UNSTRUCTURED.index(name)]

    def nodes(self, d: int) -> NDArray[Any]:
        """Nodes along dimension d of each chunk of a quad mesh."""
        return self.words[:, d]

    def low(self, d: int) -> NDArray[Any]:
        return self.words[:, 3 + 2 * d]

    def high(self, d: int) -> NDArray[Any]:
        return self.words[:, 4 + 2 * d]

    @property
    def quad(self) -> bool:
        return self.type in (MeshType.COLINEAR, MeshType.NON_COLINEAR)

    @property
    def mixed_cells(self) -> NDArray[Any]:
        return self._mixed(0)

    @property
    def mixed_parts(self) -> NDArray[Any]:
        """The number of components of mixed cells in each chunk."""
        return self._mixed(1)

    def _mixed(self, which: int) -> NDArray[Any]:
        first = {MeshType.UNSTRUCTURED: 8, MeshType.POINT: None}.get(self.type, 10)
        return self.words[:, first + which] if first is not None else self.words[:, 0] * 0

    def values(self, centring: int, ghosts: int) -> NDArray[Any]:
        """Values of each chunk for a centring and a number of ghost layers (`ALL_GHOSTS`: the mesh's own ghosts)."""
        if self.quad:
            counts = self.words[:, 0] * 0 + 1
            for d, fewer in zip(range(self.ndims), FEWER[centring], strict=False):
                counts = counts * np.maximum(self.nodes(d) + 2 * ghosts - fewer, 0)
            return counts
        real, ghost = ("ncells", "ghost_cells") if centring == Centring.CELL else ("nnodes", "ghost_nodes")
        if self.type is MeshType.POINT:
            return self.words[:, 0] + (self.words[:, 3] if ghosts == ALL_GHOSTS else 0)
        return self.word(real) + (self.word(ghost) if ghosts == ALL_GHOSTS else 0)

    def total(self, centring: int, ghosts: int) -> int:
        return int(self.values(centring, ghosts).sum())


def read_chunks(mesh: Object, kind: MeshType, ndims: int, layers: int, context: Context) -> Chunks | None:
    """The chunks of a mesh; None (and an error) if there are none, or impossible ones."""
    place = mesh.at(CHUNKINFO)
    if not mesh.group.has(CHUNKINFO):
        hint = "set all chunks before the mesh is closed; otherwise the library finds no chunks, or garbage"
        context.findings.error(place, "is missing", hint)
        return None
    data = open_data(mesh, CHUNKINFO, context)
    if data is None:
        return None
    hint = f"write one dimension, {CHUNK_WORDS} words per chunk"
    if len(data.shape) != 1 or data.length % CHUNK_WORDS or data.length == 0:
        what = f"has extents {list(data.shape)}: the library overruns its memory"
        context.findings.error(place, what, hint)
        return None
    if data.kind.word != "integer":
        context.findings.error(place, f"holds {data.kind.text()}, not integers", hint)
        return None
    try:
        if data.length > MOST_CHUNKS:
            raise Unreadable(f"more than {MOST_CHUNKS // CHUNK_WORDS:,} chunks")
        words = data.numbers().astype(object).reshape(-1, CHUNK_WORDS)
    except Unreadable as error:
        context.findings.error(place, str(error), hint)
        return None
    chunks = Chunks(kind, ndims, words, layers)
    return chunks if _sensible(place, chunks, context) else None


def _used(chunks: Chunks) -> list[int]:
    """The indices of the words that have a meaning; the others are uninitialised memory."""
    if chunks.quad:
        return [*range(chunks.ndims), *range(3, 3 + 2 * chunks.ndims), 10, 11]
    return list(range(10)) if chunks.type is MeshType.UNSTRUCTURED else [0, 3]


def _sensible(place: str, chunks: Chunks, context: Context) -> bool:
    for word in _used(chunks):
        wrong = np.flatnonzero((chunks.words[:, word] < 0) | (chunks.words[:, word] > MOST))
        if len(wrong):
            what = f"word {word} of chunk {wrong[0]} is {chunks.words[wrong[0], word]}"
            context.findings.error(place, what, "write the numbers of the chunk there")
            return False
    return True


def check_quad(place: str, chunks: Chunks, sizes: list[int], context: Context) -> None:
    """Check that the index ranges of chunks are inside a mesh of `sizes` nodes, and that chunks cover its cells."""
    for d, axis in zip(range(chunks.ndims), "ijk", strict=False):
        n, low, high = chunks.nodes(d), chunks.low(d), chunks.high(d)
        for wrong, what in (
            (high < low, "begins after its end"),
            (high >= sizes[d], f"ends outside of the mesh (n{axis} is {sizes[d]})"),
            (n != high - low + 1, "does not agree with its number of nodes"),
        ):
            bad = np.flatnonzero(wrong)
            if len(bad):
                c = bad[0]
                what = f"the {axis} range {low[c]} to {high[c]} ({n[c]} nodes) of chunk {c} {what}"
                hint = "write node indices from 0, inclusive, and their number"
                context.findings.error(f"{place}[{CHUNK_WORDS * c}]", what + _more(bad), hint)
                return
    _gaps(place, chunks, sizes, context)


def _more(bad: NDArray[Any]) -> str:
    return f", and of {len(bad) - 1} more" if len(bad) > 1 else ""


def _gaps(place: str, chunks: Chunks, sizes: list[int], context: Context) -> None:
    """Check that neighbours share a plane of nodes; otherwise a plane of cells is missing between them."""
    all_cells = math.prod(max(n - 1, 0) for n in sizes[: chunks.ndims])
    held = chunks.total(Centring.CELL, 0)
    if held < all_cells:
        what = f"{all_cells - held:,} of {all_cells:,} cells are in no chunk: whole-mesh reads leave them untouched"
        context.findings.note(place, what, "let a chunk begin at the last node of its neighbour")
    elif held > all_cells:
        what = f"the chunks hold {held:,} cells, the mesh has {all_cells:,}: they overlap"
        context.findings.warning(place, what, "whole-mesh reads keep the values of the last chunk")


def check_unstructured(place: str, chunks: Chunks, sizes: dict[str, int], context: Context) -> None:
    """Check the mesh's numbers against the sums over its chunks, and that no chunk except the first is empty."""
    for name in ("ncells", "nshapes", "nconnectivity"):
        total = int(chunks.word(name).sum())
        if name in sizes and sizes[name] < total:
            what = f"{name} is {sizes[name]:,}, its chunks hold {total:,}: whole-mesh reads fail"
            context.findings.error(f"{place}, attribute {name}", what, "write the sum over the chunks")
        elif name in sizes and sizes[name] > total:
            what = f"{name} is {sizes[name]:,}, its chunks hold {total:,}: the rest is never read"
            context.findings.warning(f"{place}, attribute {name}", what, "write the sum over the chunks")
    nodes = chunks.word("nnodes")
    empty = [int(c) for c in np.flatnonzero(nodes == 0) if c > 0]
    if empty:
        what = f"chunk {empty[0]} has no nodes: whole-mesh reads abort the program"
        context.findings.error(f"{place}/{CHUNKINFO}", what, "leave no chunk empty except the first")
    most = int(nodes.max())
    if "nconnectivity" in sizes and most > sizes["nconnectivity"]:
        what = f"a chunk has {most:,} nodes, more than nconnectivity ({sizes['nconnectivity']:,})"
        context.findings.error(f"{place}/{CHUNKINFO}", what, "whole-mesh reads need a connectivity that long")


def check_point(place: str, chunks: Chunks, nnodes: int | None, context: Context) -> None:
    """Check the ranges of the chunks of a point mesh; an empty chunk has nh = nl - 1, modulo 2^64."""
    n, low, high = chunks.words[:, 0], chunks.words[:, 1], chunks.words[:, 2]
    wrong = np.flatnonzero((high - low + 1 - n) % 2**64 != 0)
    if len(wrong):
        c = wrong[0]
        what = f"chunk {c} has {n[c]} nodes, its range says {low[c]} to {high[c]}"
        context.findings.error(f"{place}/{CHUNKINFO}[{CHUNK_WORDS * c}]", what, "write nh = nl + nodes - 1")
    total = int(n.sum())
    if nnodes is not None and nnodes < total:
        what = f"nnodes is {nnodes:,}, its chunks hold {total:,}"
        context.findings.error(f"{place}, attribute nnodes", what, "write the sum over the chunks")
    elif nnodes is not None and nnodes > total:
        what = f"nnodes is {nnodes:,}, its chunks hold {total:,}"
        context.findings.warning(f"{place}, attribute nnodes", what, "write the sum over the chunks")
