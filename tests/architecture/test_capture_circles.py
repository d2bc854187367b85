"""The structure of `capture/`: no circle of includes or calls between its files, and a core that knows no module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from circles import Graph, by_folder, circles, said, sources, unit

CAPTURE = Path(__file__).parents[2] / "capture"
CORE = "core"

_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_DEFINITION = re.compile(
    r"^(?!static|typedef|return|else|#)(?:[A-Za-z_][\w ]*[ *]+)([A-Za-z_]\w*)\([^;{}]*\)\s*\{", re.MULTILINE
)
_LOCAL = re.compile(
    r"^static(?: inline)? (?:[A-Za-z_][\w ]*[ *]+)([A-Za-z_]\w*)\([^;{}]*\)\s*[{;]", re.MULTILINE
)
_CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")
_REAL = re.compile(r"\bREAL\(\w+\)")  # the wrapped function: a call out of the library


def includes(files: dict[str, str]) -> Graph:
    """Files of `capture/` that each includes; those of `counting/` stand below all of them."""
    return {
        name: {found for found in _INCLUDE.findall(text) if not found.startswith("counting/")}
        for name, text in files.items()
    }


def calls(files: dict[str, str]) -> Graph:
    """For each unit the units whose functions it calls; only global functions count."""
    home = {
        function: unit(name)
        for name, text in files.items()
        if name.endswith(".c")
        for function in _DEFINITION.findall(text)
    }
    graph: Graph = {unit(name): set() for name in files}
    for name, text in files.items():
        body = _REAL.sub("", _STRING.sub('""', text))
        local = set(_LOCAL.findall(body))
        reached = {home[word] for word in set(_CALL.findall(body)) - local if word in home}
        graph[unit(name)] |= reached - {unit(name)}
    return graph


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    found = sources(CAPTURE)
    assert len(found) > 50
    return found


def test_no_circle_of_includes(files: dict[str, str]) -> None:
    graph = includes(files)
    unknown = {name: sorted(wanted - set(files)) for name, wanted in graph.items() if wanted - set(files)}
    assert not unknown  # includes are relative to capture/
    assert not (found := circles(graph)), said(found)


def test_no_circle_of_calls(files: dict[str, str]) -> None:
    graph = calls(files)
    assert sum(map(len, graph.values())) > 100  # the functions are found
    assert "core/records" in graph["posix/record"]
    assert not (found := circles(graph)), said(found)


@pytest.mark.parametrize("kind", ["includes", "calls"])
def test_no_circle_of_folders(files: dict[str, str], kind: str) -> None:
    graph = by_folder(includes(files) if kind == "includes" else calls(files))
    assert not (found := circles(graph)), said(found)


def test_core_knows_no_module(files: dict[str, str]) -> None:
    graphs = {"includes": includes(files), "calls": calls(files)}
    for kind, graph in graphs.items():
        outside = {
            name: sorted(other for other in others if not other.startswith(f"{CORE}/"))
            for name, others in graph.items()
            if name.startswith(f"{CORE}/")
        }
        assert not {name: others for name, others in outside.items() if others}, kind


def test_every_folder_is_the_core_or_a_module(files: dict[str, str]) -> None:
    """A folder that is not in the list is not compiled, which nobody would notice."""
    listed = re.search(
        r"^set\(CAPTURE_MODULES ([\w ]+)\)$", (CAPTURE / "CMakeLists.txt").read_text(), re.MULTILINE
    )
    assert listed
    modules = listed[1].split()
    assert {name.split("/")[0] for name in files} == {CORE, *modules}
    for module in modules:
        defined = [
            name for name, text in files.items() if f"const struct capture_module {module}_module = " in text
        ]
        assert len(defined) == 1 and defined[0].startswith(f"{module}/")


def test_circles_are_found(tmp_path: Path) -> None:
    """The check itself can fail: of three files two call each other."""
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "first.c").write_text(
        '#include "core/second.h"\nint first(void) {\n    return second();\n}\n'
    )
    (tmp_path / "core" / "second.h").write_text("int second(void);\n")
    (tmp_path / "core" / "second.c").write_text(
        '#include "core/second.h"\nint second(void) {\n    return third(first);\n}\n'
        "int third(int (*f)(void)) {\n    return first();\n}\n"
    )
    assert circles(calls(sources(tmp_path))) == [["core/first", "core/second"]]
    assert circles(includes(sources(tmp_path))) == []
