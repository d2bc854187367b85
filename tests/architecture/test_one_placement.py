"""One function decides how operations lie in a file; readings propose other placements, and nothing else does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from test_layers import PACKAGE

DECIDES = ("facts/placement.py", "characterize/readings/")
PARTS = ("facts", "characterize")


def chosen(source: str) -> list[int]:
    """Lines that construct a placement, or use a pattern as a value: not in a comparison, and not as a key."""
    tree = ast.parse(source)
    compared = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        for part in ast.walk(side)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Placement")
        or (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "Pattern"
            and node not in compared
        )
    ]


def modules_that_choose(package: Path) -> list[str]:
    found = []
    for part in PARTS:
        for path in sorted((package / part).rglob("*.py")):
            name = path.relative_to(package).as_posix()
            if not name.startswith(DECIDES):
                found += [f"{name}:{line}" for line in chosen(path.read_text(encoding="utf-8"))]
    return found


def test_no_module_beside_them_chooses_a_pattern() -> None:
    found = modules_that_choose(PACKAGE)
    print("\nmodules that choose a pattern:", len(found))
    assert found == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("p = Placement(x)", [1]),
        ("p = x\nq = Pattern.SAME", [2]),
        ("if p is Pattern.SAME or p in (Pattern.RANDOM,): pass", []),
        ("def f(p: Pattern) -> Placement: return p", []),
    ],
)
def test_what_counts_as_choosing(source: str, lines: list[int]) -> None:
    assert chosen(source) == lines
