"""Walks through a TyphonIO file along its tables, as the library does.

See docs/reference/typhonio-format.md#hierarchy.
"""

from __future__ import annotations

from collections.abc import Callable

from workalike.typhonio import format_names
from workalike.typhonio.fields import (
    Context,
    Object,
    names_in,
    note_fixed_tables,
    numbers,
    texts,
    whole_numbers,
)
from workalike.typhonio.hdf5 import Group, Unreadable
from workalike.typhonio.material import read_material
from workalike.typhonio.mesh import read_mesh
from workalike.typhonio.node import Node
from workalike.typhonio.quant import Under, read_quant
from workalike.typhonio.variables import read_variables

MOST_OBJECTS = 200_000
MOST_DEPTH = 64


def is_typhonio(root: Group) -> bool:
    """Whether the file is one of the library's, even if a part that the library needs is missing."""
    return root.has_attribute(format_names.FILE_VERSION[0]) or root.has(format_names.STATE_REF)


def is_old(root: Group) -> bool:
    """Whether the file is of a TyphonIO before version 1, which version 1.6 refuses."""
    return not root.has_attribute(format_names.FILE_VERSION[0]) and root.has(format_names.OLD_FORMAT)


def walk(root: Group, context: Context) -> Node:
    """The tree of the whole file."""
    found = Object(root, "/")
    version = whole_numbers(found, format_names.FILE_VERSION, context)
    info = texts(found, format_names.FILE_TEXTS, context)
    node = Node("file", "/")
    node.facts = {"version": ".".join(str(version.get(name, "?")) for name in format_names.FILE_VERSION)}
    node.facts |= {("code_version" if key == "version" else key): value for key, value in info.items()}
    walker = _Walker(context)
    walker.ancestors.append(root.address())
    listed = walker.children(found, format_names.STATE_REF, walker.state, node)
    walker.rest(found, node, listed)
    note_fixed_tables(context)
    if not context.leaves:
        what = "the tables list nothing that could be read: no mesh, no variable"
        hint = (
            f"list states in {format_names.STATE_REF} and meshes in {format_names.MESH_REF}, and close the file with the "
            "library"
        )
        context.findings.error("/", what, hint)
    return node


