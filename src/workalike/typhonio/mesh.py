"""A mesh: its attributes, coordinates and chunks (docs/reference/typhonio-format.md#mesh)."""

from __future__ import annotations

from workalike.typhonio import format_names
from workalike.typhonio.chunks import Chunks, check_point, check_quad, check_unstructured, read_chunks
from workalike.typhonio.fields import Context, Object, array, open_data, texts, whole_numbers
from workalike.typhonio.format_names import MeshType
from workalike.typhonio.graph import check_graph
from workalike.typhonio.node import Node


def read_mesh(mesh: Object, name: str, context: Context) -> tuple[Node, Chunks | None, dict[str, int]]:
    """The mesh, its chunks if they are possible, and its numeric attributes."""
    values = whole_numbers(mesh, format_names.MESH_NUMBERS, context)
    labels = texts(mesh, format_names.MESH_TEXTS, context)
    node = Node("mesh", name)
    kind = _kind_of(mesh, values, context)
    if kind is None:
        return node, None, values
    sizes = whole_numbers(mesh, format_names.MESH_SIZES[kind], context)
    values |= sizes | whole_numbers(mesh, format_names.MESH_LAST, context)
    ndims = values.get("ndims", 0)
    node.facts = {
        "type": format_names.MESH_TYPES[kind],
        "dimensions": ndims,
        "coordinates": format_names.COORDINATES.get(values.get("coordtype", -1), "unknown"),
        "coordinate_type": format_names.datatype(values.get("coord_datatype", -2)),
        **sizes,
        "group": labels.get("group", ""),
    }
    if not _codes_hold(mesh, kind, values, context):
        return node, None, values
    layers = sizes.get("nghosts", 0) if kind is MeshType.NON_COLINEAR else 0
    chunks = read_chunks(mesh, kind, ndims, layers, context)
    if chunks is not None:
        node.facts["chunks"] = len(chunks)
        _check_sums(mesh, chunks, values, context)
        _check_arrays(mesh, chunks, sizes, context)
    _read_range(mesh, ndims, node, context)
    return node, chunks, values


def _kind_of(mesh: Object, values: dict[str, int], context: Context) -> MeshType | None:
    if "meshtype" not in values:
        return None
    try:
        return MeshType(values["meshtype"])
    except ValueError:
        place = mesh.attribute_at("meshtype")
        context.findings.error(place, f"{values['meshtype']} is not a mesh type", "use 1 to 4")
        return None


def _codes_hold(mesh: Object, kind: MeshType, values: dict[str, int], context: Context) -> bool:
    """Whether the numbers of the mesh determine its layout."""
    if "coord_datatype" in values and values["coord_datatype"] not in format_names.NUMBERS:
        what = f"{values['coord_datatype']} is not a type of numbers"
        context.findings.error(mesh.attribute_at("coord_datatype"), what, "use 9 for double, 8 for float")
    if "coordtype" in values and values["coordtype"] not in format_names.COORDINATES:
        what = f"{values['coordtype']} is not a type of coordinates"
        context.findings.error(mesh.attribute_at("coordtype"), what, "use 0 for Cartesian ones")
    graph = values.get("graph_datatype", 2)
    if kind is MeshType.UNSTRUCTURED and graph not in format_names.INTEGERS:
        what = f"{format_names.datatype(graph)} cannot number the nodes of an unstructured mesh"
        context.findings.error(mesh.attribute_at("graph_datatype"), what, "use an integer type")
    if "ndims" in values and not 1 <= values["ndims"] <= 3:
        what = f"{values['ndims']} dimensions"
        context.findings.error(mesh.attribute_at("ndims"), what, "use 1, 2 or 3")
    nghosts = values.get("nghosts", 0)
    if not 0 <= nghosts < 2**20:
        what = f"{format_names.ghosts(nghosts)} is not a number of ghost layers"
        context.findings.error(mesh.attribute_at("nghosts"), what, "write the layers around each chunk")
        return False
    return 1 <= values.get("ndims", 0) <= 3


def _check_sums(mesh: Object, chunks: Chunks, values: dict[str, int], context: Context) -> None:
    """Check nmixcell and nmixcomp, the sums over chunks, from which callers compute the sizes of their buffers."""
    for name, counts in (("nmixcell", chunks.mixed_cells), ("nmixcomp", chunks.mixed_parts)):
        total = int(counts.sum())
        if name in values and values[name] < total:
            what = f"{name} is {values[name]:,}, the chunks hold {total:,}: buffers of callers overflow"
            context.findings.error(mesh.attribute_at(name), what, "write the sum over the chunks")
        elif name in values and values[name] > total:
            what = f"{name} is {values[name]:,}, the chunks hold {total:,}"
            context.findings.warning(mesh.attribute_at(name), what, "write the sum over the chunks")


def _check_arrays(mesh: Object, chunks: Chunks, sizes: dict[str, int], context: Context) -> None:
    """Check coordinates and graph against the chunks."""
    axes = format_names.AXES[: chunks.ndims]
    lengths = [sizes.get(name, 0) for name in ("ni", "nj", "nk")]
    if chunks.type is MeshType.COLINEAR:
        for axis, length in zip(axes, lengths, strict=False):
            array(mesh, axis, length, context, exact=True)
    else:
        ghosts = chunks.layers if chunks.quad else format_names.ALL_GHOSTS
        total = chunks.total(format_names.Centring.NODE, ghosts)
        for axis in axes:
            array(mesh, axis, total, context)
    if chunks.quad and all(name in sizes for name in ("ni", "nj", "nk")):
        check_quad(mesh.at(format_names.CHUNKINFO), chunks, lengths, context)
    elif chunks.type is MeshType.POINT:
        check_point(mesh.path, chunks, sizes.get("nnodes"), context)
    elif chunks.type is MeshType.UNSTRUCTURED:
        check_unstructured(mesh.path, chunks, sizes, context)
        check_graph(mesh, chunks, sizes, context)


def _read_range(mesh: Object, ndims: int, node: Node, context: Context) -> None:
    if not mesh.group.has(format_names.RANGE):
        return
    data = open_data(mesh, format_names.RANGE, context)
    if data is not None and data.length != 2 * ndims:
        what = f"has {data.length} elements, a range of {ndims} dimensions has {2 * ndims}"
        context.findings.error(mesh.at(format_names.RANGE), what, "write low and high of each dimension")
    elif data is not None:
        node.facts["range"] = f"{data.length} values"
