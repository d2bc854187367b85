"""Meshes: the engine divides them as in the closed form, matches stated sizes, and writes readable values."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from workalike.plan import plan_schema as plan_model
from workalike.plan.meshes import bytes_of_plan, form_of_plan
from workalike.workload.mesh import Centring, Mesh, MeshType, ValueType
from workalike.workload.mesh_size import shape_of

from .conftest import Engine, content, dump, family, make_plan, sharing
from .test_hdf5 import has_hdf5

np = pytest.importorskip("numpy")
h5py = pytest.importorskip("h5py")

NEEDS_HDF5 = pytest.mark.skipif(not has_hdf5(), reason="the engine has no hdf5 backend")


def mesh(**more: Any) -> dict[str, Any]:
    return {
        "type": "unstructured", "dimensions": 2, "parts": 4, "nodes": 400, "bytes": None, "part_dims": None,
        "variables": [[3, "zone", "float64"], [4, "node", "float64"], [1, "zone", "int32"]],
        "direction": "write", "collective": True, **more,
    }  # fmt: skip


def bytes_in_closed_form(mesh_spec: dict[str, Any]) -> int:
    return bytes_of_plan(plan_model.PlanMesh.model_validate(mesh_spec))


def random_meshes(count: int) -> list[dict[str, Any]]:
    choose = random.Random(7)
    out = []
    for i in range(count):
        kind = list(MeshType)[i % len(MeshType)]
        dimensions = choose.randint(1, 3)
        parts = choose.randint(1, 40)
        runs = [
            [choose.randint(1, 5), choose.choice(list(Centring)).value, choose.choice(list(ValueType)).value]
            for _ in range(choose.randint(1, 3))
        ]
        if choose.random() < 0.5 and kind is not MeshType.POINT:
            materials, mixed = choose.randint(1, 9), choose.random()
        else:
            materials, mixed = choose.randint(0, 1), 0.0
        out.append(
            mesh(
                type=kind.value, dimensions=dimensions, parts=parts, nodes=choose.randint(parts, 100_000),
                part_dims=[choose.randint(2, 9) for _ in range(dimensions)] if choose.random() < 0.2 else None,
                variables=runs, shared_nodes=choose.random() < 0.3, wide_ids=choose.random() < 0.3,
                materials=materials, mixed=mixed, ghost=choose.choice([0, 0, 1, 2]),
                geometry=choose.random() < 0.8,
            )
        )  # fmt: skip
    return out


def test_engine_and_closed_form_divide_up_alike(engine: Engine) -> None:
    meshes = random_meshes(300)
    contents = [content(mesh=mesh_spec) for mesh_spec in meshes]
    dumps = [dump(i, content=i) for i in range(len(meshes))]
    result = engine(make_plan(3, [family("null", level="mpiio")], contents, dumps), processes=0)
    counted = [d["bytes_written"] for d in result.dumps]
    assert counted == [bytes_in_closed_form(mesh_spec) for mesh_spec in meshes]


@pytest.mark.parametrize("kind", [m.value for m in MeshType])
def test_stated_bytes_are_hit_by_less_than_a_row(engine: Engine, kind: str) -> None:
    sizes = [200_000, 1_234_567, 9_999_999]
    contents = [content(mesh=mesh(type=kind, nodes=0, bytes=size)) for size in sizes]
    dumps = [dump(i, content=i) for i in range(len(sizes))]
    result = engine(make_plan(4, [family("null", level="mpiio")], contents, dumps), processes=0)
    free = kind in ("unstructured", "arbitrary", "point")
    for size, performed in zip(sizes, result.dumps, strict=True):
        nodes = size / 90 / 4  # of a part, roughly
        assert performed["bytes_written"] == pytest.approx(size, rel=1e-3 if free else 1.2 / nodes**0.5)


@pytest.mark.parametrize("backend", ["posix", "mpiio", "stdio"])
def test_plain_files_are_written_whole(engine: Engine, ranks: int, backend: str) -> None:
    mesh_spec = mesh(parts=5, nodes=1003, collective=backend == "mpiio")
    result = engine(make_plan(ranks, [family(backend)], [content(mesh=mesh_spec)]), "--verify", "--keep")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    assert list(result.files().values()) == [bytes_in_closed_form(mesh_spec)]


@NEEDS_HDF5
def test_fields_differ_between_dumps_and_parts_and_the_mesh_stays(engine: Engine) -> None:
    mesh_spec = mesh(parts=2, nodes=20_000, variables=[[8, "zone", "float32"], [8, "node", "float64"]])
    plan = make_plan(1, [family("hdf5")], [content(mesh=mesh_spec)], [dump(0), dump(1)])
    result = engine(plan, "--keep")
    first, second = (h5py.File(path) for path in sorted(result.data.iterdir()))
    fields = 0
    for name in first:
        values, later = first[name][...], second[name][...]
        if name in ("icoord", "jcoord", "node_ids", "cell_ids", "shapes", "cells_per_shape", "connectivity"):
            assert (values == later).all(), name
        else:
            fields += 1
            assert (values != later).any(), name
            half = len(values) // 2
            assert (values[:half] != values[half : 2 * half]).any(), name
    assert fields == 16


@NEEDS_HDF5
def test_files_of_one_size_but_other_dimensions_are_not_mixed_up(engine: Engine) -> None:
    """Rows are whole: of 221 nodes one file has 111, made 11 x 10, and one 110, made 10 x 11. One process checks both."""
    contents = [content(mesh=mesh(type="curvilinear", parts=2, nodes=221, collective=False))]
    plan = make_plan(2, [family("hdf5", sharing=sharing("per-rank"))], contents)
    result = engine(plan, "--keep")
    assert engine(plan, "--verify-only", data=result.data, processes=0).code == 0


@NEEDS_HDF5
def test_long_parts_are_written_and_read_back(engine: Engine) -> None:
    sizes = [8_000_000, 9_000_000]  # 64 MB, and more than what a short part has
    contents = [
        content(
            mesh=mesh(type="rectilinear", dimensions=1, parts=1, nodes=n, variables=[[2, "node", "float64"]])
        )
        for n in sizes
    ]
    dumps = [dump(0), dump(1, content=1), dump(2)]
    result = engine(make_plan(1, [family("hdf5")], contents, dumps), "--verify")
    planned = sum(bytes_in_closed_form(contents[place]["mesh"]) for place in (0, 1, 0))
    assert result.end["verified"].items() >= {"bytes": planned, "errors": 0}.items()


@NEEDS_HDF5
@pytest.mark.parametrize(
    ("kind", "dimensions"), list(itertools.product([m.value for m in MeshType], [1, 2, 3]))
)
def test_datasets_of_every_mesh(engine: Engine, ranks: int, kind: str, dimensions: int) -> None:
    mesh_spec = mesh(type=kind, dimensions=dimensions, parts=5, nodes=1003)
    result = engine(make_plan(ranks, [family("hdf5")], [content(mesh=mesh_spec)]), "--verify", "--keep")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    form = form_of_plan(plan_model.PlanMesh.model_validate(mesh_spec))
    shapes = [shape_of(form, 201 if p < 3 and not form.whole_rows else 200) for p in range(5)]
    zones, nodes = sum(s.cells for s in shapes), sum(s.nodes for s in shapes)
    with h5py.File(next(result.data.iterdir())) as file:
        assert file["random"].shape == (nodes if kind == "point" else zones,)
        assert file["xramp"].shape == (nodes,)
        assert file["xlayers"].dtype == np.int32
        noise = file["random"][...]
        assert 0 <= noise.min() < noise.max() < 1
        assert len(np.unique(noise)) == len(noise)  # all places differ
        if kind in ("unstructured", "arbitrary"):
            ids, cells = file["node_ids"][...], file["connectivity"][...].reshape(-1, 2**dimensions)
            assert sorted(ids) == list(range(1, nodes + 1))
            assert len(cells) == zones
            ends = np.repeat([s.nodes for s in shapes], [s.cells for s in shapes])
            assert cells.min() == 1
            assert (cells.max(axis=1) <= ends).all()
            assert all(len(set(cell)) == 2**dimensions for cell in cells.tolist())


@NEEDS_HDF5
@pytest.mark.parametrize("lifetime", ["per-dump", "appended"])
def test_stated_bytes_include_what_hdf5_adds(engine: Engine, ranks: int, lifetime: str) -> None:
    sizes = [300_000, 300_000, 450_000]
    contents = [content(mesh=mesh(nodes=0, bytes=size, parts=4)) for size in sizes]
    dumps = [dump(i, content=i, file=0 if lifetime == "appended" else i) for i in range(len(sizes))]
    family_spec = family("hdf5", level="mpiio", lifetime=lifetime)
    result = engine(make_plan(ranks, [family_spec], contents, dumps), "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    assert [d["bytes_written"] for d in result.dumps] == pytest.approx(sizes, rel=1e-3)


@NEEDS_HDF5
def test_materials_and_ghosts(engine: Engine, ranks: int) -> None:
    mesh_spec = mesh(parts=3, nodes=900, materials=4, mixed=0.1, ghost=1)
    result = engine(make_plan(ranks, [family("hdf5")], [content(mesh=mesh_spec)]), "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    with h5py.File(next(result.data.iterdir())) as file:
        material, pointers = file["material"][...], file["material_first"][...]
        mixed = len(pointers)
        assert (material < 0).sum() == mixed > 0
        assert material[material > 0].max() <= 4
        assert len(file["material_fraction"]) == 2 * mixed


@pytest.mark.parametrize("mode", ["per-rank", "groups"])
def test_parts_lie_in_the_file_of_their_rank(engine: Engine, mode: str) -> None:
    mesh_spec = mesh(parts=6, nodes=607, collective=False)
    share = sharing(mode, files=2 if mode == "groups" else 1)
    result = engine(
        make_plan(4, [family("posix", sharing=share)], [content(mesh=mesh_spec)]), "--keep", "--verify"
    )
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    assert sum(result.files().values()) == bytes_in_closed_form(mesh_spec)
    assert len(result.files()) == (2 if mode == "groups" else 4)


def test_fewer_parts_than_ranks(engine: Engine, ranks: int) -> None:
    mesh_spec = mesh(parts=1, nodes=100)
    result = engine(make_plan(ranks, [family("mpiio")], [content(mesh=mesh_spec)]), "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()


def test_a_mesh_is_read_back(engine: Engine, ranks: int) -> None:
    written, read = mesh(), mesh(direction="read")
    dumps = [dump(0), dump(1, file=0, content=1)]
    family_spec = family("mpiio", lifetime="reused")
    result = engine(make_plan(ranks, [family_spec], [content(mesh=written), content(mesh=read)], dumps))
    assert result.dumps[1]["bytes_read"] == bytes_in_closed_form(written)


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ({"nodes": 2**50, "variables": [[1000, "node", "float64"]]}, "too large"),
        ({"nodes": 2**40}, "wide_ids"),
        ({"variables": []}, "at least one"),
        ({"variables": [[10**6, "zone", "float64"], [1, "zone", "float64"]]}, "1000000"),
        ({"dimensions": 4}, "dimensions"),
        ({"part_dims": [1, 5]}, "part_dims"),
        ({"part_dims": [2**40, 2**40]}, "part"),
        ({"ghost": 16}, "ghost"),
        ({"parts": 0}, "parts"),
        ({"mixed": 1.5}, "mixed"),
        ({"type": "round"}, "uniform"),
    ],
)
def test_refused(engine: Engine, bad: dict[str, Any], word: str) -> None:
    result = engine(make_plan(1, [family("null")], [content(mesh=mesh(**bad))]), check=False)
    assert result.code == 2
    assert word in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_mesh_of_a_workload_is_the_mesh_of_the_plan() -> None:
    runs = Mesh(variables=8).runs()
    assert [[n, c.value, t.value] for n, c, t in runs] == mesh()["variables"]
