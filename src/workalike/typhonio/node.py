"""The tree of an inspection: objects with their facts, in the order of the file's tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Fact = str | int | float | bool | list[int] | list[float] | None


@dataclass
class Node:
    """One object: its kind (state, mesh, ...), name, facts and children."""

    kind: str
    name: str
    facts: dict[str, Fact] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            **self.facts,
            "children": [child.as_dict() for child in self.children],
        }
