"""A quant: a field on a mesh (docs/reference/typhonio-format.md#quant)."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.typhonio import format_names
from workalike.typhonio.chunks import Chunks
from workalike.typhonio.fields import Context, Object, array, numbers, texts
from workalike.typhonio.format_names import ALL_GHOSTS, Centring, MeshType
from workalike.typhonio.node import Node


@dataclass(frozen=True)
class Under:
    """The mesh of a quant: its chunks, and what its material allows."""

    chunks: Chunks | None
    mixed_material: bool
    material_ghosts: int


def read_quant(quant: Object, name: str, under: Under, context: Context) -> Node:
    """The quant; the length of its data is checked against centring, ghosts and mixed parts."""
    raw = numbers(quant, format_names.QUANT_NUMBERS, context)
    units = texts(quant, ("units",), context).get("units", "")
    values = {key: int(v) for key, v in raw.items() if key not in ("qmin", "qmax") and v == v}
    code, centring = values.get("datatype"), values.get("centring")
    ghosts, mixed = values.get("nghosts", 0), bool(values.get("mixedflag", 0))
    node = Node("quant", name)
    node.facts = {
        "type": format_names.datatype(code) if code is not None else "unknown",
        "centring": format_names.CENTRINGS.get(centring if centring is not None else -1, "unknown"),
        "ghosts": format_names.ghosts(ghosts),
        "mixed": mixed,
        "units": units,
    }
    low, high = raw.get("qmin"), raw.get("qmax")
    if low is not None and high is not None:
        node.facts["range"] = [low, high] if low <= high else None  # the library's default is 999 to 666
    if code is not None and code not in format_names.NUMBERS:
        what = f"{code} is not a type of numbers: the object opens without a type"
        context.findings.error(quant.attribute_at("datatype"), what, "use 9 for double, 2 for int")
    if centring is not None and under.chunks is not None and _fits(quant, values, under, context):
        _check_data(quant, centring, ghosts, mixed, under.chunks, node, context)
    return node


def _fits(quant: Object, values: dict[str, int], under: Under, context: Context) -> bool:
    """Whether the mesh can carry a quant of this centring, ghosts and mixing."""
    chunks, centring = under.chunks, values["centring"]
    assert chunks is not None
    allowed = {
        MeshType.UNSTRUCTURED: (Centring.CELL, Centring.NODE),
        MeshType.POINT: (Centring.NODE,),
    }.get(chunks.type, tuple(format_names.CENTRINGS))
    if centring not in allowed:
        known = format_names.CENTRINGS.get(centring, str(centring))
        what = f"a mesh of type {format_names.MESH_TYPES[chunks.type]} has no centring {known}"
        hint = f"use {', '.join(format_names.CENTRINGS[int(c)] for c in allowed)}"
        context.findings.error(quant.attribute_at("centring"), what, hint)
        return False
    if not ghosts_fit(quant, values.get("nghosts", 0), chunks, context):
        return False
    if values.get("mixedflag", 0):
        if centring != Centring.CELL:
            what = "only cell-centred values are mixed"
            context.findings.error(quant.attribute_at("mixedflag"), what, "write 0, or centre it on cells")
            return False
        if not under.mixed_material:
            what = "mixed values need a mixed material on the mesh"
            context.findings.error(quant.attribute_at("mixedflag"), what, "write the material too")
        elif chunks.quad and values.get("nghosts", 0) > under.material_ghosts:
            what = "has more ghosts than the material"
            context.findings.error(
                quant.attribute_at("nghosts"), what, "give it at most those of the material"
            )
    return True


def ghosts_fit(found: Object, ghosts: int, chunks: Chunks, context: Context) -> bool:
    """Whether a mesh can have these layers of ghosts; if it has its own ghosts, only none or all."""
    place = found.attribute_at("nghosts")
    if not chunks.quad:
        if ghosts in (format_names.NO_GHOSTS, ALL_GHOSTS):
            return True
        context.findings.error(place, f"{ghosts} ghosts", f"use 0 or {ALL_GHOSTS} (all of the mesh's)")
        return False
    if not 0 <= ghosts < 2**20:
        context.findings.error(
            place, f"{format_names.ghosts(ghosts)} is not a number of layers", "write a number"
        )
        return False
    if chunks.type is MeshType.NON_COLINEAR and ghosts > chunks.layers:
        what = f"{ghosts} layers of ghosts, the mesh has {chunks.layers}"
        context.findings.error(place, what, "give it at most those of the mesh")
    return True


def _check_data(
    quant: Object, centring: int, ghosts: int, mixed: bool, chunks: Chunks, node: Node, context: Context
) -> None:
    total = chunks.total(centring, ghosts) + (int(chunks.mixed_parts.sum()) if mixed else 0)
    data = array(quant, format_names.DATA, total, context)
    if data is not None:
        node.facts |= {"values": data.length, "stored": data.kind.text()}
    partly = (
        chunks.type is MeshType.UNSTRUCTURED
        and centring == Centring.NODE
        and ghosts == format_names.NO_GHOSTS
    )
    if partly and int(chunks.word("ghost_nodes").sum()):
        what = "has no ghosts, its mesh has: whole-mesh reads return values at wrong nodes"
        context.findings.warning(quant.path, what, "read it chunk by chunk, or write its ghosts")
    if total == 0:
        what = "no chunk has a value of this centring"
        context.findings.note(quant.path, what, "give each part two nodes along each dimension")
