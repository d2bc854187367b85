"""The tree of an ordinary HDF5 file: groups and datasets with shape, type and layout."""

from __future__ import annotations

from workalike.typhonio.fields import Context
from workalike.typhonio.hdf5 import Data, Group, Unreadable
from workalike.typhonio.node import Node

MOST_OBJECTS = 100_000
MOST_DEPTH = 256


def tree(root: Group, context: Context) -> Node:
    """All groups and datasets; a group that occurs again is named, but not entered."""
    node = Node("file", "/")
    seen = {root.address()}
    todo = [(root, node, "/", 0)]
    while todo:
        group, into, path, depth = todo.pop()
        into.facts["attributes"] = len(group.attribute_names())
        for name, kind in group.links().items():
            context.objects += 1
            if context.objects > MOST_OBJECTS:
                context.findings.note(path, f"more than {MOST_OBJECTS:,} objects", "the rest is not shown")
                return node
            child = Node(kind, name)
            into.children.append(child)
            below = f"{path.rstrip('/')}/{name}"
            try:
                if kind == "dataset":
                    child.facts |= _facts(group.data(name))
                elif kind == "group":
                    inner = group.group(name)
                    if inner.address() in seen:
                        child.facts["seen"] = True
                    elif depth >= MOST_DEPTH:
                        context.findings.note(below, "nested too deeply", "what is in it is not shown")
                    else:
                        seen.add(inner.address())
                        todo.append((inner, child, below, depth + 1))
            except Unreadable as error:
                context.findings.error(below, str(error), "the file is damaged here: write it again")
    return node


def _facts(data: Data) -> dict[str, str | int | float | bool | list[int] | list[float] | None]:
    return {
        "shape": list(data.shape),
        "type": data.kind.text(),
        "layout": "external" if data.elsewhere and data.layout == "contiguous" else data.layout,
        "chunk": list(data.chunk) if data.chunk else None,
        "filters": ", ".join(data.filters) or None,
    }
