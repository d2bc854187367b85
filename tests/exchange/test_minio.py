"""MINIO's inputs: import, and refusals that name the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workalike.errors import WorkalikeError
from workalike.exchange.document import text_of, workload_of
from workalike.exchange.minio import read_minio
from workalike.exchange.notes import Imported
from workalike.plan.resolve import Options, resolve
from workalike.workload.mesh import MeshType
from workalike.workload.mesh_size import MeshForm, shape_of
from workalike.workload.workload_file import parse_workload

SHIPPED = Path(__file__).parents[2] / "workloads/minio"

INPUT = """\
io_method: typhonio
mesh: quad
processors: 16
real: 1000
mixed: 200
ghost: 0
quantities: 3
variables: 2
io_mode: write
steps: 5
"""


def read(text: str, ranks: int | None = None) -> Imported:
    return read_minio("input.yaml", text, ranks)


def mesh(text: str) -> dict[str, Any]:
    found: dict[str, Any] = read(text).document["families"][0]["content"]["mesh"]
    return found


def test_a_quad_mesh() -> None:
    """As IOBench: (n / 100 + 1) x 11 x 11 nodes per rank, planes shared, cell-centred doubles, a material."""
    imported = read(INPUT)
    assert not imported.notes.all
    family = imported.document["families"][0]
    assert imported.document["ranks"] == 16
    assert (family["role"], family["interface"], family["schedule"]["count"]) == ("checkpoint", "typhonio", 5)
    assert family["content"]["mesh"] == {
        "type": "rectilinear",
        "dimensions": 3,
        "part_dims": [11, 11, 11],
        "shared_nodes": True,
        "variables": [{"count": 3, "centring": "zone", "type": "float64"}],
        "materials": 16,
        "mixed": 0.2,
        "globals": 8,
    }
    assert read(INPUT, 4).document["ranks"] == 4


def test_other_meshes_and_reading() -> None:
    text = (
        INPUT.replace("quad", "unstructured")
        .replace("ghost: 0", "ghost: 2")
        .replace("io_mode: write", "io_mode: read")
    )
    assert mesh(text)["part_size"] == f"{8 * 11**3} B"  # 1000 cells
    assert (mesh(text)["ghost"], mesh(text)["direction"]) == (2, "read")
    assert read(text).document["families"][0]["role"] == "restart"
    point = read(INPUT.replace("quad", "point"))
    assert point.document["families"][0]["content"]["mesh"]["variables"][0]["centring"] == "node"
    assert any("no mixed elements" in note.text for note in point.notes.all)
    plain = read(INPUT.replace("typhonio", "hdf5"))
    assert any("only TyphonIO has variables" in note.text for note in plain.notes.all if note.essential)


@pytest.mark.parametrize("kind", ["quad", "unstructured", "point"])
@pytest.mark.parametrize("mode", ["write", "read"])
def test_it_is_a_workload(kind: str, mode: str) -> None:
    text = INPUT.replace("quad", kind).replace("io_mode: write", f"io_mode: {mode}")
    workload = workload_of(read(text))
    assert workload.families[0].schedule.dumps == 5


@pytest.mark.parametrize(
    ("keys", "level", "units"),
    [
        ("compute_level: 3\ncompute_length: 5\n", 3, 16),
        ("compute_level: 2\n", 2, 1),
        ("compute_length: 2\n", 1, 2),
    ],
)
def test_computing_between_steps(keys: str, level: int, units: int) -> None:
    workload = workload_of(read(INPUT + keys))
    assert not read(INPUT + keys).notes.all
    plan = resolve(workload, Options())
    assert plan.compute is not None
    assert (plan.compute.level, plan.compute.units) == (level, units)
    assert parse_workload(text_of(read(INPUT + keys), "MINIO")) == workload
    assert resolve(workload_of(read(INPUT)), Options()).compute is None


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        ("mesh: quad", "mesh: hexagon", "line 2, mesh", "'hexagon' is unknown"),
        ("io_method: typhonio", "io_method: silo", "line 1, io_method", "'silo' is unknown"),
        ("processors: 16", "processors: 0", "line 3, processors", "0 is not a whole number from 1 to"),
        ("real: 1000", "real: lots", "line 4, real", "lots is not a whole number"),
        ("real: 1000", "real: 1.5", "line 4, real", "1.5 is not a whole number"),
        ("mixed: 200", "mixed: 2000", "line 5, mixed", "2000 mixed elements of 1000"),
        ("ghost: 0", "ghost: true", "line 6, ghost", "True is not a whole number"),
        ("steps: 5", "steps: 0", "line 10, steps", "0 is not a whole number"),
        ("steps: 5", "compute_level: 4", "line 10, compute_level", "4 is not a whole number from 1 to 3"),
        ("steps: 5", "compute_length: 6", "line 10, compute_length", "6 is not a whole number from 1 to 5"),
        ("steps: 5", "step: 5", "line 10, step", "is not a key of MINIO"),
        ("steps: 5", "mesh: quad", "line 10", "the key `mesh` occurs twice"),
        ("real: 1000\n", "", "line 1", "real is missing"),
        ("steps: 5", "steps: [5", "line", "not YAML"),
    ],
)
def test_refusals_name_the_line(old: str, new: str, place: str, what: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        read(INPUT.replace(old, new))
    assert (caught.value.place or "").startswith(place)
    assert what in caught.value.message
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.one_line()


def test_no_mapping() -> None:
    with pytest.raises(WorkalikeError, match="is not a MINIO input"):
        read("- 1\n")


@pytest.mark.parametrize("source", sorted(SHIPPED.glob("*.minio")), ids=lambda p: p.stem)
def test_shipped_workloads_are_what_their_inputs_say(source: Path) -> None:
    text = source.read_text()
    shipped = source.with_suffix(".yaml")
    assert shipped.read_text() == text_of(read(text), "an input of MINIO")
    assert workload_of(read(text)) == parse_workload(shipped.read_text())


@pytest.mark.parametrize("real", [1, 2, 7, 100, 1000, 9_999, 10_000, 123_457, 2**40])
def test_an_unstructured_part_has_as_many_cells_as_asked(real: int) -> None:
    imported = read(INPUT.replace("quad", "unstructured").replace("1000", str(real)).replace("200", "0"))
    assert not imported.notes.all
    part = workload_of(imported).families[0].content_of(0).mesh
    assert part is not None
    nodes = part.part_nodes()
    assert nodes is not None
    assert shape_of(MeshForm(MeshType.UNSTRUCTURED, 3, ()), nodes).cells == real


def test_there_are_shipped_workloads() -> None:
    assert len(list(SHIPPED.glob("*.yaml"))) == len(list(SHIPPED.glob("*.minio"))) == 6