class _Walker:
    """Reads objects from parent to child.

    Attributes:
        ancestors: addresses of the groups from the root to the current one, which must not occur again below.
        known: addresses of all groups.
        read: path of each object by (parent's address, its own address). Hard links may repeat objects endlessly, so
            each is read only once.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.ancestors: list[int] = []
        self.known: set[int] = set()
        self.read: dict[tuple[int, ...], str] = {}

    def children(self, parent: Object, ref: str, read: Callable[[Object, str], Node], node: Node) -> set[str]:
        """Read every object that a table lists by `read`, and append it to `node`; returns the names."""
        names = [name for name in names_in(parent, ref, self.context) if name is not None]
        for name in names:
            child = self._enter(parent, ref, name)
            if child is None:
                continue
            key = tuple(self.ancestors[-2:])
            first = self.read.setdefault(key, child.path)
            try:
                if first == child.path:
                    node.children.append(read(child, name))
                else:
                    node.children.append(Node("link", name, {"same_as": first}))
            except Unreadable as error:
                self.context.findings.error(child.path, str(error), "write the object again")
            self.ancestors.pop()
        return set(names)

    def _enter(self, parent: Object, ref: str, name: str) -> Object | None:
        """The child's group; on success, its address is appended to `ancestors`."""
        place, findings = parent.at(name), self.context.findings
        self.context.objects += 1
        if self.context.objects > MOST_OBJECTS or len(self.ancestors) >= MOST_DEPTH:
            if self.context.objects <= MOST_OBJECTS + 1:
                findings.error(place, "too many objects, or nested too deeply", "the rest was not checked")
            return None
        if not parent.group.has(name):
            hint = "write the group, or remove the name from the table"
            findings.error(place, f"is listed in {ref}, but does not exist", hint)
            return None
        try:
            group = parent.group.group(name)
            address = group.address()
        except Unreadable as error:
            findings.error(place, f"is listed in {ref}, but {error}", "write the group again")
            return None
        if address in self.ancestors:
            findings.error(place, "contains itself", "remove the link to a group above")
            return None
        self.ancestors.append(address)
        self.known.add(address)
        return Object(group, place)

    def state(self, state: Object, name: str) -> Node:
        values = numbers(state, format_names.STATE_NUMBERS, self.context)
        units = texts(state, ("units",), self.context).get("units", "")
        node = Node("state", name)
        node.facts = {"step": int(values.get("step", 0)), "time": values.get("time"), "units": units}
        self.rest(state, node, self.children(state, format_names.MESH_REF, self.mesh, node))
        return node

    def mesh(self, mesh: Object, name: str) -> Node:
        self.context.leaves += 1
        node, chunks, values = read_mesh(mesh, name, self.context)
        materials: list[dict[str, int]] = []

        def material(found: Object, name: str) -> Node:
            below, attributes = read_material(found, name, values, chunks, self.context)
            materials.append(attributes)
            self.rest(found, below, set())
            return below

        listed = self.children(mesh, format_names.MATERIAL_REF, material, node)
        if len(listed) > 1:
            what = f"{len(listed)} materials"
            self.context.findings.error(
                mesh.at(format_names.MATERIAL_REF), what, "write at most one for a mesh"
            )
        elif not listed and values.get("matghosts", format_names.NULL_GHOSTS) != format_names.NULL_GHOSTS:
            what = f"says {format_names.ghosts(values['matghosts'])}, but the mesh has no material"
            hint = f"write {format_names.NULL_GHOSTS}"
            self.context.findings.warning(mesh.attribute_at("matghosts"), what, hint)
        mixed = any(m.get("mixedflag", 0) for m in materials)
        under = Under(chunks, mixed, max((m.get("nghosts", 0) for m in materials), default=0))

        def quant(found: Object, name: str) -> Node:
            below = read_quant(found, name, under, self.context)
            self.rest(found, below, set())
            return below

        self.rest(mesh, node, listed | self.children(mesh, format_names.QUANT_REF, quant, node))
        return node

    def vargroup(self, group: Object, name: str) -> Node:
        node = Node("vargroup", name)
        self.rest(group, node, set())
        return node

    def rest(self, parent: Object, node: Node, listed: set[str]) -> None:
        """Read variables and vargroups, which every object may have; then report what no table lists."""
        groups = self.children(parent, format_names.VGROUP_REF, self.vargroup, node)
        variables = read_variables(parent, self.context)
        node.children += variables
        self._unlisted(parent, listed | groups | {variable.name for variable in variables})

    def _unlisted(self, parent: Object, listed: set[str]) -> None:
        """Report groups and datasets that no table lists, because the library does not find them."""
        for name, kind in parent.group.links().items():
            if name in listed or name.startswith(format_names.PREFIX):
                continue
            place = parent.at(name)
            if kind in ("external", "broken"):
                what = "is a link into another file" if kind == "external" else "is a broken link"
                self.context.findings.warning(place, f"{what}; it was not followed", "remove it")
                continue
            group = self._group(parent, name) if kind == "group" else None
            if group is not None and group.address() in self.known:
                continue  # listed under another name
            marks = format_names.MARKS.items() if group is not None else ()
            mark = next((what for mark, what in marks if group and group.has_attribute(mark)), None)
            if mark is not None:
                what = f"is a {mark}, but no table lists it: the library does not find it"
                hint = f"list it in the table of {parent.path}"
                self.context.findings.error(place, what, hint)
            else:
                what = f"is a {kind}{' link' * (kind == 'soft')} that no table lists: the library does not find it"
                hint = "if it belongs to TyphonIO, list it in its parent's table"
                self.context.findings.warning(place, what, hint)

    def _group(self, parent: Object, name: str) -> Group | None:
        try:
            return parent.group.group(name)
        except Unreadable:
            return None
