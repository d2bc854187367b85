"""Help, errors and printed sentences have no construction that an engineer reads twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "workalike"
FORBIDDEN = {
    "so many": r"\bso many\b",
    "of which": r"\bof which\b",
    "that is one": r"\bthat (?:is|are) one\b",
    "are of": r"\b(?:is|are) of --",
    "is no NOUN": r"(?<!here )(?<!Here )\b(?:is|are) no (?!such|longer|more)[a-z]\w*",
    "cannot be true": r"\bcannot be true\b",
}
"""Construction -> what finds it. `there is no room` and `no such file` are plain English."""


def forbidden_in(text: str) -> list[str]:
    return [name for name, pattern in FORBIDDEN.items() if re.search(pattern, text)]


def texts_of(source: str, *, with_help: bool) -> Iterator[tuple[int, str]]:
    """(line, text) of the strings of a module; docstrings only where they are the help of commands."""
    tree = ast.parse(source)
    documents = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and (with_help or id(node) not in documents):
            yield node.lineno, node.value


def test_messages_and_help_are_plain() -> None:
    found, count = {}, 0
    for path in sorted(PACKAGE.rglob("*.py")):
        with_help = path.parent.name == "commands"
        for line, text in texts_of(path.read_text(encoding="utf-8"), with_help=with_help):
            count += 1
            if names := forbidden_in(text):
                found[f"{path.relative_to(PACKAGE)}:{line}"] = (names, text[:80])
    assert count > 10_000
    assert found == {}


def test_constructions_are_found() -> None:
    assert forbidden_in("--dir and --ranks are of --try") == ["are of"]
    assert forbidden_in("'x' is no number, of which so many are no data") == [
        "so many",
        "of which",
        "is no NOUN",
    ]
    assert forbidden_in("The latest timestamp that is one at all cannot be true") == [
        "that is one",
        "cannot be true",
    ]
    assert forbidden_in("there is no room; no such file; it is no longer there") == []
    (first, second) = texts_of('"""Help."""\nx = "text"\n', with_help=True)
    assert (first[1], second[1]) == ("Help.", "text")
    assert [text for _, text in texts_of('"""Help."""\nx = "text"\n', with_help=False)] == ["text"]
