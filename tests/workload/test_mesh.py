"""Meshes in a workload: MACSio's cycle of variables, sizes in closed form, what is refused."""

from __future__ import annotations

from typing import Any

import mesh_reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from workalike.workload.mesh import Centring, Mesh, MeshType, ValueType
from workalike.workload.mesh_size import TOO_LARGE, MeshForm, mesh_bytes, nodes_for, shape_of
from workalike.workload.model import Workload

UNSTRUCTURED = MeshForm(MeshType.UNSTRUCTURED, 2, Mesh(variables=43).runs())


def workload(mesh: dict[str, Any], **family: Any) -> Workload:
    family_spec = {"role": "checkpoint", "interface": "hdf5", "schedule": {"count": 3}, **family}
    return Workload.model_validate({"ranks": 4, "families": [{**family_spec, "content": {"mesh": mesh}}]})


def test_macsio_cycle_of_variables() -> None:
    runs = Mesh(variables=43).runs()
    counts = {kind: sum(n for n, c, t in runs if (c, t) == kind) for kind in {(c, t) for _, c, t in runs}}
    # docs/reference/macsio-model.md#sizes: of 43 variables 18 are doubles of zones, 20 doubles of nodes, 5 integers of zones.
    assert counts == {
        (Centring.ZONE, ValueType.FLOAT64): 18,
        (Centring.NODE, ValueType.FLOAT64): 20,
        (Centring.ZONE, ValueType.INT32): 5,
    }


@pytest.mark.parametrize(("nx", "ny"), [(2, 2), (3, 3), (10, 10), (97, 97)])
def test_square_unstructured_part_has_the_bytes_of_the_size_equation(nx: int, ny: int) -> None:
    # C.4: P (20 N' + 20 C + 8 + V), V = 8 C 18 + 4 C 5 + 8 N' 20.
    nodes, cells = nx * ny, (nx - 1) * (ny - 1)
    expected = 20 * nodes + 20 * cells + 8 + 8 * cells * 18 + 4 * cells * 5 + 8 * nodes * 20
    assert mesh_bytes(UNSTRUCTURED, 1, nodes) == expected
    assert mesh_bytes(UNSTRUCTURED, 80, 80 * nodes) == 80 * expected


@given(st.integers(4, 10**9), st.integers(1, 3))
def test_parts_are_near_square_and_never_without_cells(nodes: int, dimensions: int) -> None:
    form = MeshForm(MeshType.UNSTRUCTURED, dimensions, [(1, Centring.ZONE, ValueType.FLOAT64)])
    shape = shape_of(form, nodes)
    used = shape.dims[:dimensions]
    assert shape.nodes == max(nodes, 2**dimensions)  # any size is hit
    assert min(used) >= 2
    assert shape.cells >= 1
    if nodes >= 1000:
        assert max(used) <= 1.5 * min(used) + 1
    structured = shape_of(MeshForm(MeshType.CURVILINEAR, dimensions, []), nodes)
    assert structured.nodes == structured.dims[0] * structured.dims[1] * structured.dims[2]


