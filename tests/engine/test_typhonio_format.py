"""TyphonIO files of the engine, read with HDF5 alone.

The requirements are in docs/reference/typhonio-format.md.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from known_logs import SHARED_FOLDER

from .typhonio_files import (
    ALL,
    CELL,
    CODES,
    KINDS,
    NODE,
    Expected,
    Write,
    attributes,
    creation_order,
    describe,
    links,
    numbers,
    run_program,
    texts,
    type_of,
)

REAL_FILES = SHARED_FOLDER / "typhonio-files"


@pytest.fixture
def write() -> Write:
    return run_program


# ---- the worked example -----------------------------------------------------------------------------------------


def test_the_worked_example(write: Write, tmp_path: Path) -> None:
    write("faithful", tmp_path / "own.h5", "worked")
    assert (tmp_path / "own.h5").stat().st_size == 15634
    assert (tmp_path / "own.h5").read_bytes()[8] == 3  # version of the superblock
    with h5py.File(tmp_path / "own.h5") as file:
        assert links(file) == ["TIO_STATE_REF", "state0"]
        assert links(file["state0"]) == [
            "mesh", "TIO_VARIABLE_INFO_UNITS", "TIO_VARIABLE_INFO_TYPES", "TIO_VARIABLE_INFO_INDEX",
            "TIO_VARIABLE_CACHE_0D_DOUBLE", "TIO_VARIABLE_REF", "TIO_MESH_REF",
        ]  # fmt: skip
        mesh = file["state0/mesh"]
        assert links(mesh) == [
            "TIO_MESH_ICOORD", "TIO_MESH_JCOORD", "pressure", "flag", "TIO_MESH_CHUNKINFO", "TIO_QUANT_REF",
        ]  # fmt: skip
        chunks = [[3, 3, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0], [3, 3, 0, 2, 4, 0, 2, 0, 0, 0, 0, 0]]
        assert mesh["TIO_MESH_CHUNKINFO"][...].tolist() == [word for chunk in chunks for word in chunk]
        assert mesh["pressure/TIO_DATA"][...].tolist() == [0.5, 1.5, 4.5, 5.5, 2.5, 3.5, 6.5, 7.5]


@pytest.mark.skipif(not REAL_FILES.is_dir(), reason=f"no {REAL_FILES}")
def test_the_worked_example_is_what_the_real_library_writes(write: Write, tmp_path: Path) -> None:
    write("faithful", tmp_path / "own.h5", "worked")
    real, own = REAL_FILES / "worked-example.h5", tmp_path / "own.h5"
    assert own.stat().st_size == real.stat().st_size
    with h5py.File(own) as a, h5py.File(real) as b:
        assert places(a) == places(b)  # the same calls in the same order give the same places
        seen, wanted = describe(a), describe(b)
        words = np.array(b["state0/mesh/TIO_MESH_CHUNKINFO"][...]).reshape(-1, 12)
    words[:, 9] = 0  # which the library does not set
    mesh = dict(dict(wanted[2])["state0"][2])["mesh"]
    dict(mesh[2])["TIO_MESH_CHUNKINFO"][2] = words.reshape(-1).tolist()
    assert seen == wanted


def places(file: h5py.File) -> list[Any]:
    """Every object: its place, the place of its data, its type and its attributes, but not its contents."""
    out: list[Any] = []

    def note(name: str, item: Any) -> None:
        where = [name, h5py.h5o.get_info(item.id).addr, list(attributes(item).items())]
        if isinstance(item, h5py.Dataset):
            where += [
                item.id.get_offset(),
                type_of(item.id.get_type()),
                item.shape,
                item.maxshape,
                item.chunks,
            ]
        else:
            where += [creation_order(item), links(item)]
        out.append(where)

    file.visititems(note)
    return out


@pytest.mark.skipif(not REAL_FILES.is_dir(), reason=f"no {REAL_FILES}")
@pytest.mark.parametrize(
    ("what", "ranks", "real"),
    [("benchmark", 4, "quad-material-mixed-4ranks.h5"), ("example", 0, "unstructured-mixed-ghosts.h5")],
)
def test_all_lies_where_the_real_library_puts_it(
    write: Write, tmp_path: Path, what: str, ranks: int, real: str
) -> None:
    """Materials, mixed quants, vargroups, variables, ghosts: the same calls in the same order."""
    write("faithful", tmp_path / "own.h5", what, ranks=ranks)
    assert (tmp_path / "own.h5").stat().st_size == (REAL_FILES / real).stat().st_size
    with h5py.File(tmp_path / "own.h5") as own, h5py.File(REAL_FILES / real) as other:
        assert places(own) == places(other)


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="no h5dump")
def test_h5dump_reads_it(write: Write, tmp_path: Path) -> None:
    for pattern in ("faithful", "optimised"):
        write(pattern, tmp_path / f"{pattern}.h5", "worked")
    dumps = [
        subprocess.run(["h5dump", tmp_path / f"{p}.h5"], capture_output=True, text=True, check=True).stdout
        for p in ("faithful", "optimised")
    ]
    unlimited = [dump.replace("H5S_UNLIMITED", "").splitlines()[1:] for dump in dumps]
    assert len(unlimited[0]) == len(unlimited[1]) > 200
    assert "H5T_STD_U64LE" in dumps[0]


# ---- all kinds of meshes -----------------------------------------------------------------------------------------


def check_mesh_attributes(mesh: h5py.Group, e: Expected) -> None:
    u = [str(np.dtype("u8").str)] * 8
    i = str(np.dtype("i4").str)
    names = {"unstructured": ["nnodes", "ncells", "nshapes", "nconnectivity"], "point": ["nnodes"]}
    ghosts = ALL if e.counted else 0
    wanted = [
        ("meshtype", (i, KINDS[e.kind])),
        ("coordtype", (i, 1 if e.kind == "unstructured" else 0)),
        ("amrflag", (i, 0)),
        ("group", ("S64", b"group")),
        ("order", (u[0], 1)),
        ("graph_datatype", (i, CODES[e.graph] if e.graph else -1)),
        ("coord_datatype", (i, CODES[e.coordinates])),
        ("ndims", (i, e.dimensions)),
        *((f"{axis}units", ("S64", unit)) for axis, unit in zip("ijk", (b"cm", b"mm", b"m"), strict=True)),
        *((f"{axis}label", ("S64", label)) for axis, label in zip("ijk", (b"x", b"y", b"z"), strict=True)),
        *(
            (n, (u[0], s))
            for n, s in zip(names.get(e.kind, ["ni", "nj", "nk", "nghosts"]), e.sizes, strict=True)
        ),
        ("matghosts", (u[0], ghosts)),
        ("nmixcell", (u[0], e.mixed)),
        ("nmixcomp", (u[0], 3 * e.mixed)),
    ]
    assert list(attributes(mesh).items()) == wanted


def check_quants(mesh: h5py.Group, e: Expected) -> None:
    array = len(e.arrays())
    for centring, ghosts in e.quants():
        array += 1
        quant = mesh[f"q{centring}{'g' if ghosts else ''}"]
        kind = "f8" if centring % 2 == 0 else "i4"
        mixed = centring == CELL and ghosts == 0
        stored = np.dtype(kind).str
        i, u = np.dtype("i4").str, np.dtype("u8").str
        assert list(attributes(quant).items()) == [
            ("datatype", (i, CODES[kind])),
            ("centring", (i, centring)),
            ("nghosts", (u, (ALL if e.counted else 1) if ghosts else 0)),
            ("mixedflag", (i, int(mixed))),
            ("units", ("S64", b"Pa")),
            ("qmin", (stored, -1.5 if mixed else 999)),
            ("qmax", (stored, 2.5 if mixed else 666)),
        ]
        assert links(quant) == ["TIO_DATA"]
        count = e.total(centring, ghosts) + (3 * e.mixed if mixed else 0)
        assert quant["TIO_DATA"].dtype.str == stored
        assert quant["TIO_DATA"].chunks is None
        assert quant["TIO_DATA"][...].tolist() == numbers(array, 0, count, kind), (centring, ghosts)


def check_material(mesh: h5py.Group, e: Expected) -> None:
    material = mesh["materials"]
    mixed = e.kind != "point"
    data = [("TIO_DATA", "i4", e.total(NODE if e.kind == "point" else CELL, int(e.counted)) + 3 * e.mixed)]
    if mixed:
        data += [("TIO_NCOMP", "i4", e.mixed), ("TIO_PTR", "i4", e.mixed), ("TIO_VOLFRAC", "f4", 3 * e.mixed)]
    assert links(material) == [name for name, _, _ in data] + ["TIO_MATERIAL_NUMS", "TIO_MATERIAL_NAMES"]
    for number, (name, kind, count) in enumerate(data, 1):
        assert material[name].dtype == kind
        assert material[name][...].tolist() == numbers(number, 0, count, kind), name
    assert {name: value for name, (_, value) in attributes(material).items()} == {
        "datatype": 2, "ncomp_datatype": 2, "ptr_datatype": 2, "vf_datatype": 8, "nmat": 3,
        "nghosts": ALL if e.counted else 0, "mixedflag": int(mixed),
    }  # fmt: skip
    assert material["TIO_MATERIAL_NUMS"][...].tolist() == ([11, 22, 33] if mixed else [1, 2, 3])
    default = ["material1", "material2", "material3"]
    assert texts(material["TIO_MATERIAL_NAMES"]) == (["Red", "Green", "Blue"] if mixed else default)


def check_variables(parent: h5py.Group) -> None:
    assert texts(parent["TIO_VARIABLE_REF"]) == [
        "count",
        "length",
        "second",
        "list",
        "field",
        "word",
        "words",
    ]
    assert texts(parent["TIO_VARIABLE_INFO_UNITS"]) == ["", "cm", "cm", "K", "", "", ""]
    assert parent["TIO_VARIABLE_INFO_TYPES"][...].tolist() == [2, 9, 9, 1008, 2001, 18, 1018]
    assert parent["TIO_VARIABLE_INFO_INDEX"][...].tolist() == [1, 1, 2, 0, 0, 0, 0]
    assert parent["TIO_VARIABLE_CACHE_0D_INT"][...].tolist() == [7]
    assert parent["TIO_VARIABLE_CACHE_0D_DOUBLE"][...].tolist() == [1.5, 2.5]
    assert parent["list"][...].tolist() == [1, 2, 3, 4, 5]
    assert parent["field"].shape == (3, 2)
    assert parent["field"][...].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert parent["word"].shape == ()
    assert parent["word"][()] == b"first"
    assert texts(parent["words"]) == ["first", ""]
    assert parent["field"].dtype == "u2"


def check_file(path: Path, e: Expected) -> Any:
    with h5py.File(path) as file:
        assert {name: value for name, (_, value) in attributes(file).items()} == {
            "TIO_version_major": 1, "TIO_version_minor": 6, "TIO_version_release": 0, "codename": b"mycode",
            "version": b"1.0", "created": b"2026-01-01", "modified": b"2026-01-01", "title": b"demo",
        }  # fmt: skip
        assert texts(file["TIO_STATE_REF"]) == ["state"]
        state = file["state"]
        assert list(attributes(state).values()) == [
            (np.dtype("u8").str, 3), (np.dtype("f8").str, 0.25), ("S64", b"ms"),
        ]  # fmt: skip
        assert texts(state["TIO_MESH_REF"]) == ["mesh"]
        mesh = state["mesh"]
        check_mesh_attributes(mesh, e)
        arrays = e.arrays()
        quants = [f"q{c}{'g' if g else ''}" for c, g in e.quants()]
        variables = ["more", "list", "field", "word", "words"]
        assert links(mesh)[: len(arrays) + len(quants) + 7] == [
            *arrays, "materials", *quants, *variables, "TIO_MESH_RANGE",
        ]  # fmt: skip
        assert links(mesh)[-3:] == ["TIO_VGROUP_REF", "TIO_MATERIAL_REF", "TIO_QUANT_REF"]
        assert texts(mesh["TIO_QUANT_REF"]) == quants
        assert texts(mesh["TIO_MATERIAL_REF"]) == ["materials"]
        for number, (name, (count, kind)) in enumerate(arrays.items(), 1):
            assert mesh[name].dtype == kind
            assert mesh[name][...].tolist() == numbers(number, 0, count, kind), name
        assert mesh["TIO_MESH_CHUNKINFO"].dtype == "u8"
        assert mesh["TIO_MESH_CHUNKINFO"][...].reshape(-1, 12).tolist() == e.words()
        assert mesh["TIO_MESH_RANGE"][...].tolist() == numbers(9, 0, 2 * e.dimensions, e.coordinates)
        check_quants(mesh, e)
        check_material(mesh, e)
        for parent in (file, state, mesh):
            assert texts(parent["TIO_VGROUP_REF"]) == ["more"]
            for owner in (parent, parent["more"]):
                check_variables(owner)
        return describe(file, storage=False)


@pytest.mark.parametrize("kind", KINDS)
def test_meshes(write: Write, tmp_path: Path, kind: str, ranks: int) -> None:
    """Every attribute; both patterns are equal for a reader."""
    for dimensions in (1, 2, 3):
        seen = []
        for pattern in ("faithful", "optimised"):
            path = tmp_path / f"{pattern}-{dimensions}.h5"
            write(pattern, path, "mesh", kind, dimensions, ranks=ranks if ranks > 1 else 0)
            seen.append(check_file(path, Expected(kind, dimensions, ranks)))
        assert seen[0] == seen[1]


def test_tables(write: Write, tmp_path: Path) -> None:
    """Faithful: unlimited, in chunks of one element. Optimised: contiguous, except the root's, which may grow."""
    for pattern, chunks, inner in (("faithful", (1,), (1,)), ("optimised", (64,), None)):
        path = tmp_path / f"{pattern}.h5"
        write(pattern, path, "worked")
        with h5py.File(path) as file:
            assert file["TIO_STATE_REF"].chunks == chunks
            assert file["TIO_STATE_REF"].maxshape == (None,)
            for name in (
                "TIO_MESH_REF",
                "TIO_VARIABLE_REF",
                "TIO_VARIABLE_CACHE_0D_DOUBLE",
                "mesh/TIO_QUANT_REF",
            ):
                assert file["state0"][name].chunks == inner, name


