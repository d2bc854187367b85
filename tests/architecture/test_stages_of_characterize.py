"""`characterize` by stage: few files at a level, few imports between stages, and none of them upward.

python -m pytest -s tests/architecture/test_stages_of_characterize.py     prints the numbers
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from test_layers import PACKAGE, graph_of

STAGES = (
    ("options", "result", "rules"),
    ("grouping",),
    ("contents", "times"),
    ("traces",),
    ("readings",),
    ("orders",),
    ("assemble", "coverage"),
    ("pipeline",),
    ("sensitivity", ""),
)
"""Bottom to top, the package itself at last. A stage imports stages of lower rows only."""
HEIGHT = {stage: row for row, stages in enumerate(STAGES) for stage in stages}
FILES_AT_A_LEVEL = 15
IMPORTS_BETWEEN_FOLDERS = 50
ROOT = PACKAGE / "characterize"


def stage_of(module: str) -> str:
    return module.removeprefix("characterize").removeprefix(".").split(".")[0]


def imports_between(graph: dict[str, set[str]]) -> Counter[tuple[str, str]]:
    """Pairs of modules with an import, by their stages."""
    return Counter(
        (stage_of(name), stage_of(other))
        for name, found in graph.items()
        for other in found
        if f"{name}.".startswith("characterize.") and f"{other}.".startswith("characterize.")
    )


def files_by_level(folder: Path) -> dict[str, int]:
    levels = Counter(path.parent for path in folder.rglob("*.py") if path.name != "__init__.py")
    return {str(level.relative_to(folder)): count for level, count in sorted(levels.items())}


def test_a_level_has_few_files() -> None:
    found = files_by_level(ROOT)
    print("\nfiles by level:", ", ".join(f"{level} {count}" for level, count in found.items()))
    assert max(found.values()) <= FILES_AT_A_LEVEL


def test_few_imports_run_between_folders() -> None:
    found = imports_between(graph_of(PACKAGE))
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    between = {pair: count for pair, count in found.items() if set(pair) <= folders and pair[0] != pair[1]}
    print("\nimports:", ", ".join(f"{a} of {b} {count}" for (a, b), count in sorted(between.items())))
    print("between folders:", sum(between.values()))
    assert sum(between.values()) <= IMPORTS_BETWEEN_FOLDERS


def test_no_stage_imports_one_above() -> None:
    found = imports_between(graph_of(PACKAGE))
    assert {stage for pair in found for stage in pair} <= HEIGHT.keys()
    assert [pair for pair in found if pair[0] != pair[1] and HEIGHT[pair[0]] <= HEIGHT[pair[1]]] == []


def test_violations_are_found(tmp_path: Path) -> None:
    graph = {
        "characterize.grouping.a": {"characterize.readings.b.c", "facts.records"},
        "facts.records": set(),
    }
    assert imports_between(graph) == {("grouping", "readings"): 1}
    (tmp_path / "a").mkdir()
    for name in ("a/b.py", "a/c.py", "a/__init__.py", "d.py"):
        (tmp_path / name).touch()
    assert files_by_level(tmp_path) == {".": 1, "a": 2}
