"""Names of variables say what they hold: an article, a pronoun or a preposition says nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from workalike.errors import ExitCode

ROOT = Path(__file__).parents[2]
SOURCES = ("src", "tests", "benchmarks", "tools", "examples")

FORBIDDEN = {"one", "some", "mine", "came", "told", "of"}

NAMED = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)


def names_given(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, name) of variables, loop targets, parameters, caught errors, captures of patterns, and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, NAMED) and node.name is not None:
            yield node.lineno, node.name


def forbidden(tree: ast.AST) -> list[tuple[int, str]]:
    return sorted((line, name) for line, name in names_given(tree) if name in FORBIDDEN)


def found_in(folder: Path) -> list[str]:
    """The forbidden names of all files of a folder."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted(folder.rglob("*.py"))
        for line, name in forbidden(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_names_say_what_they_hold() -> None:
    assert [line for folder in SOURCES for line in found_in(ROOT / folder)] == []


@pytest.mark.parametrize(
    "source",
    [
        "one = 1",
        "one: int = 1",
        "for some in []: pass",
        "a = [mine for mine in b]",
        "def f(told): pass",
        "def f(*, of=1): pass",
        "def of(): pass",
        "g = lambda one: 1",
        "with a as came: pass",
        "try: pass\nexcept ValueError as one: pass",
        "a, (one, *b) = c",
        "if (one := 1): pass",
        "match a:\n    case [one, 2]: pass",
    ],
)
def test_forbidden_names_are_found(source: str) -> None:
    assert len(forbidden(ast.parse(source))) == 1


def test_other_names_are_not() -> None:
    source = "ones = of_file = someone = 1\nprint(a.one, of=ones)\nb.told = 'one'\n"
    assert forbidden(ast.parse(source)) == []


def test_exit_codes_have_one_owner() -> None:
    """Numbers stand in errors.ExitCode, but for Ctrl-C before anything is imported; terms.md has a row for each."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name not in ("errors.py", "__main__.py")]
    wrong = [
        str(path)
        for path in sources
        if re.search(r"\bEXIT_(?!CODES)\w+ =|Exit\(\d|sys\.exit\(\d", path.read_text())
    ]
    assert wrong == []
    page = (ROOT / "docs" / "reference" / "terms.md").read_text()
    assert all(f"| {code.value} |" in page for code in ExitCode if code < ExitCode.NOT_FOUND)
