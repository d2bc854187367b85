"""`workalike import minio`: converts MINIO's YAML input into a workload (docs/reference/minio-model.md#input)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NoReturn

from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.notes import Imported, Notes
from workalike.workload.mesh import MeshType
from workalike.workload.mesh_size import MeshForm, shape_of
from workalike.workload.workload_file import line_of, load_yaml

MESHES = {"quad": "rectilinear", "unstructured": "unstructured", "point": "point"}
WORDS: dict[str, tuple[str, ...]] = {
    "io_method": ("typhonio", "hdf5"),
    "mesh": tuple(MESHES),
    "io_mode": ("write", "read"),
}
LIMITS = {
    "processors": (1, 2**24),
    "real": (1, 2**40),
    "mixed": (0, 2**40),
    "ghost": (0, 15),
    "quantities": (0, 10_000),
    "variables": (0, 10_000),
    "steps": (1, 100_000),
    "compute_level": (1, 3),
    "compute_length": (1, 5),
}
DEFAULTS = {"mixed": 0, "ghost": 0, "quantities": 1, "variables": 0, "io_mode": "write", "steps": 1}
NEEDED = ("io_method", "mesh", "processors", "real")
MOST_MATERIALS = 65_536
VARIABLES_EACH = 4  # scalars and vectors, of integers and of reals
SLAB = 100  # elements of a quad chunk's slab of 10 x 10 x 1


def read_minio(path: str | Path, text: str, ranks: int | None) -> Imported:
    """A workload of one family: `steps` dumps or loads of a 3-D mesh, with computing between them.

    Raises:
        WorkalikeError: USAGE naming the line and the key, with a hint.
    """
    values = _values(Path(path), text)
    notes = Notes()
    if values["quantities"] < 1:
        notes.lost("MINIO without quantities writes the mesh only; one quantity is added")
        values["quantities"] = 1
    family: dict[str, Any] = {
        "role": "restart" if values["io_mode"] == "read" else "checkpoint",
        "interface": values["io_method"],
        "sharing": "shared",
        "lifetime": "per-dump",
        "schedule": {"count": values["steps"], "first": "0 s", "every": "0 s"},
        "content": {"mesh": _mesh(values, notes)},
    }
    document: dict[str, Any] = {"workalike": 2, "ranks": ranks or values["processors"]}
    if "compute_level" in values or "compute_length" in values:
        level, length = values.get("compute_level", 1), values.get("compute_length", 1)
        document["compute"] = {"level": level, "length": length}
    return Imported(document | {"families": [family]}, notes)


def _mesh(values: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """A part of `real` cells (on a point mesh: points), laid out as in IOBench, with a material."""
    kind, real = values["mesh"], values["real"]
    mesh: dict[str, Any] = {"type": MESHES[kind], "dimensions": 3}
    if kind == "quad":
        if real % SLAB:
            notes.say(f"real is rounded up to a multiple of {SLAB}")
        mesh |= {"part_dims": [-(-real // SLAB) + 1, 11, 11], "shared_nodes": True}
    else:
        nodes = real if kind == "point" else _nodes_of_cells(real, notes)
        mesh["part_size"] = f"{8 * max(nodes, 8)} B"
    centring = "node" if kind == "point" else "zone"
    mesh["variables"] = [{"count": values["quantities"], "centring": centring, "type": "float64"}]
    mesh["materials"] = min(values["processors"], MOST_MATERIALS)
    if values["mixed"] and kind == "point":
        notes.lost("a point mesh has no mixed elements; they are left out")
    elif values["mixed"]:
        mesh["mixed"] = round(values["mixed"] / real, 9)
    if values["ghost"]:
        mesh["ghost"] = values["ghost"]
    if values["variables"] and values["io_method"] == "typhonio":
        mesh["globals"] = VARIABLES_EACH * values["variables"]
    elif values["variables"]:
        notes.lost("only TyphonIO has variables beside the mesh; with hdf5 they are left out")
    if values["io_mode"] == "read":
        mesh["direction"] = "read"
    return mesh


def _nodes_of_cells(real: int, notes: Notes) -> int:
    """Nodes of a near-cubic part of `real` cells; a note says so if no such part has exactly that many."""
    form = MeshForm(MeshType.UNSTRUCTURED, 3, ())
    nodes = round((math.cbrt(real) + 1) ** 3)
    tried: dict[int, int] = {}
    while nodes not in tried:
        tried[nodes] = shape_of(form, nodes).cells
        nodes = max(8, nodes + real - tried[nodes])
    nodes = min(tried, key=lambda n: abs(tried[n] - real))
    if tried[nodes] != real:
        notes.say(f"a part has {tried[nodes]} cells, because no near-cubic part has {real}")
    return nodes


def _values(path: Path, text: str) -> dict[str, Any]:
    node, document = load_yaml(text, path, hint="see docs/exchange.md")

    def refuse(key: str, message: str, hint: str) -> NoReturn:
        place = f"line {line_of(node, (key,))}, {key}" if key else f"line {line_of(node, ())}"
        raise WorkalikeError(ErrorKind.USAGE, message, file=path, place=place, hint=hint)

    if not isinstance(document, dict):
        refuse("", "is not a MINIO input", "give `key: value` lines")
    known = [*WORDS, *LIMITS]
    for key, value in document.items():
        key = str(key)
        if key not in known:
            refuse(key, "is not a key of MINIO", f"use {', '.join(known)}")
        if key in WORDS and value not in WORDS[key]:
            refuse(key, f"{str(value)[:40]!r} is unknown", f"use one of {', '.join(WORDS[key])}")
        if key in LIMITS:
            low, high = LIMITS[key]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                refuse(key, f"{str(value)[:40]} is not a whole number from {low} to {high}", "give one")
    for key in NEEDED:
        if key not in document:
            refuse("", f"{key} is missing", f"give {', '.join(NEEDED)}")
    values: dict[str, Any] = {**DEFAULTS, **document}
    if values["mixed"] > values["real"]:
        refuse(
            "mixed",
            f"{values['mixed']} mixed elements of {values['real']}",
            f"give at most {values['real']}",
        )
    return values
