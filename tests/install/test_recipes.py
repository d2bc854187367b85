"""Recipes of packaging/: their texts name the version, the dependencies and the extras of pyproject.toml."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

from workalike.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDED = {Requirement(text).name: Requirement(text) for text in PROJECT["dependencies"]}
OPTIONAL = ("zlib-ng",)  # faster than zlib, which takes its place
EXTRAS = set(PROJECT["optional-dependencies"])


def ends(requirement: Requirement) -> tuple[str, str]:
    """(the oldest version, the first that is too new), such as ("1.24", "3")."""
    by_operator = {each.operator: each.version for each in requirement.specifier}
    return by_operator[">="], by_operator["<"]


def following(version: str) -> str:
    """`8` after `7`, `0.22` after `0.21`."""
    before, dot, last = version.rpartition(".")
    return f"{before}{dot}{int(last) + 1}"


def test_spack() -> None:
    text = (RECIPES / "spack/package.py").read_text()
    ast.parse(text)
    assert f'version("{VERSION}")' in text and f"workalike-{VERSION}.tar.gz" in text
    asked = dict(re.findall(r'"py-([\w-]+)@([\d.:]+)"', text))
    for name, requirement in NEEDED.items():
        if name in OPTIONAL:
            continue
        least, too_new = ends(requirement)
        first, _, last = asked[name.lower()].partition(":")
        assert first == least, name
        assert too_new == following(last or first.split(".")[0]), name


def test_conda() -> None:
    text = (RECIPES / "conda/meta.yaml").read_text()
    recipe = yaml.safe_load(re.sub(r"{{.*?}}", "x", text))
    assert recipe["package"] == {"name": "workalike", "version": VERSION}
    asked = dict(line.split(" ", 1) for line in recipe["requirements"]["run"] if " " in line)
    for name, requirement in NEEDED.items():
        if name not in OPTIONAL:
            least, too_new = ends(requirement)
            assert asked[name.lower()] == f">={least},<{too_new}", name


def test_easybuild_and_module() -> None:
    recipe = (RECIPES / "easybuild/workalike.eb").read_text()
    ast.parse(recipe)
    assert f'version = "{VERSION}"' in recipe
    assert f"workalike/{VERSION}" in (RECIPES / "modules/workalike.lua").read_text()


def packages_in(text: str) -> set[str]:
    """What apt-get installs."""
    listed = text.split("--no-install-recommends", 1)[1]
    lines = listed.split("\n")
    last = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
    return set(" ".join(lines[: last + 1]).replace("\\", " ").split())


def test_containers_install_the_same() -> None:
    container = (RECIPES / "container/Containerfile").read_text()
    definition = (RECIPES / "container/workalike.def").read_text()
    assert packages_in(container) >= {"mpi-default-dev", "libhdf5-mpi-dev", "libcli11-dev", "libfmt-dev"}
    assert packages_in(container) == packages_in(definition)
    for text in (container, definition):
        assert "workalike engine check" in text


def test_extras_that_texts_name_are_there() -> None:
    pages = [*RECIPES.rglob("*"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for page in (path for path in pages if path.is_file() and path.suffix != ".png"):
        for listed in re.findall(r"workalike\[([\w,-]+)\]", page.read_text(encoding="utf-8")):
            assert set(listed.split(",")) <= EXTRAS, page
