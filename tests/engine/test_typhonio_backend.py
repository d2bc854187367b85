"""Meshes through TyphonIO: files that readers understand, stated sizes, and equal contents of both patterns."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, Result, content, dump, family, make_plan, sharing
from .test_hdf5 import has_hdf5
from .test_mesh import bytes_in_closed_form, mesh

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(not has_hdf5(), reason="the engine has no hdf5 backend")

KINDS = ["uniform", "rectilinear", "curvilinear", "unstructured", "arbitrary", "point"]
MESH_TYPE = {"uniform": 1, "rectilinear": 1, "curvilinear": 2, "unstructured": 3, "arbitrary": 3, "point": 4}


def typhonio(**more: Any) -> dict[str, Any]:
    return family("typhonio", level="mpiio", **more)


def only_file(result: Result) -> Path:
    (path,) = result.data.iterdir()
    return path


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
@pytest.mark.parametrize(("kind", "dimensions"), list(itertools.product(KINDS, [2, 3])))
def test_every_mesh_is_a_sound_state(
    engine: Engine, ranks: int, kind: str, dimensions: int, pattern: str
) -> None:
    mesh_spec = mesh(type=kind, dimensions=dimensions, parts=5, nodes=1003)
    plan = make_plan(ranks, [typhonio(typhonio=pattern)], [content(mesh=mesh_spec)])
    result = engine(plan, "--verify", "--keep")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    with h5py.File(only_file(result)) as file:
        assert list(file["TIO_STATE_REF"]) == [b"state0"]
        found = file["state0/mesh"]
        assert found.attrs["meshtype"] == MESH_TYPE[kind]
        assert found.attrs["ndims"] == dimensions
        assert len(found["TIO_MESH_CHUNKINFO"]) == 12 * 5
        names = [name.decode() for name in found["TIO_QUANT_REF"]]
        assert names == ["constant", "random", "spherical", "xramp", "ysin", "noise", "noise_sum", "xlayers"]
        words = found["TIO_MESH_CHUNKINFO"][...].reshape(5, 12)
        if MESH_TYPE[kind] == 3:
            cells = found["TIO_MESH_CONNECTIVITY"][...].reshape(-1, 2**dimensions)
            assert words[:, 1].sum() == found.attrs["ncells"] == len(cells)
            assert words[:, 0].sum() == found.attrs["nnodes"] == found["TIO_MESH_NODEIDS"][...].max()
            assert set(found["TIO_MESH_SHAPES"][...]) == (
                {2**dimensions} if kind == "arbitrary" else {-13 if dimensions == 2 else -16}
            )
        total = sum(found[name]["TIO_DATA"].nbytes for name in names)
        total += sum(v.nbytes for k, v in found.items() if k.startswith("TIO_MESH") and "INFO" not in k)
        assert total == bytes_in_closed_form(mesh_spec)


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
@pytest.mark.parametrize("lifetime", ["per-dump", "appended", "reused"])
def test_states_and_their_sizes(engine: Engine, ranks: int, lifetime: str, pattern: str) -> None:
    sizes = [400_000, 520_000, 520_000]
    contents = [content(mesh=mesh(nodes=0, bytes=size)) for size in sizes]
    one_file = lifetime != "per-dump"
    dumps = [dump(i, content=i, file=0 if one_file else i) for i in range(3)]
    plan = make_plan(ranks, [typhonio(lifetime=lifetime, typhonio=pattern)], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    # A node of the four parts has about 90 bytes, and each state makes up for the one before.
    assert [d["bytes_written"] for d in result.dumps] == pytest.approx(sizes, abs=400)
    if not one_file:
        assert len(result.files()) == 3
        return
    with h5py.File(only_file(result)) as file:
        assert list(file["TIO_STATE_REF"]) == [b"state0", b"state1", b"state2"]
        assert all(f"state{i}/mesh/xlayers/TIO_DATA" in file for i in range(3))


def test_materials_ghosts_and_globals(engine: Engine, ranks: int) -> None:
    mesh_spec = mesh(parts=3, nodes=900, materials=4, mixed=0.1, ghost=1, globals=8)
    result = engine(make_plan(ranks, [typhonio()], [content(mesh=mesh_spec)]), "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    with h5py.File(only_file(result)) as file:
        found = file["state0/mesh/material"]
        assert found.attrs["nmat"] == 4
        mixed = len(found["TIO_PTR"])
        assert (found["TIO_DATA"][...] < 0).sum() == mixed == file["state0/mesh"].attrs["nmixcell"] > 0
        assert np.allclose(found["TIO_VOLFRAC"][...].reshape(-1, 2).sum(axis=1), 1)
        assert len(file["state0/Variables/TIO_VARIABLE_REF"]) == 8


def test_ranks_that_pass_a_baton_have_states_of_their_own(engine: Engine) -> None:
    mesh_spec = mesh(parts=8, nodes=1003, collective=False)
    share = sharing("groups", files=2, turns="baton")
    plan = make_plan(4, [typhonio(sharing=share)], [content(mesh=mesh_spec)])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": bytes_in_closed_form(mesh_spec), "errors": 0}.items()
    names = []
    for path in sorted(result.data.iterdir()):
        with h5py.File(path) as file:
            names += [name.decode() for name in file["TIO_STATE_REF"]]
            for state in file["TIO_STATE_REF"]:
                ids = file[state]["mesh/TIO_MESH_NODEIDS"][...]
                assert (ids.min(), ids.max()) == (1, file[state]["mesh"].attrs["nnodes"])
    assert names == [f"state0_domain{rank:07d}" for rank in range(4)]


def test_a_restart_reads_the_state(engine: Engine, ranks: int) -> None:
    contents = [content(mesh=mesh()), content(mesh=mesh(direction="read"))]
    family_spec = typhonio(lifetime="reused")
    result = engine(make_plan(ranks, [family_spec], contents, [dump(0), dump(1, file=0, content=1)]))
    assert result.dumps[1]["payload_bytes"] == bytes_in_closed_form(mesh())
    assert result.dumps[1]["bytes_read"] >= bytes_in_closed_form(mesh())


def test_optimised_has_fewer_small_writes(engine: Engine) -> None:
    """At MPI-IO level, where the library decides: less than a fifth of the writes below 4 KiB."""
    small = {}
    for pattern in ("faithful", "optimised"):
        mesh_spec = mesh(
            variables=[[18, "zone", "float64"], [20, "node", "float64"], [5, "zone", "int32"]], nodes=40_000
        )
        result = engine(make_plan(4, [typhonio(typhonio=pattern)], [content(mesh=mesh_spec)]))
        small[pattern] = sum(result.dumps[0]["counters"]["SIZE_WRITE"][:2])
    assert small["optimised"] * 5 <= small["faithful"]
