"""Circles in the graph of C and C++ sources, by file and by folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

Graph = dict[str, set[str]]

SUFFIXES = (".c", ".h", ".cpp", ".hpp")

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def sources(root: Path) -> dict[str, str]:
    """Text without comments of every C and C++ file and header, by its path below `root`."""
    return {
        path.relative_to(root).as_posix(): _COMMENT.sub(" ", path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*"))
        if path.suffix in SUFFIXES
    }


def unit(name: str) -> str:
    """A source and its header are one unit."""
    return name.rsplit(".", 1)[0]


def by_folder(graph: Graph) -> Graph:
    folders: Graph = {}
    for name, others in graph.items():
        own = name.split("/")[0]
        folders.setdefault(own, set()).update(other.split("/")[0] for other in others if "/" in other)
        folders[own].discard(own)
    return folders


def circles(graph: Graph) -> list[list[str]]:
    """Groups of names that reach each other (strongly connected components of more than one)."""
    reach: dict[str, set[str]] = {}
    for name in graph:
        seen: set[str] = set()
        open_names = list(graph[name])
        while open_names:
            other = open_names.pop()
            if other not in seen:
                seen.add(other)
                open_names += graph.get(other, ())
        reach[name] = seen
    groups = {tuple(sorted(other for other in reach[name] if name in reach.get(other, ()))) for name in graph}
    return [list(group) for group in sorted(groups) if group]


def said(groups: Iterable[list[str]]) -> str:
    return "; ".join(" <-> ".join(group) for group in groups)
