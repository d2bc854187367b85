"""The variables of an object: tables in its group, and values in caches or in datasets of their own.

See docs/reference/typhonio-format.md#variables.
"""

from __future__ import annotations

import math
from typing import TypeVar

from workalike.typhonio import format_names
from workalike.typhonio.fields import WRITE_ASCII, Context, Object, names_in, open_data, string_table, table
from workalike.typhonio.hdf5 import Unreadable
from workalike.typhonio.node import Node

T = TypeVar("T")


def read_variables(parent: Object, context: Context) -> list[Node]:
    """All variables that the parent's tables list."""
    if not parent.group.has(format_names.VARIABLE_REF):
        left = next((name for name in format_names.VARIABLE_INFO if parent.group.has(name)), None)
        if left is not None:
            what = f"there are variables, but no {format_names.VARIABLE_REF}: the library finds none"
            context.findings.error(parent.at(left), what, "write the table of their names")
        return []
    names = names_in(parent, format_names.VARIABLE_REF, context)
    units_name, types_name, index_name = format_names.VARIABLE_INFO
    units = _string_column(parent, units_name, len(names), context)
    types = _column(parent, types_name, len(names), context)
    index = _column(parent, index_name, len(names), context)
    nodes = []
    used: dict[tuple[int, int], str] = {}
    for i, name in enumerate(names):
        if name is None:
            continue
        context.leaves += 1
        node = Node("variable", name, {"units": units[i] if units else ""})
        if types is not None and index is not None:
            _read_variable(parent, node, types[i], index[i], used, context)
        nodes.append(node)
    return nodes


def _missing(parent: Object, name: str, context: Context) -> None:
    what = "is missing: the library crashes or returns garbage"
    context.findings.error(parent.at(name), what, "write all tables of the variables")


def _string_column(parent: Object, name: str, length: int, context: Context) -> list[str] | None:
    if not parent.group.has(name):
        _missing(parent, name, context)
        return None
    return _long_enough(parent, name, string_table(parent, name, context), length, context)


def _column(parent: Object, name: str, length: int, context: Context) -> list[int] | None:
    if not parent.group.has(name):
        _missing(parent, name, context)
        return None
    data = table(parent, name, context)
    if data is None:
        return None
    try:
        if data.kind.word != "integer":
            raise Unreadable(f"holds {data.kind.text()}, not integers")
        values = [int(v) for v in data.numbers()]
    except Unreadable as error:
        context.findings.error(parent.at(name), str(error), "write the table again")
        return None
    return _long_enough(parent, name, values, length, context)


def _long_enough(
    parent: Object, name: str, column: list[T] | None, length: int, context: Context
) -> list[T] | None:
    if column is not None and len(column) != length:
        what = f"has {len(column)} elements for {length} variables"
        context.findings.error(parent.at(name), what, "write one element for each variable")
        return None
    return column


def _read_variable(
    parent: Object,
    node: Node,
    coded: int,
    slot: int,
    used: dict[tuple[int, int], str],
    context: Context,
) -> None:
    """Read a variable; its type is 1000 x dimensions + code, and slots in a cache count from 1."""
    ndims, code = divmod(coded, 1000)
    place = parent.at(node.name)
    if coded < 0 or code not in format_names.DATATYPES or ndims > format_names.MAX_RANK:
        what = f"its type is {coded}, which is not 1000 x dimensions + type"
        context.findings.error(place, what, f"write it so in {format_names.VARIABLE_INFO[1]}")
        return
    node.facts |= {"type": format_names.datatype(code), "dimensions": ndims}
    if ndims or code == format_names.STRING:
        if slot:
            what = f"has a dataset of its own, but slot {slot} of a cache"
            context.findings.error(place, what, f"write 0 in {format_names.VARIABLE_INFO[2]}")
        _read_own(parent, node, ndims, code, context)
    elif code not in format_names.CACHED:
        what = f"a variable of type {format_names.datatype(code)} without dimensions: the library crashes"
        context.findings.error(place, what, "use another type, or one dimension")
    else:
        _read_cached(parent, node, code, slot, used, context)


def _read_own(parent: Object, node: Node, ndims: int, code: int, context: Context) -> None:
    place = parent.at(node.name)
    if not parent.group.has(node.name):
        context.findings.error(place, "its dataset is missing", "write it: it cannot be read")
        return
    data = open_data(parent, node.name, context)
    if data is None:
        return
    node.facts |= {"extents": list(reversed(data.shape)), "stored": data.kind.text()}
    if len(data.shape) != ndims:
        what = f"has {len(data.shape)} dimensions, its type says {ndims}"
        context.findings.error(place, what, f"make {format_names.VARIABLE_INFO[1]} and the dataset agree")
    if code == format_names.STRING and (data.kind.word != "string" or data.kind.fault):
        what = f"holds {data.kind.fault or data.kind.text()}, not strings of fixed length"
        context.findings.error(place, what, WRITE_ASCII)
    elif code != format_names.STRING and not data.kind.numeric:
        context.findings.error(place, f"holds {data.kind.text()}, not numbers", "write numbers")


def _read_cached(
    parent: Object, node: Node, code: int, slot: int, used: dict[tuple[int, int], str], context: Context
) -> None:
    place, name = parent.at(node.name), format_names.CACHE_PREFIX + format_names.datatype(code).upper()
    if not parent.group.has(name):
        context.findings.error(place, f"its value should be in {name}, which is missing", "write the cache")
        return
    data = table(parent, name, context)
    if data is None:
        return
    if not 1 <= slot <= data.length:
        what = f"its value is slot {slot} of {name}, which has {data.length}"
        context.findings.error(place, what, "count slots from 1, and extend the cache")
        return
    if (code, slot) in used:
        what = f"shares slot {slot} of {name} with {used[code, slot]!r}"
        context.findings.error(place, what, "give each variable a slot of its own")
    used[code, slot] = node.name
    try:
        value = data.numbers()[slot - 1].item()
        node.facts["value"] = value if math.isfinite(value) else str(value)
    except Unreadable as error:
        context.findings.error(parent.at(name), str(error), "write the cache again")