# ---- several states ---------------------------------------------------------------------------------------------


def check_states(path: Path, count: int, ranks: int, extra: tuple[str, ...] = ()) -> None:
    with h5py.File(path) as file:
        names = [f"state{s}" for s in range(count)]
        assert texts(file["TIO_STATE_REF"]) == [*names, *extra]
        for s, name in enumerate(names):
            mesh = file[name]["mesh"]
            assert file[name].attrs["step"] == s
            nodes, cells = (4 + s) * 5, (3 + s) * 4
            assert texts(mesh["TIO_QUANT_REF"]) == ["constant", "random", "spherical"]
            for number in range(3):
                quant = mesh[texts(mesh["TIO_QUANT_REF"])[number]]
                assert quant["TIO_DATA"][...].tolist() == numbers(8 + number, 0, cells * ranks, "f8")
                assert quant.attrs["qmax"] == 666
            assert mesh["TIO_MESH_ICOORD"][...].tolist() == numbers(1, 0, nodes * ranks, "f8")
            words = [nodes, cells, 1, 4 * cells] + [0] * 8
            assert mesh["TIO_MESH_CHUNKINFO"][...].tolist() == words * ranks


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
def test_states_are_there_after_each_flush(write: Write, tmp_path: Path, ranks: int, pattern: str) -> None:
    launched = ranks if ranks > 1 else 0
    write(pattern, tmp_path / "whole.h5", "states", 4, 0, ranks=launched)
    check_states(tmp_path / "whole.h5", 4, ranks)
    for flushed in (1, 3):
        path = tmp_path / f"killed{flushed}.h5"
        assert write(pattern, path, "states", 4, flushed, ranks=launched, check=False).returncode != 0
        check_states(path, flushed, ranks)


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
def test_tables_grow_after_a_flush_with_all_open(
    write: Write, tmp_path: Path, ranks: int, pattern: str
) -> None:
    """Ranks also have two chunks, one or none in a round of collective writes."""
    write(pattern, tmp_path / "parts.h5", "parts", ranks=ranks if ranks > 1 else 0)
    chunks = 2 * ranks - 1
    count = sum(1000 - c for c in range(chunks))
    with h5py.File(tmp_path / "parts.h5") as file:
        mesh = file["state/mesh"]
        assert texts(mesh["TIO_QUANT_REF"]) == ["quant0", "quant1", "quant2"]
        assert mesh["quant0/TIO_DATA"][...].tolist() == numbers(1, 0, count, "f8")
        assert mesh["quant1/TIO_DATA"][...].tolist() == numbers(2, 0, count, "i4")
        assert mesh["quant2/TIO_DATA"].shape == (count,)
        assert mesh["quant2"].attrs["datatype"] == 13
        assert texts(mesh["TIO_VARIABLE_REF"]) == ["scalar0", "scalar1"]
        assert mesh["TIO_VARIABLE_CACHE_0D_DOUBLE"][...].tolist() == [1.5, 2.5]
        assert mesh["TIO_VARIABLE_INFO_INDEX"][...].tolist() == [1, 2]
        for q in range(3):
            assert texts(mesh[f"quant{q}/TIO_VARIABLE_REF"]) == [f"note{q}"]
        assert mesh["TIO_MESH_CHUNKINFO"].shape == (12 * chunks,)
        assert texts(file["TIO_STATE_REF"]) == ["state"]


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
def test_a_file_takes_further_states(write: Write, tmp_path: Path, ranks: int, pattern: str) -> None:
    launched = ranks if ranks > 1 else 0
    path = tmp_path / "states.h5"
    write("faithful", path, "states", 2, 0, ranks=launched)
    write(pattern, path, "append", ranks=launched)
    check_states(path, 2, ranks, extra=("appended",))
    with h5py.File(path) as file:
        assert dict(file.attrs)["codename"] == b"another"
        assert file.attrs["created"] == b"2026-01-01"
        assert file.attrs["modified"] == b"2026-02-02"
        assert file.attrs["version"] == b"1.0"
        assert file["TIO_VARIABLE_CACHE_0D_DOUBLE"][...].tolist() == [8.25]
        assert texts(file["appended/mesh/TIO_QUANT_REF"]) == ["constant", "random"]
    again = write(pattern, path, "append", ranks=launched, check=False)
    assert again.returncode != 0
    assert "'appended' is taken" in again.stderr


