"""Layers of the Python package: no import runs upward or in a circle, and help loads no heavy module."""

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
    ("evidence",),
    ("bundle",),
    ("study",),
    ("replica",),
    ("rehearse",),
    ("report",),
    ("compare",),
    ("calibrate",),
    ("exchange",),
    ("characterize",),
    ("predict",),
    ("conformance",),
    ("engine_build",),
    ("launch",),
    ("record",),
    ("facts",),
    ("plan",),
    ("capture",),
    ("workload",),
    ("typhonio",),
    ("darshan",),
    ("columns", "file_kind", "extras", "notebook", "tar_file"),
    ("files",),
    ("leftovers",),
    ("errors", "terminal", "text", "version", "_core"),
)
"""The layers, top to bottom. A part may import parts of lower rows only (docs/architecture.md)."""

HEIGHT = {part: -row for row, parts in enumerate(LAYERS) for part in parts}


def modules_below(package: Path) -> dict[str, Path]:
    """Dotted name within the package -> file. The name of a package stands for its `__init__`."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """The imports of a module from the package, as parts of dotted names; those within functions count too."""
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
                parts = parts[:-1]  # a name in a module, not a module
            found.add(".".join(parts))
        graph[name] = found - {name, ""}
    return graph


def upward(graph: dict[str, set[str]]) -> list[str]:
    """Imports that are not from a lower row."""
    out = []
    for name, found in graph.items():
        own = name.split(".")[0]
        for other in sorted(found):
            part = other.split(".")[0]
            if own and part != own and HEIGHT[part] >= HEIGHT[own]:
                out.append(f"{name} imports {other}")
    return out


def circles(graph: dict[str, set[str]]) -> set[str]:
    """Modules in circles, and those that import them: what is left when modules without imports are removed repeatedly."""
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


def test_violations_are_found() -> None:
    """The checks find an import upward, one between parts of a row, and a circle within a part."""
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


def test_imports_within_functions_are_found() -> None:
    tree = ast.parse("import workalike.plan\ndef f():\n    from workalike.facts import records as r, times\n")
    assert list(imports_of(tree)) == [("plan",), ("facts", "records"), ("facts", "times")]


def test_the_command_line_loads_no_heavy_module_at_start() -> None:
    heavy = ("numpy", "pydantic", "yaml", "jinja2", "matplotlib", "h5py", "rich.table")
    code = f"import sys; from workalike import cli; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_plan_of_a_workload_without_tables_needs_no_arrays(tmp_path: Path) -> None:
    """NumPy takes a third of the time of such a command."""
    plan = ["plan", str(PACKAGE.parents[1] / "workloads" / "mphys-a.yaml"), "-o", str(tmp_path / "plan.json")]
    code = f"import sys; from workalike import cli; cli.app({plan!r}, standalone_mode=False); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_no_dictionary_has_addresses_of_objects_as_keys() -> None:
    """An `id()` may be reused after its object is gone, and a traceback with it says nothing."""
    found = [
        f"{name}:{node.lineno}"
        for name, path in modules_below(PACKAGE).items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]
    assert found == []
