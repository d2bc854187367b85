"""The material of a mesh: pure and mixed cells (docs/reference/typhonio-format.md#material)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workalike.typhonio import format_names
from workalike.typhonio.chunks import Chunks
from workalike.typhonio.fields import Context, Object, array, exact_table, whole_numbers
from workalike.typhonio.format_names import Centring, MeshType
from workalike.typhonio.hdf5 import Data, Unreadable
from workalike.typhonio.node import Node
from workalike.typhonio.quant import ghosts_fit

MOST_MATERIALS = 10**6
FRACTION_ERROR = 1e-3


def read_material(
    material: Object, name: str, mesh: dict[str, int], chunks: Chunks | None, context: Context
) -> tuple[Node, dict[str, int]]:
    """The material and its numeric attributes; `mesh` has the numeric attributes of its mesh."""
    values = whole_numbers(material, format_names.MATERIAL_NUMBERS, context)
    mixed = bool(values.get("mixedflag", 0))
    node = Node("material", name)
    node.facts = {
        "type": format_names.datatype(values.get("datatype", -2)),
        "materials": values.get("nmat", 0),
        "mixed": mixed,
        "ghosts": format_names.ghosts(values.get("nghosts", 0)),
    }
    _check_types(material, values, mixed, context)
    numbers = _check_names(material, values.get("nmat"), node, context)
    ghosts = values.get("nghosts", 0)
    if mesh.get("matghosts", ghosts) != ghosts:
        what = f"the mesh says matghosts {format_names.ghosts(mesh['matghosts'])}, its material {format_names.ghosts(ghosts)}"
        context.findings.warning(material.attribute_at("nghosts"), what, "write the same in both")
    if chunks is not None and ghosts_fit(material, ghosts, chunks, context):
        _check_data(material, chunks, ghosts, mixed, numbers, node, context)
    return node, values


def _check_types(material: Object, values: dict[str, int], mixed: bool, context: Context) -> None:
    names = ("datatype", "ncomp_datatype", "ptr_datatype") if mixed else ("datatype",)
    for name in names:
        if name in values and values[name] not in format_names.INTEGERS:
            what = f"{format_names.datatype(values[name])} is not an integer type"
            context.findings.error(material.attribute_at(name), what, "use 2 for int")
    if mixed and "vf_datatype" in values and values["vf_datatype"] not in format_names.FLOATS:
        what = f"{format_names.datatype(values['vf_datatype'])} is not a type of fractions"
        context.findings.error(material.attribute_at("vf_datatype"), what, "use 9 for double")


def _check_names(material: Object, nmat: int | None, node: Node, context: Context) -> set[int] | None:
    """The numbers of the materials; None if their two tables do not have `nmat` elements."""
    if nmat is None:
        return None
    if not 0 <= nmat <= MOST_MATERIALS:
        context.findings.error(material.attribute_at("nmat"), f"{nmat:,} materials", "write their number")
        return None
    names = exact_table(material, "TIO_MATERIAL_NAMES", nmat, context)
    nums = exact_table(material, "TIO_MATERIAL_NUMS", nmat, context)
    try:
        if names is not None:
            if names.kind.word != "string" or names.kind.fault:
                what = f"holds {names.kind.fault or names.kind.text()}: the library reads garbage"
                hint = "write strings of fixed length, ASCII"
                context.findings.error(material.at("TIO_MATERIAL_NAMES"), what, hint)
            else:
                node.facts["names"] = ", ".join(names.strings()[:8]) + (", ..." if nmat > 8 else "")
        if nums is not None:
            return {int(n) for n in nums.numbers()}
    except Unreadable as error:
        context.findings.error(material.path, str(error), "write its tables again")
    return None


def _check_data(
    material: Object,
    chunks: Chunks,
    ghosts: int,
    mixed: bool,
    numbers: set[int] | None,
    node: Node,
    context: Context,
) -> None:
    centring = Centring.NODE if chunks.type is MeshType.POINT else Centring.CELL
    pure = chunks.values(centring, ghosts)
    parts, cells = chunks.mixed_parts, chunks.mixed_cells
    length = int(pure.sum())
    total = length + (int(parts.sum()) if mixed else 0)
    data = array(material, format_names.DATA, total, context)
    if data is not None:
        node.facts["values"] = data.length
        _check_cells(material, data, pure, cells if mixed else cells * 0, numbers, context)
    if not mixed:
        return
    count = array(material, "TIO_NCOMP", int(cells.sum()), context)
    first = array(material, "TIO_PTR", int(cells.sum()), context)
    fraction = array(material, "TIO_VOLFRAC", int(parts.sum()), context)
    if count is not None and first is not None:
        _check_parts(material, chunks, count, first, fraction, context)


def _check_cells(
    material: Object,
    data: Data,
    pure: NDArray[Any],
    cells: NDArray[Any],
    numbers: set[int] | None,
    context: Context,
) -> None:
    """Check cells: each has the number of a material, or minus the index, from 1, of a mixed cell of its chunk."""
    place = material.at(format_names.DATA)
    ends, most = np.cumsum(pure).astype(np.int64), cells.astype(np.int64)
    length, strange = int(ends[-1]), set[int]()
    try:
        for begin, values in data.blocks(context.budget, data.length):
            at = np.arange(begin, begin + len(values))
            whole = values.astype(np.int64)
            in_cells = at < length
            chunk = np.minimum(np.searchsorted(ends, at, side="right"), len(ends) - 1)
            wrong = np.flatnonzero((whole < 0) & (~in_cells | (-whole > most[chunk])))
            if len(wrong):
                i = wrong[0]
                what = f"{whole[i]} at {begin + i} points at no mixed cell (chunk {chunk[i]} has {most[chunk[i]]})"
                context.findings.error(
                    place, what, "write minus the place of the mixed cell in its chunk, from 1"
                )
                return
            if len(strange) < 100:
                strange |= {int(v) for v in np.unique(whole[whole >= 0])} - (numbers or set())
    except Unreadable as error:
        context.findings.error(place, str(error), "the material was not checked to its end")
        return
    if numbers is not None and strange:
        what = f"{sorted(strange)[0]} is the number of no material"
        context.findings.warning(place, what, "list all materials in TIO_MATERIAL_NUMS")


def _check_parts(
    material: Object, chunks: Chunks, count: Data, first: Data, fraction: Data | None, context: Context
) -> None:
    """Check that PTR and NCOMP stay within the chunk's components, and that the fractions of a cell add up to 1."""
    place = material.at("TIO_PTR")
    cells = chunks.mixed_cells.astype(np.int64)
    ends = np.cumsum(chunks.mixed_parts).astype(np.int64)
    starts = ends - chunks.mixed_parts.astype(np.int64)
    try:
        counts, firsts = count.numbers().reshape(-1), first.numbers().reshape(-1)
        shares = fraction.numbers().reshape(-1) if fraction is not None else np.zeros(0)
    except Unreadable as error:
        context.findings.error(place, str(error), "the mixed cells were not checked")
        return
    n = int(cells.sum())
    if len(counts) != n or len(firsts) != n:
        return  # a wrong extent, which is a finding already
    chunk = np.repeat(np.arange(len(cells)), cells)
    counts, firsts = counts.astype(np.int64), firsts.astype(np.int64)
    room = (ends - starts)[chunk]
    # No sum is compared, because the sum of two hostile numbers may overflow.
    wrong = np.flatnonzero((firsts < 1) | (counts < 1) | (counts > room) | (firsts > room - counts + 1))
    if len(wrong):
        i = wrong[0]
        what = f"mixed cell {i} has components {firsts[i]} to {firsts[i] + counts[i] - 1} of {room[i]} in chunk {chunk[i]}"
        context.findings.error(place, what, "write the place of its first component in its chunk, from 1")
        return
    if n == 0 or len(shares) < int(ends[-1]):
        return
    finite = np.nan_to_num(shares[: int(ends[-1])], posinf=0.0, neginf=0.0)
    sums = np.concatenate(([0.0], np.cumsum(finite, dtype=np.float64)))
    begin = starts[chunk] + firsts - 1
    odd = np.flatnonzero(~(np.abs(sums[begin + counts] - sums[begin] - 1.0) <= FRACTION_ERROR))
    if len(odd):
        what = f"the fractions of {len(odd):,} mixed cells do not add up to 1 (the first is {odd[0]})"
        context.findings.note(
            material.at("TIO_VOLFRAC"), what, "that is allowed, and the library does not check it"
        )