def test_what_is_no_typhonio_file_is_not_opened(write: Write, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = 1
    (tmp_path / "text.h5").write_text("no HDF5 at all")
    before = (tmp_path / "other.h5").read_bytes()
    done = write("faithful", tmp_path / "other.h5", "append", check=False)
    assert done.returncode != 0
    assert "not a TyphonIO file" in done.stderr
    with h5py.File(tmp_path / "other.h5") as file:
        assert dict(file.attrs) == {}
        assert list(file) == ["data"]
    assert len(before) == (tmp_path / "other.h5").stat().st_size
    assert write("faithful", tmp_path / "text.h5", "append", check=False).returncode != 0


@pytest.mark.parametrize("damage", ["two-dimensional", "text"])
def test_damaged_tables_are_named(write: Write, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "damaged.h5"
    write("faithful", path, "states", 1, 0)
    with h5py.File(path, "r+") as file:
        del file["TIO_STATE_REF"]
        if damage == "two-dimensional":
            file.create_dataset("TIO_STATE_REF", data=np.array([[b"state0"]], "S64"))
        else:
            file.create_dataset("TIO_STATE_REF", data=["state0"], dtype=h5py.string_dtype())
    done = write("faithful", path, "append", check=False)
    assert done.returncode != 0
    words = {"two-dimensional": "TIO_STATE_REF is not a list", "text": "HDF5"}
    assert words[damage] in done.stderr


# ---- what is refused --------------------------------------------------------------------------------------------

REFUSED = {
    "title of 64": "64 characters",
    "state ": "empty",
    "state of 64": "64 characters",
    "state a/b": "'/'",
    "state TIO_x": "TIO_",
    "name twice": "taken",
    "unit of 64": "64 characters",
    "four dimensions": "1 to 3",
    "negative cells": "negative",
    "graph of reals": "integers",
    "no graph": "integers",
    "axisymmetric": "two-dimensional",
    "write before chunks": "not set",
    "no chunks": "at least one",
    "negative chunk": "chunk 1",
    "empty chunk": "chunk 1",
    "too many cells": "1004 cells",
    "overflow": "63 bits",
    "chunks twice": "once",
    "chunk 1 of 1": "count from 0",
    "quant of edges": "cells or nodes",
    "one ghost": "none or all",
    "mixed without material": "mixed material",
    "scalar of time": "type 17",
    "variable of 8 dimensions": "at most 7",
    "empty dimension": "at least one element",
    "quant on a closed mesh": "closed",
}


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
def test_bad_arguments_are_refused_before_anything_is_written(
    write: Write, tmp_path: Path, pattern: str
) -> None:
    path = tmp_path / "refused.h5"
    answers = dict(
        line.split(": ", 1) for line in write(pattern, path, "refuse").stdout.splitlines() if ": " in line
    )
    for what, words in REFUSED.items():
        assert words in answers[what], (what, answers[what])
    assert "accepted" not in answers.values()
    assert "HDF5" in answers["file that is there"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["refused.h5"]
    with h5py.File(path) as file:
        assert links(file) == ["TIO_STATE_REF", "s" * 63]
        assert links(file["s" * 63]) == ["mesh", "TIO_MESH_REF"]
        assert not [name for name in links(file[f"{'s' * 63}/mesh"]) if not name.startswith("TIO_MESH")]


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
def test_a_rank_that_fails_waits_for_nobody(write: Write, tmp_path: Path, pattern: str) -> None:
    """`write` ends the test after two minutes; the other ranks are in a collective call all the while."""
    done = write(pattern, tmp_path / "dropped.h5", "drop", ranks=4, check=False)
    assert done.returncode != 0
    assert "dropped" in done.stderr
