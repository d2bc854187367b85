"""Layers of the Python package: no import runs upward, none in a circle, and help loads no model."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import workalike

PACKAGE = Path(workalike.__file__).parent

LAYERS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("api",),
    ("fleet",),
    ("diagnose",),
    ("study",),
    ("replica",),
    ("report",),
    ("compare",),
    ("calibrate",),
    ("exchange",),
    ("characterize",),
    ("predict",),
    ("launch",),
    ("record",),
    ("facts",),
    ("plan",),
    ("capture",),
    ("workload",),
    ("typhonio",),
    ("darshan",),
    ("columns", "file_kind"),
    ("files",),
    ("leftovers",),
    ("errors", "text", "version", "_core"),
)
"""Top to bottom; a part may import those of lower rows only (docs/architecture.md)."""

HEIGHT = {part: -row for row, parts in enumerate(LAYERS) for part in parts}


def modules_below(package: Path) -> dict[str, Path]:
    """Dotted name without the package's own -> file; a package stands for its `__init__`."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """What a module imports of the package, each as the names of a path; imports within functions count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where they lead"
            parts = (node.module or "").split(".")
            if parts[0] == "workalike":
                yield from ((*parts[1:], alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "workalike":
                    yield tuple(parts[1:])


def graph_of(package: Path) -> dict[str, set[str]]:
    """Module -> the modules that it imports."""
    modules = modules_below(package)
    graph = {}
    for name, path in modules.items():
        found = set()
        for parts in imports_of(ast.parse(path.read_text())):
            while ".".join(parts) not in modules and parts:
                parts = parts[:-1]  # a name of a module, not a module
            found.add(".".join(parts))
        graph[name] = found - {name, ""}
    return graph


def upward(graph: dict[str, set[str]]) -> list[str]:
    """Imports that do not lead to a lower row."""
    out = []
    for name, found in graph.items():
        own = name.split(".")[0]
        for other in sorted(found):
            part = other.split(".")[0]
            if own and part != own and HEIGHT[part] >= HEIGHT[own]:
                out.append(f"{name} imports {other}")
    return out


def circles(graph: dict[str, set[str]]) -> set[str]:
    """Modules that are left when those without imports are taken away, over and over: circles and what leads to them."""
    left = dict(graph)
    while True:
        free = {name for name, found in left.items() if not found & left.keys()}
        if not free:
            return set(left)
        for name in free:
            del left[name]


def test_every_part_has_its_layer() -> None:
    parts = {name.split(".")[0] for name in modules_below(PACKAGE)} - {""}
    assert parts <= HEIGHT.keys()


def test_no_import_runs_upward() -> None:
    assert upward(graph_of(PACKAGE)) == []


def test_no_imports_run_in_a_circle() -> None:
    assert circles(graph_of(PACKAGE)) == set()


def test_what_breaks_the_order_is_seen() -> None:
    """The walk itself: an import upward, one between neighbours of a row, and a circle within a part."""
    graph = {
        "facts.records": {"characterize.pipeline"},
        "characterize.pipeline": set(),
        "columns": {"file_kind"},
        "file_kind": set(),
        "plan.a": {"plan.b"},
        "plan.b": {"plan.a"},
        "text": set(),
    }
    assert upward(graph) == ["facts.records imports characterize.pipeline", "columns imports file_kind"]
    assert circles(graph) == {"plan.a", "plan.b"}


def test_the_walk_finds_imports_wherever_they_stand() -> None:
    tree = ast.parse("import workalike.plan\ndef f():\n    from workalike.facts import records as r, times\n")
    assert list(imports_of(tree)) == [("plan",), ("facts", "records"), ("facts", "times")]


def test_the_command_line_loads_no_model_before_it_knows_the_command() -> None:
    heavy = ("numpy", "pydantic", "yaml", "jinja2", "matplotlib", "h5py", "rich.table")
    code = f"import sys; from workalike import cli; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_found_by_the_address_of_an_object() -> None:
    """An `id()` outlives its object and says nothing in a traceback: keys are indices and names."""
    found = [
        f"{name}:{node.lineno}"
        for name, path in modules_below(PACKAGE).items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]
    assert found == []
