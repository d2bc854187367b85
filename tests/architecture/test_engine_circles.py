"""The structure of `engine/`: no circle of includes between its files or folders, and a core that knows no library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from circles import Graph, by_folder, circles, said, sources, unit

ENGINE = Path(__file__).parents[2] / "engine"
CORE = "core"

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_LIBRARY = re.compile(r"^\s*#\s*include\s*<(mpi|hdf5|pnetcdf|adios2|nanobind)[./]", re.MULTILINE)


def home(included: str, root: Path) -> str | None:
    """Path below `root` of an included file, which is below `root` or its core; None if it is neither."""
    for path in (included, f"{CORE}/{included}"):
        if (root / path).is_file():
            return path
    return None


def includes(files: dict[str, str], root: Path) -> Graph:
    """For each source with its header the others that it includes. What is outside of `root` is left out."""
    graph: Graph = {}
    for name, text in files.items():
        found = {home(included, root) for included in _INCLUDE.findall(text)}
        graph.setdefault(unit(name), set()).update(unit(path) for path in found if path)
    return {name: others - {name} for name, others in graph.items()}


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    found = sources(ENGINE)
    assert len(found) > 150
    return found


def test_every_include_is_found(files: dict[str, str]) -> None:
    """Otherwise a circle through it would not be seen. Those of `counting/` stand below all of the engine."""
    unknown = {
        (name, included)
        for name, text in files.items()
        for included in _INCLUDE.findall(text)
        if home(included, ENGINE) is None and not included.startswith("counting/")
    }
    assert not unknown
    counting = sources(ENGINE.parent / "counting")
    assert not any(
        home(included, ENGINE) for text in counting.values() for included in _INCLUDE.findall(text)
    )


def test_no_circle_of_files(files: dict[str, str]) -> None:
    graph = includes(files, ENGINE)
    assert "io/hdf5_lists" in graph["io/hdf5"] and "core/plan/plan" in graph["run/setup"]
    assert not (found := circles(graph)), said(found)


def test_no_circle_of_folders(files: dict[str, str]) -> None:
    """The core is one folder here: its parts are circles of folders, though not of files."""
    graph = by_folder(includes(files, ENGINE))
    assert graph["run"] >= {"record", "io", "schedule", "backends", CORE}
    assert not (found := circles(graph)), said(found)


def test_core_knows_nothing_above_it(files: dict[str, str]) -> None:
    core = {name: text for name, text in files.items() if name.startswith(f"{CORE}/")}
    above = by_folder(includes(core, ENGINE))[CORE]
    assert not above
    assert not [name for name, text in core.items() if _LIBRARY.search(text)]


def test_circles_are_found(tmp_path: Path) -> None:
    """The check itself can fail: a source includes what includes its header, and two folders include each other."""
    texts = {
        "core/plan/first.hpp": "",
        "core/plan/first.cpp": '#include "plan/first.hpp"\n#include "plan/second.hpp"\n',
        "core/plan/second.hpp": '// #include "plan/third.hpp"\n#include "plan/first.hpp"\n',
        "core/plan/third.hpp": '#include "plan/second.hpp"\n',
        "io/own.hpp": '#include "record/other.hpp"\n',
        "record/other.hpp": "",
        "record/third.hpp": '#include "io/own.hpp"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = includes(sources(tmp_path), tmp_path)
    assert circles(graph) == [["core/plan/first", "core/plan/second"]]
    assert circles(by_folder(graph)) == [["io", "record"]]
