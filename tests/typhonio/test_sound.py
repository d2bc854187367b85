"""Sound files pass, with what is in them; files of the real library, those with known defects by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from known_logs import SHARED_FOLDER
from typhonio_samples import MAKERS, make_file, table

from workalike.typhonio.child import answer

REAL = SHARED_FOLDER / "typhonio-files"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"no files of the real library in {REAL}")
UNSTRUCTURED_OF_MACSIO = {
    ("error", "attribute nshapes", "nshapes is 1, its chunks hold 4"),
    ("error", "TIO_MESH_NODEIDS", "node IDs begin at 0"),
    ("error", "TIO_MESH_CONNECTIVITY", "entries begin at 0"),
    ("warning", "TIO_MESH_CELLIDS", "cell IDs begin at 0"),
    ("warning", "TIO_MESH_CELLS_PER_SHAPE", "the shapes of chunk 0 have 9,801 cells"),
}


def nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree] + [node for child in tree["children"] for node in nodes(child)]


def named(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(node for node in nodes(found["tree"]) if node["name"] == name)


@pytest.mark.parametrize("kind", MAKERS)
def test_each_mesh_type(kind: str, tmp_path: Path) -> None:
    found = answer(str(make_file(tmp_path / "a.h5", kind)))
    assert found["kind"] == "typhonio"
    assert found["findings"] == []
    mesh = named(found, "mesh")
    assert mesh["type"] == kind
    assert mesh["chunks"] == (3 if kind == "point" else 2)


def test_what_the_tree_says(tmp_path: Path) -> None:
    found = answer(str(make_file(tmp_path / "a.h5", "colinear")))
    assert found["tree"]["version"] == "1.6.0"
    assert found["tree"]["codename"] == "a codename"
    state = named(found, "state0")
    assert (state["step"], state["time"], state["units"]) == (3, 1.5, "us")
    assert [child["name"] for child in named(found, "mesh")["children"]] == [
        "materials",
        "mixture",
        "count",
        "halo",
    ]
    assert named(found, "materials")["names"] == "iron, air"
    quant = named(found, "count")
    assert (quant["type"], quant["centring"], quant["values"], quant["range"]) == ("int", "node", 18, None)
    assert [named(found, name).get("value") for name in ("dt", "dt2", "n")] == [0.5, 0.25, 7]
    assert named(found, "profile")["extents"] == [2, 3]


def test_a_range_that_was_set_is_shown(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.h5", "point")
    with h5py.File(path, "r+") as file:
        file["state0/mesh/mass"].attrs.modify("qmin", -1.0)
        file["state0/mesh/mass"].attrs.modify("qmax", 4.0)
    assert named(answer(str(path)), "mass")["range"] == [-1.0, 4.0]


@pytest.mark.parametrize(
    "libver", [("earliest", "v110"), ("v108", "v108"), ("v110", "v110"), ("latest", "latest")]
)
def test_storage_that_the_library_reads(libver: tuple[str, str], tmp_path: Path) -> None:
    """Contiguous tables (a note), soft and hard links, other number types and string sizes (docs/reference/typhonio-calls.md#storage-variants)."""
    path = make_file(tmp_path / "a.h5", "unstructured", libver)
    with h5py.File(path) as old, h5py.File(tmp_path / "b.h5", "w", libver=libver) as new:
        for name, value in old.attrs.items():
            new.attrs.create(name, value, dtype="S63" if isinstance(value, bytes) else "i8")
        old.copy("state0", new, name="elsewhere")
        new["soft"] = h5py.SoftLink("/elsewhere")
        table(new, "TIO_STATE_REF", [b"soft"], "S16")
        mesh = new["soft/mesh"]
        mesh["twin"] = mesh["cells"]
        del mesh["TIO_QUANT_REF"]
        mesh["TIO_QUANT_REF"] = np.array([b"cells", b"own", b"nodes", b"twin"], dtype="S32")
        del mesh["cells/TIO_DATA"]
        mesh.create_dataset("cells/TIO_DATA", data=np.zeros((2, 3), ">f4"), chunks=(1, 3), compression="gzip")
        for name in ("ndims", "nnodes"):
            mesh.attrs.create(name, [mesh.attrs[name]], dtype="f4")
    found = answer(str(tmp_path / "b.h5"))
    assert found["counts"]["error"] == 0, found["findings"]
    assert named(found, "twin")["same_as"] == "/soft/mesh/cells"
    assert {(f["level"], f["place"]) for f in found["findings"]} == {
        ("note", "/soft/mesh/TIO_QUANT_REF"),
        ("warning", "/soft/mesh/cells/TIO_DATA"),
    }


@needs_real
@pytest.mark.parametrize(
    "name",
    [
        "worked-example",
        "quad",
        "unstructured-mixed-ghosts",
        "quad-material-mixed-4ranks",
        "macsio-curvilinear-2d-4ranks",
    ],
)
def test_files_of_the_real_library(name: str) -> None:
    found = answer(str(REAL / f"{name}.h5"))
    notes = [(f["level"], f["what"]) for f in found["findings"]]
    gaps = "127 of 3,871 cells are in no chunk: whole-mesh reads leave them untouched"
    assert notes == ([("note", gaps)] if "macsio" in name else [])


@needs_real
@pytest.mark.parametrize(
    ("name", "states"), [("macsio-unstructured-1d-4ranks", 1), ("macsio-visualisation-3-states-4ranks", 3)]
)
def test_defects_of_macsio_are_named(name: str, states: int) -> None:
    """Both are unstructured meshes: the library reads them chunk by chunk only (docs/reference/typhonio-calls.md#whole-reads)."""
    found = answer(str(REAL / f"{name}.h5"))
    assert len(found["tree"]["children"]) == states
    assert len(found["findings"]) == states * len(UNSTRUCTURED_OF_MACSIO)
    for state in range(states):
        here = [f for f in found["findings"] if f["place"].startswith(f"/state{state}/")]
        for level, place, what in UNSTRUCTURED_OF_MACSIO:
            assert [
                f
                for f in here
                if f["level"] == level and f["place"].endswith(place) and f["what"].startswith(what)
            ]
