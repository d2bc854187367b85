"""Attributes, tables and arrays of an object, checked for what the library would do with them.

See docs/reference/typhonio-calls.md#what-the-reader-checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from workalike.typhonio.findings import Findings
from workalike.typhonio.format_names import MAX_NAME, PREFIX
from workalike.typhonio.hdf5 import Budget, Data, Group, Unreadable

WRITE_ASCII = "write strings of fixed length, ASCII, up to 63 characters and a NUL"
WRITE_ALL = "write every attribute of the object"
APPENDING = "that is fine for a final file; to append with the library, write it chunked and unlimited"


@dataclass
class Context:
    """The state of a walk."""

    size: int  # of the file, in bytes
    findings: Findings = field(default_factory=Findings)
    budget: Budget = field(default_factory=Budget)
    objects: int = 0
    fixed_tables: list[str] = field(default_factory=list)
    leaves: int = 0  # number of meshes and variables, from which a reader gets values


@dataclass(frozen=True)
class Object:
    """An open group with its path in the file."""

    group: Group
    path: str

    def at(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}"

    def attribute_at(self, name: str) -> str:
        return f"{self.path}, attribute {name}"


def texts(found: Object, names: Iterable[str], context: Context) -> dict[str, str]:
    """String attributes by name; one that is missing or does not convert is an error and left out."""
    values = {}
    for name in names:
        value = _attribute(found, name, context)
        if isinstance(value, str):
            values[name] = value
            if len(value) > MAX_NAME:
                context.findings.warning(
                    found.attribute_at(name), f"{len(value)} characters: the library cuts it", WRITE_ASCII
                )
        elif value is not None:
            context.findings.error(found.attribute_at(name), "is a number, not a string", WRITE_ASCII)
    return values


def numbers(found: Object, names: Iterable[str], context: Context) -> dict[str, int | float]:
    """Numeric attributes by name; one that is missing or does not convert is an error and left out."""
    values = {}
    for name in names:
        value = _attribute(found, name, context)
        if isinstance(value, str):
            context.findings.error(found.attribute_at(name), "is a string, not a number", WRITE_ALL)
        elif value is not None:
            values[name] = value
    return values


def whole_numbers(found: Object, names: Iterable[str], context: Context) -> dict[str, int]:
    """Numeric attributes by name, converted to whole numbers as the library does."""
    whole = {}
    for name, value in numbers(found, names, context).items():
        try:
            whole[name] = int(value)
        except (ValueError, OverflowError):
            context.findings.error(found.attribute_at(name), "is not a finite number", WRITE_ALL)
    return whole


def _attribute(found: Object, name: str, context: Context) -> str | int | float | None:
    if not found.group.has_attribute(name):
        hint = f"{WRITE_ALL}; a release-built library reads uninitialised memory instead"
        context.findings.error(found.attribute_at(name), "is missing", hint)
        return None
    try:
        attribute = found.group.attribute(name)
    except Unreadable as error:
        context.findings.error(found.attribute_at(name), str(error), "write the file again")
        return None
    if attribute.fault:
        hint = WRITE_ASCII if attribute.kind.word == "string" else WRITE_ALL
        context.findings.error(found.attribute_at(name), attribute.fault, hint)
    return attribute.value


def open_data(found: Object, name: str, context: Context) -> Data | None:
    """A readable dataset; None (and an error) if there is none."""
    try:
        data = found.group.data(name)
    except Unreadable as error:
        context.findings.error(found.at(name), str(error), "write it as a dataset of this file")
        return None
    if data.elsewhere:
        hint = "write its data into this file"
        context.findings.error(found.at(name), "its data are in another file, which is not opened", hint)
        return None
    if data.beyond(context.size):
        what = "its data are beyond the end of the file"
        context.findings.error(found.at(name), what, "the file is cut off: write or copy it again")
        return None
    return data


def table(found: Object, name: str, context: Context) -> Data | None:
    """A table, which is 1-D, and must be chunked and unlimited for appending; None if there is no usable one."""
    if not found.group.has(name):
        return None
    data = open_data(found, name, context)
    if data is None:
        return None
    if len(data.shape) != 1:
        what = f"has {len(data.shape)} dimensions: the library aborts or reads garbage"
        context.findings.error(found.at(name), what, "write tables with one dimension")
        return None
    if not data.extendible:
        context.fixed_tables.append(found.at(name))
    return data


def note_fixed_tables(context: Context) -> None:
    """Make one note for all tables that cannot grow."""
    tables = context.fixed_tables
    if tables:
        more = f", as are {len(tables) - 1} more tables" if len(tables) > 1 else ""
        what = f"is of fixed length{more}: what the library appends there would be lost"
        context.findings.note(tables[0], what, APPENDING)


def string_table(found: Object, name: str, context: Context) -> list[str] | None:
    """The strings of a table; None if there is no readable one."""
    data = table(found, name, context)
    if data is None:
        return None
    if data.kind.word != "string" or data.kind.fault:
        what = f"holds {'strings ' + data.kind.fault if data.kind.fault else data.kind.text()}: the library reads garbage"
        context.findings.error(found.at(name), what.replace("strings UTF-8", "UTF-8 strings"), WRITE_ASCII)
        return None
    try:
        return data.strings()
    except Unreadable as error:
        context.findings.error(found.at(name), str(error), "write the table again")
        return None


def names_in(found: Object, ref: str, context: Context) -> list[str | None]:
    """The names that a reference table lists; None in place of one that is invalid or a duplicate."""
    names = string_table(found, ref, context) or []
    good: list[str | None] = []
    known: set[str] = set()
    for index, name in enumerate(names):
        fault = name_fault(name)
        if fault is None and name in known:
            fault = "is listed twice"
        known.add(name)
        if fault is not None:
            place = f"{found.at(ref)}[{index}]"
            hint = (
                f"use 1 to {MAX_NAME} characters without `/`, do not begin with {PREFIX}, list each name once"
            )
            context.findings.error(place, f"the name {name!r} {fault}", hint)
        good.append(name if fault is None else None)
    return good


def name_fault(name: str) -> str | None:
    """The reason why the library refuses a name; None if it does not."""
    if not name:
        return "is empty"
    if len(name.encode("utf-8", "surrogateescape")) > MAX_NAME:
        return "is too long"
    if "/" in name:
        return "contains a `/`"
    if name.startswith(PREFIX):
        return f"begins with {PREFIX}"
    return None


def array(found: Object, name: str, length: int, context: Context, *, exact: bool = False) -> Data | None:
    """A 1-D numeric dataset, checked for `length` elements, which the library assumes without a check.

    From a dataset that is too short, the library returns other bytes of the file. One that is too long is harmless,
    unless `exact`, where the library writes past the caller's buffer.
    """
    if not found.group.has(name):
        if length:
            what = f"is missing; {length:,} values are expected"
            context.findings.error(found.at(name), what, "write it: reads of the object fail")
        return None
    data = open_data(found, name, context)
    if data is None:
        return None
    if not data.kind.numeric:
        context.findings.error(found.at(name), f"holds {data.kind.text()}, not numbers", "write numbers")
        return None
    if len(data.shape) != 1:
        what = f"has {len(data.shape)} dimensions, not one"
        context.findings.warning(found.at(name), what, "write arrays with one dimension")
    _compare(found.at(name), data.length, length, context, exact)
    if data.length and not data.written:
        context.findings.warning(found.at(name), "was never written", "write every chunk")
    return data


def _compare(place: str, length: int, expected: int, context: Context, exact: bool) -> None:
    what = f"has {length:,} elements, the chunks need {expected:,}"
    if exact:
        what = f"has {length:,} elements, the mesh says {expected:,}"
    if length < expected:
        hint = "make it as long as the chunks say: the library returns other bytes of the file"
        context.findings.error(place, what, hint)
    elif length > expected and exact:
        hint = "make it as long as the mesh says: the library writes past the caller's buffer"
        context.findings.error(place, what, hint)
    elif length > expected:
        context.findings.warning(place, what, "make it as long as the chunks say")


def exact_table(found: Object, name: str, length: int, context: Context) -> Data | None:
    """A small dataset, checked for exactly `length` elements: with others, the library overruns its memory."""
    if not found.group.has(name):
        context.findings.error(found.at(name), "is missing", f"write it, with {length:,} elements")
        return None
    data = open_data(found, name, context)
    if data is None:
        return None
    if len(data.shape) != 1 or data.length != length:
        what = f"has extents {list(data.shape)}, {length:,} elements are needed"
        context.findings.error(found.at(name), what, "the library overruns its memory or reads garbage")
        return None
    return data