@pytest.mark.parametrize("nodes", [10_007, 75_100 // 8, 1_000_003])
def test_rounding_of_structured_parts_is_about_half_a_row(nodes: int) -> None:
    rounded = shape_of(MeshForm(MeshType.CURVILINEAR, 2, []), nodes).nodes
    assert abs(rounded - nodes) / nodes <= 0.5 / nodes**0.5 + 1e-12


@given(st.integers(1, 2000), st.integers(100_000, 10**12), st.integers(1, 3))
def test_nodes_for_hits_the_size_by_less_than_a_node(parts: int, size: int, dimensions: int) -> None:
    form = MeshForm(MeshType.UNSTRUCTURED, dimensions, Mesh(variables=43).runs())
    found = mesh_bytes(form, parts, nodes_for(form, parts, size))
    least = mesh_bytes(form, parts, parts * 2**dimensions)
    # A node has at most 20 + 160 bytes of its own and so many cells (one in each direction of its row).
    assert found == least or abs(found - size) <= 4 * (180 + 2**dimensions * 4 + 4 + 164)


@pytest.mark.parametrize(
    ("mesh", "family", "word"),
    [
        ({}, {}, "part_size"),
        ({"part_size": "1 MiB", "part_dims": [9, 9]}, {}, "not both"),
        ({"part_dims": [9, 9]}, {"sizes": "1 MiB"}, "contradict"),
        ({"part_dims": [9]}, {}, "one per dimension"),
        ({"part_size": 8}, {}, "32 B"),
        ({"part_size": "2 PiB"}, {}, "1 PiB"),
        ({"part_size": "1 MiB", "variables": []}, {}, "at least one variable"),
        ({"part_size": "1 MiB", "variables": 0}, {}, "greater than or equal"),
        ({"part_size": "1 MiB", "parts": 0}, {}, "greater than 0"),
        ({"part_size": "1 MiB", "mixed": 0.5}, {}, "materials"),
        ({"part_size": "1 MiB", "globals": 2}, {}, "typhonio"),
        (
            {"part_size": "1 MiB", "variables": [{"centring": "edge"}]},
            {"interface": "typhonio"},
            "zones or nodes",
        ),
        ({"part_size": "1 MiB"}, {"interface": "pnetcdf"}, "typhonio"),
        ({"part_size": "1 MiB"}, {"growth": [2.0]}, "one factor"),
        ({"part_size": "1 MiB"}, {"sharing": {"mode": "groups", "files": 2, "turns": "baton"}}, "collective"),
    ],
)
def test_refused(mesh: dict[str, Any], family: dict[str, Any], word: str) -> None:
    with pytest.raises(ValidationError) as error:
        workload(mesh, **family)
    assert word in str(error.value)


def test_growth_multiplies_the_part_size() -> None:
    family = workload({"part_size": "1 MiB"}, growth=[2.0, 0.5]).families[0]
    assert family.factors() == [1.0, 2.0, 1.0]


@st.composite
def forms(draw: Any) -> MeshForm:
    dimensions = draw(st.integers(1, 3))
    kinds = st.tuples(st.integers(1, 50), st.sampled_from(Centring), st.sampled_from(ValueType))
    dims = st.none() | st.lists(st.integers(2, 300), min_size=dimensions, max_size=dimensions)
    return MeshForm(
        type=draw(st.sampled_from(MeshType)),
        dimensions=dimensions,
        variables=draw(st.lists(kinds, max_size=4)),
        part_dims=draw(dims),
        shared_nodes=draw(st.booleans()),
        wide_ids=draw(st.booleans()),
        materials=draw(st.sampled_from([0, 0, 1, 7])),
        mixed=draw(st.sampled_from([0.0, 0.1, 1.0])),
        ghost=draw(st.sampled_from([0, 0, 1, 3])),
        geometry=draw(st.booleans()),
    )


@given(forms(), st.integers(1, 500), st.integers(0, 10**8))
def test_core_divides_a_mesh_up_as_the_closed_form_says(form: MeshForm, parts: int, nodes: int) -> None:
    assert mesh_bytes(form, parts, nodes) == mesh_reference.mesh_bytes(form, parts, nodes)
    shape, expected = shape_of(form, nodes), mesh_reference.shape_of(form, nodes)
    assert (shape.nodes, shape.cells, shape.dims) == (expected.nodes, expected.cells, expected.dims)


@given(st.integers(1, 500), st.integers(0, 10**10), st.integers(1, 3))
def test_core_finds_the_nodes_that_the_closed_form_finds(parts: int, size: int, dimensions: int) -> None:
    form = MeshForm(MeshType.UNSTRUCTURED, dimensions, Mesh(variables=43).runs())
    assert nodes_for(form, parts, size) == mesh_reference.nodes_for(form, parts, size)


def test_a_mesh_beyond_all_limits_has_a_size_that_every_limit_refuses() -> None:
    assert mesh_bytes(UNSTRUCTURED, 1, 2**60) == TOO_LARGE
    assert mesh_bytes(UNSTRUCTURED, 1, 2**70) == TOO_LARGE
    assert mesh_bytes(UNSTRUCTURED, 2**40, 2**40) == TOO_LARGE
