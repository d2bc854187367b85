"""The tree and the findings as text; everything from the file is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workalike.typhonio.findings import Level
from workalike.typhonio.inspection import Inspection

MOST_LINES = 2000
MOST_FACT = 80
NOT_FACTS = ("kind", "name", "children")


def escaped(text: str) -> str:
    """Text that prints on one line: no escape sequences, no line breaks, no lone surrogates."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def lines(found: Inspection) -> Iterator[str]:
    """The tree, then the findings, then the verdict."""
    for number, line in enumerate(_tree(found.tree)):
        if number == MOST_LINES:
            yield "... the rest of the tree is not shown; `--json` has it"
            break
        yield line
    yield ""
    for finding in found.findings:
        yield escaped(finding.text())
    more = sum(found.counts.values()) - len(found.findings)
    if more > 0:
        yield f"... and {more} more"
    yield _verdict(found)


def _verdict(found: Inspection) -> str:
    numbers = ((found.counts[level.value], level.value) for level in Level)
    counts = ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in numbers)
    if not found.typhonio:
        verdict = "HDF5, not TyphonIO: listed, not checked"
        return verdict + (f"; unreadable parts: {found.errors}" if found.errors else "")
    return f"{'TyphonIO, sound' if not found.errors else 'TyphonIO, with errors'}: {counts}"


def _tree(top: dict[str, Any]) -> Iterator[str]:
    """Depth first, without recursion: a file may be deeper than Python's stack."""
    todo = [(top, 0)]
    while todo:
        node, depth = todo.pop()
        yield "  " * min(depth, 40) + _line(node)
        todo += [(child, depth + 1) for child in reversed(node["children"])]


def _line(node: dict[str, Any]) -> str:
    facts = [_fact(key, value) for key, value in node.items() if key not in NOT_FACTS]
    text = ", ".join(fact for fact in facts if fact)
    return f"{escaped(node['kind'])} {escaped(node['name'])}" + (f": {text}" if text else "")


def _fact(key: str, value: Any) -> str:
    """`key value`; a flag that is set is its name alone, and a missing value is empty."""
    word = key.replace("_", " ")
    if value is None or value is False or value == "":
        return ""
    if value is True:
        return word
    if isinstance(value, list):
        return f"{word} [{', '.join(map(str, value))}]"
    text = escaped(str(value))
    return f"{word} {text if len(text) <= MOST_FACT else text[:MOST_FACT] + '...'}"
