"""Shared by the tests of TyphonIO files: the program that writes them, and functions that read them.

Element e of array number a of such a file is 1,000,000 a + e, or 1,000 a + e where integers are stored.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from .conftest import MPI_ENVIRONMENT, REPOSITORY, SINGLETON_ENVIRONMENT

KINDS = {"colinear": 1, "noncolinear": 2, "unstructured": 3, "point": 4}
NULL, ALL = 2**64 - 1, 2**64 - 2
CELL, NODE = 0, 7
CODES = {"f8": 9, "f4": 8, "i4": 2, "i8": 4, "u8": 15}
Write = Callable[..., "subprocess.CompletedProcess[str]"]


def find_program() -> Path:
    places = [
        os.environ.get("WORKALIKE_TYPHONIO_FILES"),
        *REPOSITORY.glob(
            "build/cp*/workalike-typhonio-files"
        ),  # not that with sanitizers, which reports leaks of HDF5
        *REPOSITORY.glob("build/dev/workalike-typhonio-files"),
    ]
    path = next((Path(p) for p in places if p and Path(p).exists()), None)
    if path is None:
        pytest.skip("the writer of files for this test is not built (make test)")
    return path


def run_program(
    pattern: str,
    file: Path,
    *what: object,
    ranks: int = 0,
    check: bool = True,
    prefix: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """No ranks: without a launcher."""
    if ranks and shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    launch = ["mpiexec", "-n", str(ranks)] if ranks else []
    environment = {**os.environ, **MPI_ENVIRONMENT, **({} if ranks else SINGLETON_ENVIRONMENT)}
    command = [*prefix, *launch, str(find_program()), pattern, str(file), *map(str, what)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 or not check, done.stderr
    return done


def links(group: h5py.Group) -> list[str]:
    """Names in the order of creation; by name if the group does not track it."""
    order = h5py.h5.INDEX_CRT_ORDER if creation_order(group) != (0, 0) else h5py.h5.INDEX_NAME
    names: list[str] = []
    group.id.links.iterate(lambda name: names.append(name.decode()), idx_type=order)
    return names


def creation_order(group: h5py.Group) -> tuple[int, int]:
    made = group.id.get_create_plist()
    return made.get_link_creation_order(), made.get_attr_creation_order()


def attributes(item: Any) -> dict[str, tuple[str, Any]]:
    """Type and value by name, in the order of creation if it is tracked."""
    tracked = isinstance(item, h5py.Group) and creation_order(item)[1] != 0
    index = h5py.h5.INDEX_CRT_ORDER if tracked else h5py.h5.INDEX_NAME
    out = {}
    for i in range(h5py.h5a.get_num_attrs(item.id)):
        attribute = h5py.h5a.open(item.id, index=i, index_type=index)
        assert attribute.get_space().get_simple_extent_type() == h5py.h5s.SCALAR
        out[attribute.name.decode()] = (type_of(attribute.get_type()), item.attrs[attribute.name.decode()])
    return out


def type_of(stored: Any) -> str:
    if not isinstance(stored, h5py.h5t.TypeStringID):
        return str(stored.dtype.str)
    assert not stored.is_variable_str()
    assert stored.get_cset() == h5py.h5t.CSET_ASCII
    assert stored.get_strpad() == h5py.h5t.STR_NULLTERM
    return f"S{stored.get_size()}"


def describe(item: Any, storage: bool = True) -> Any:
    """Everything that a reader can see of an object and its contents; without `storage`, only what it shows."""
    if isinstance(item, h5py.Dataset):
        made = item.id.get_create_plist()
        laid = (made.get_layout(), item.chunks, item.maxshape, made.get_alloc_time(), made.get_fill_time())
        assert made.get_nfilters() == 0
        seen = [type_of(item.id.get_type()), item.shape, item[...].tolist()]
        return seen + ([laid] if storage else [])
    children = {name: describe(item[name], storage) for name in links(item)}
    return [creation_order(item), list(attributes(item).items()), list(children.items())]


def texts(table: h5py.Dataset) -> list[str]:
    return [cell.decode() for cell in table[...]]


def numbers(array: int, first: int, count: int, kind: str) -> list[float]:
    scale = 1_000_000 if kind[0] == "f" else 1000
    return np.arange(scale * array + first, scale * array + first + count).astype(kind).tolist()  # type: ignore[no-any-return]


class Expected:
    """The meshes of the program, computed independently: sizes of each chunk, and what follows from them."""

    def __init__(self, kind: str, dimensions: int, ranks: int) -> None:
        self.kind, self.dimensions, self.ranks = kind, dimensions, ranks
        self.counted = kind in ("unstructured", "point")
        self.graph = {1: "i4", 2: "i8", 3: "u8"}[dimensions] if kind == "unstructured" else None
        self.coordinates = "f4" if kind == "unstructured" and dimensions == 1 else "f8"
        sum_of_ranks = ranks * (ranks - 1) // 2
        self.sizes = {
            "unstructured": [
                9 * ranks + sum_of_ranks,
                4 * ranks + sum_of_ranks,
                2 * ranks,
                16 * ranks + sum_of_ranks,
            ],
            "point": [5 * ranks + sum_of_ranks],
            "colinear": [3 * ranks + sum_of_ranks + 1, 4, 3, 0],
            "noncolinear": [3 * ranks + sum_of_ranks + 1, 4, 3, 1],
        }[kind]
        if not self.counted:
            self.sizes[dimensions:3] = [0] * (3 - dimensions)
        self.mixed = 0 if kind == "point" else sum(1 + c % 2 for c in range(ranks))

    def nodes(self, c: int) -> list[int]:
        return [3 + c + 1, 4, 3][: self.dimensions]

    def block(self, c: int, centring: int, ghosts: int) -> int:
        if self.kind == "point":
            return 5 + c + (1 if ghosts else 0)
        if self.kind == "unstructured":
            return 4 + c + (1 if ghosts else 0) if centring == CELL else 9 + c + (2 if ghosts else 0)
        less = {
            0: (1, 1, 1),
            7: (0, 0, 0),
            1: (1, 0, 0),
            2: (0, 1, 0),
            3: (0, 0, 1),
            4: (0, 1, 1),
            5: (1, 0, 1),
            6: (1, 1, 0),
        }
        return int(np.prod([n + 2 * ghosts - s for n, s in zip(self.nodes(c), less[centring], strict=False)]))

    def total(self, centring: int, ghosts: int) -> int:
        return sum(self.block(c, centring, ghosts) for c in range(self.ranks))

    def arrays(self) -> dict[str, tuple[int, str]]:
        """Datasets of the mesh: elements and type."""
        axes = [f"TIO_MESH_{axis}COORD" for axis in "IJK"[: self.dimensions]]
        if self.kind == "colinear":
            return {axis: (n, "f8") for axis, n in zip(axes, self.sizes, strict=False)}
        out = {axis: (self.total(NODE, 1), self.coordinates) for axis in axes}
        if self.kind == "unstructured":
            assert self.graph
            shapes = 3 * self.ranks
            out |= {
                "TIO_MESH_NODEIDS": (self.total(NODE, 1), self.graph),
                "TIO_MESH_CELLIDS": (self.total(CELL, 1), self.graph),
                "TIO_MESH_SHAPES": (shapes, "i4"),
                "TIO_MESH_CELLS_PER_SHAPE": (shapes, self.graph),
                "TIO_MESH_CONNECTIVITY": (self.sizes[3] + 4 * self.ranks, self.graph),
            }
        return out

    def words(self) -> list[list[int]]:
        out = []
        first = 0
        for c in range(self.ranks):
            mixed = [1 + c % 2, 3 * (1 + c % 2)]
            if self.kind == "unstructured":
                words = [9 + c, 4 + c, 2, 16 + c, 2, 1, 1, 4, *mixed, 0, 0]
            elif self.kind == "point":
                words = [5 + c, first, first + 4 + c, 1] + [0] * 8
                first += 5 + c
            else:
                sizes = self.nodes(c) + [0] * (3 - self.dimensions)
                low = [first, 0, 0]
                ranges = [end for a, n in zip(low, sizes, strict=True) for end in (a, a + max(n, 1) - 1)]
                words = [*sizes, *ranges, 0, *mixed]
                first += 3 + c
            out.append(words)
        return out

    def quants(self) -> list[tuple[int, int]]:
        """Centring and ghosts of each."""
        centrings = {"unstructured": [CELL, NODE], "point": [NODE]}.get(self.kind, list(range(8)))
        return [(c, g) for c in centrings for g in (0, 1)]
