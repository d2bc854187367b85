"""Comments, docstrings and messages of the Python sources use the words of the field, as the pages do."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_english import forbidden

ROOT = Path(__file__).parents[2]
SOURCES = ("src", "tests", "benchmarks", "tools", "examples")

WITH_OLD_WORDS = (
    "tests/docs/test_english",  # these forbid them
    "tests/architecture/test_names.py",
    "tests/workload/test_upgrade.py",  # workloads of version 1 have them
)

OTHER_MEANINGS = re.compile(r"\bthink time\b|--think\b")
"""Think time is the field's word for the pause of a person at a portal."""


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of comments, docstrings and other strings that have a space; names and words of formats have none."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def coined(source: str) -> list[tuple[int, str]]:
    """(line, words) that no page may have, either."""
    return [
        (line, words)
        for line, text in sentences(source)
        for words in forbidden(" ".join(OTHER_MEANINGS.sub("", text).split()))
    ]


def test_python_uses_the_words_of_the_field() -> None:
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    names = {str(path.relative_to(ROOT)): path for path in paths}
    found = [
        f"{name}:{line}: {words}"
        for name, path in names.items()
        if not name.startswith(WITH_OLD_WORDS)
        for line, words in coined(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    assert len(names) > 800


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a = 1  # the one behind", [(1, "behind")]),
        ('"""A page.\n\n    What was told.\n"""', [(1, "told")]),
        ("\n\nx = f'{told:g} s, one line a trial'", [(3, "one line a trial")]),
        ("told = 'told'\nwrite('think')", []),
        ("x = 'the `think` of version 1, 3 s think time'", []),
    ],
)
def test_words_are_found_in_texts_alone(source: str, found: list[tuple[int, str]]) -> None:
    assert coined(source) == found
