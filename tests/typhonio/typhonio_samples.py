"""Small sound TyphonIO files of every mesh type, made with h5py alone (docs/reference/typhonio-format.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

NULL = 2**64 - 1
ALL = 2**64 - 2
CELL, NODE = 0, 7
FEWER = [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)]


def text(group: Any, name: str, value: str) -> None:
    group.attrs.create(name, np.bytes_(value), dtype="S64")


def number(group: Any, name: str, value: float, kind: str = "i4") -> None:
    group.attrs.create(name, value, dtype=kind)


def table(group: Any, name: str, values: Sequence[Any], kind: str = "S64") -> None:
    """A table as the library writes it: chunks of one element, unlimited."""
    items = np.array(values, dtype=kind)
    group.create_dataset(name, data=items, chunks=(1,), maxshape=(None,))


def make_file(path: Path, kind: str, libver: str | tuple[str, str] = "latest") -> Path:
    """A file with one state, one mesh of `kind`, quants, a vargroup and variables."""
    with h5py.File(path, "w", libver=libver) as file:
        for name, value in zip(("major", "minor", "release"), (1, 6, 0), strict=True):
            number(file, f"TIO_version_{name}", value)
        for name in ("codename", "version", "created", "modified", "title"):
            text(file, name, f"a {name}")
        state = file.create_group("state0")
        number(state, "step", 3, "u8")
        number(state, "time", 1.5, "f8")
        text(state, "units", "us")
        MAKERS[kind](state)
        table(state, "TIO_MESH_REF", [b"mesh"])
        table(state, "TIO_VGROUP_REF", [b"numbers"])
        _variables(state.create_group("numbers"))
        table(file, "TIO_STATE_REF", [b"state0"])
    return path


def _variables(group: Any) -> None:
    names = [b"dt", b"n", b"profile", b"words", b"dt2"]
    table(group, "TIO_VARIABLE_REF", names)
    table(group, "TIO_VARIABLE_INFO_UNITS", [b"us"] * 5)
    table(group, "TIO_VARIABLE_INFO_TYPES", [9, 2, 2009, 18, 9], "i4")
    table(group, "TIO_VARIABLE_INFO_INDEX", [1, 1, 0, 0, 2], "u8")
    table(group, "TIO_VARIABLE_CACHE_0D_DOUBLE", [0.5, 0.25], "f8")
    table(group, "TIO_VARIABLE_CACHE_0D_INT", [7], "i4")
    group["profile"] = np.zeros((3, 2))
    group["words"] = np.bytes_("hello")


def _mesh(state: Any, kind: int, ndims: int, sizes: dict[str, int], graph: int = -1) -> Any:
    mesh = state.create_group("mesh")
    attributes = {"meshtype": kind, "coordtype": 0, "amrflag": 0, "graph_datatype": graph}
    for name, value in {**attributes, "coord_datatype": 9, "ndims": ndims}.items():
        number(mesh, name, value)
    number(mesh, "order", 1, "u8")
    for name in ("group", "iunits", "junits", "kunits", "ilabel", "jlabel", "klabel"):
        text(mesh, name, name)
    for name, value in sizes.items():
        number(mesh, name, value, "u8")
    for name, value in {"matghosts": NULL, "nmixcell": 0, "nmixcomp": 0}.items():
        number(mesh, name, value, "u8")
    return mesh


def quant(
    mesh: Any,
    name: str,
    length: int,
    centring: int,
    ghosts: int = 0,
    *,
    mixed: bool = False,
    kind: str = "f8",
) -> Any:
    group = mesh.create_group(name)
    number(group, "datatype", 9 if kind == "f8" else 2)
    number(group, "centring", centring)
    number(group, "nghosts", ghosts, "u8")
    number(group, "mixedflag", mixed)
    text(group, "units", "Pa")
    number(group, "qmin", 999, kind)
    number(group, "qmax", 666, kind)
    group["TIO_DATA"] = np.arange(length, dtype=kind)
    return group


def _quants(mesh: Any, lengths: dict[str, tuple[int, int, int]]) -> None:
    for name, (length, centring, ghosts) in lengths.items():
        quant(mesh, name, length, centring, ghosts)
    table(mesh, "TIO_QUANT_REF", [name.encode() for name in lengths])


def _quad_words(low: Sequence[int], high: Sequence[int], mixed: tuple[int, int] = (0, 0)) -> list[int]:
    n = [h - s + 1 for s, h in zip(low, high, strict=True)] + [0] * (3 - len(low))
    ends = [x for pair in zip(low, high, strict=True) for x in pair] + [0] * (6 - 2 * len(low))
    return [*n, *ends, 888888, *mixed]


def _quad_values(chunks: Sequence[Sequence[int]], ndims: int, centring: int, ghosts: int) -> int:
    return sum(
        math.prod(chunk[d] + 2 * ghosts - FEWER[centring][d] for d in range(ndims)) for chunk in chunks
    )


def colinear(state: Any) -> None:
    """5 x 3 nodes in two chunks that share a column; a mixed material with 2 + 1 mixed cells."""
    mesh = _mesh(state, 1, 2, {"ni": 5, "nj": 3, "nk": 0, "nghosts": 0})
    mesh["TIO_MESH_ICOORD"], mesh["TIO_MESH_JCOORD"] = np.arange(5.0), np.arange(3.0)
    chunks = [_quad_words((0, 0), (2, 2), (2, 4)), _quad_words((2, 0), (4, 2), (1, 2))]
    mesh["TIO_MESH_CHUNKINFO"] = np.array(chunks, dtype="u8").ravel()
    for name, value in {"matghosts": 0, "nmixcell": 3, "nmixcomp": 6}.items():
        mesh.attrs.modify(name, np.uint64(value))
    _material(mesh, [-1, 1, 2, -2, 1, 1, -1, 2], [1, 2, 1, 2, 1, 2], [1, 3, 1])
    quant(mesh, "mixture", 8 + 6, CELL, mixed=True)
    quant(mesh, "count", _quad_values(chunks, 2, NODE, 0), NODE, kind="i4")
    quant(mesh, "halo", _quad_values(chunks, 2, CELL, 1), CELL, 1)
    table(mesh, "TIO_QUANT_REF", [b"mixture", b"count", b"halo"])


def _material(mesh: Any, cells: list[int], parts: list[int], first: list[int]) -> None:
    material = mesh.create_group("materials")
    for name in ("datatype", "ncomp_datatype", "ptr_datatype"):
        number(material, name, 2)
    number(material, "vf_datatype", 9)
    number(material, "nmat", 2, "u8")
    number(material, "nghosts", 0, "u8")
    number(material, "mixedflag", 1)
    material["TIO_DATA"] = np.array(cells + parts, dtype="i4")
    material["TIO_NCOMP"] = np.array([2] * len(first), dtype="i4")
    material["TIO_PTR"] = np.array(first, dtype="i4")
    material["TIO_VOLFRAC"] = np.array([0.25, 0.75] * len(first))
    material["TIO_MATERIAL_NUMS"] = np.array([1, 2], dtype="i4")
    material["TIO_MATERIAL_NAMES"] = np.array([b"iron", b"air"], dtype="S64")
    table(mesh, "TIO_MATERIAL_REF", [b"materials"])


def non_colinear(state: Any) -> None:
    """3-D, two chunks of 3 x 2 x 4 nodes that share a plane, one layer of ghosts, all eight centrings."""
    mesh = _mesh(state, 2, 3, {"ni": 5, "nj": 2, "nk": 4, "nghosts": 1})
    chunks = [_quad_words((0, 0, 0), (2, 1, 3)), _quad_words((2, 0, 0), (4, 1, 3))]
    mesh["TIO_MESH_CHUNKINFO"] = np.array(chunks, dtype="u8").ravel()
    for axis in "IJK":
        mesh[f"TIO_MESH_{axis}COORD"] = np.zeros(_quad_values(chunks, 3, NODE, 1))
    _quants(
        mesh,
        {f"q{c}{g}": (_quad_values(chunks, 3, c, g), c, g) for c in range(8) for g in (0, 1)},
    )


def unstructured(state: Any) -> None:
    """Two chunks of 2 quadrilaterals on 6 nodes sharing an edge, one ghost cell with 2 ghost nodes each."""
    mesh = _mesh(state, 3, 2, {"nnodes": 10, "ncells": 4, "nshapes": 2, "nconnectivity": 16}, graph=2)
    chunk = [6, 2, 1, 8, 2, 1, 1, 4, 0, 0, 888888, 888888]
    mesh["TIO_MESH_CHUNKINFO"] = np.array([chunk, chunk], dtype="u8").ravel()
    mesh["TIO_MESH_ICOORD"], mesh["TIO_MESH_JCOORD"] = np.zeros(16), np.zeros(16)
    ids = [1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8, 9, 10, 3, 4]
    mesh["TIO_MESH_NODEIDS"] = np.array(ids, dtype="i4")
    mesh["TIO_MESH_CELLIDS"] = np.array([1, 2, 3, 3, 4, 2], dtype="i4")
    mesh["TIO_MESH_SHAPES"] = np.array([-13] * 4, dtype="i4")
    mesh["TIO_MESH_CELLS_PER_SHAPE"] = np.array([2, 1, 2, 1], dtype="i4")
    links = [1, 2, 4, 3, 3, 4, 6, 5, 5, 6, 8, 7]
    mesh["TIO_MESH_CONNECTIVITY"] = np.array(links * 2, dtype="i4")
    _quants(mesh, {"cells": (6, CELL, ALL), "own": (4, CELL, 0), "nodes": (16, NODE, ALL)})


def point(state: Any) -> None:
    """Three chunks of 3, 0 and 2 points, the first with one ghost."""
    mesh = _mesh(state, 4, 3, {"nnodes": 5})
    rest = [0] * 8
    chunks = [[3, 0, 2, 1, *rest], [0, 3, 2, 0, *rest], [2, 3, 4, 0, *rest]]
    mesh["TIO_MESH_CHUNKINFO"] = np.array(chunks, dtype="u8").ravel()
    for axis in "IJK":
        mesh[f"TIO_MESH_{axis}COORD"] = np.zeros(6)
    _quants(mesh, {"mass": (5, NODE, 0), "speed": (6, NODE, ALL)})


MAKERS = {
    "colinear": colinear,
    "non-colinear": non_colinear,
    "unstructured": unstructured,
    "point": point,
}
