"""Writes YAML in a readable layout: small mappings on one line, long lists wrapped between items.

It supports only workload documents. Keys are words of the schema; values are numbers, flags, lists, mappings and the
few kinds of text of the model (`259 MiB`, `8/rank x 4 MiB`, `0-511:8`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

WIDTH = 120

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/:-]*")
_NUMBER = r"[0-9][0-9_:.]*|0[xo][0-9a-f_]+|[0-9.]+e[+-]?[0-9]+"
_NOT_TEXT = re.compile(rf"(?i)null|true|false|yes|no|on|off|{_NUMBER}")
_WRAPPED = ("schedule", "dataset")  # mappings that are put on two lines where one is too short
_OF_WINDOWS = "schedule"  # with its windows, it may be on these lines
_SHORT = "content"  # with its streams, it may be on one line
_OWN_LINE = ("schedule: ", "content: ", "contents: ")  # begin a line of a paragraph
_SAME_LAYOUT = "contents"  # the entries of this list are easy to compare only if all have the same layout


def scalar(value: Any) -> str:
    """A scalar value. Text that YAML would read as another type is quoted; ranks such as `0` stay numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if text.isdecimal() and text.isascii():
        return text
    if _PLAIN.fullmatch(text) and not _NOT_TEXT.fullmatch(text) and ": " not in text and text[-1] not in ": ":
        return text
    return "'" + text.replace("'", "''") + "'"


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def block(document: dict[str, Any], apart: tuple[str, ...] = (), close: bool = False) -> str:
    """A document, with an empty line before each key in `apart` and between the entries of its list.

    With `close`, these entries are paragraphs: as many fields on a line as it takes.
    """
    lines: list[str] = []
    for key, value in document.items():
        if key not in apart:
            lines += _entry(key, value, 0)
            continue
        lines += ["", f"{key}:"] if value else ["", f"{key}: []"]
        for i, item in enumerate(value):
            mapping = _paragraph(item) if close else list(_item(item, 0, WIDTH))
            lines += [""] * (i > 0 and len(mapping) > 1) + mapping
    return "\n".join(lines) + "\n"


def _paragraph(item: Any) -> list[str]:
    """`- item` of a list, filled."""
    first, *rest = filled(item, len("- "))
    return [f"- {first}", *rest]


def filled(value: Any, column: int, after: int = 0) -> list[str]:
    """A value that begins at a column, on one line or on several filled ones; the first has no indentation.

    `after` is the number of characters that follow it on its last line.
    """
    if not isinstance(value, (dict, list)) or not value or column + len(flow(value)) + after <= WIDTH:
        return [flow(value)]
    if isinstance(value, dict):
        named, items = True, [(f"{key}: ", item) for key, item in value.items()]
    else:
        named, items = False, [("", item) for item in value]
    lines = [" " * column + ("{" if named else "[")]
    long = False  # whether the item before took several lines
    for i, (head, item) in enumerate(items):
        tail = "," if i + 1 < len(items) else "}" if named else "]"
        text = f"{' ' if i else ''}{head}{flow(item)}{tail}"
        apart = (long and (named or isinstance(item, dict))) or head in _OWN_LINE
        follows = after if i + 1 == len(items) else 0
        if not apart and len(lines[-1]) + len(text) + follows <= WIDTH:
            lines[-1] += text
            continue
        if i:
            lines.append(" " * (column + 1))
        inner = filled(item, column + 1 + len(head), len(tail) + follows)
        lines[-1] += head + inner[0]
        lines += inner[1:]
        lines[-1] += tail
        long = len(inner) > 1
    return [lines[0][column:], *lines[1:]]


def _entry(key: str, value: Any, indent: int) -> Iterator[str]:
    """`key: value`, on as many lines as it needs."""
    head = f"{' ' * indent}{key}:"
    one_line = f"{head} {flow(value)}"
    if not isinstance(value, (dict, list)) or not value:
        yield one_line
    elif isinstance(value, dict):
        plain = key == _OF_WINDOWS or not _holds_mappings(value)
        if len(one_line) <= WIDTH and (plain or (key == _SHORT and _is_flat(value))):
            yield one_line
            return
        wrapped = list(_wrapped(f"{head} {{", _pairs(value), "}"))
        if key in _WRAPPED and len(wrapped) == 2 and plain:
            yield from wrapped
        else:
            yield head
            for inner, item in value.items():
                yield from _entry(inner, item, indent + 2)
    elif any(isinstance(item, dict) for item in value):
        width = WIDTH if key != _SAME_LAYOUT or all(_fits(item, indent) for item in value) else 0
        yield head
        for item in value:
            yield from _item(item, indent, width)
    else:
        yield from _wrapped(f"{head} [", [flow(item) for item in value], "]")


def _item(item: Any, indent: int, width: int) -> Iterator[str]:
    """`- item` of a list, on one line if it fits into `width`."""
    dash = f"{' ' * indent}- "
    if not isinstance(item, dict) or not item or (len(dash) + len(flow(item)) <= width):
        yield dash + flow(item)
        return
    lines = [line for key, value in item.items() for line in _entry(key, value, indent + 2)]
    yield dash + lines[0][indent + 2 :]
    yield from lines[1:]


def _fits(item: Any, indent: int) -> bool:
    return indent + 2 + len(flow(item)) <= WIDTH


def _holds_mappings(value: dict[str, Any]) -> bool:
    inner = [x for v in value.values() for x in (v if isinstance(v, list) else [v])]
    return any(isinstance(x, dict) for x in inner)


def _is_flat(value: dict[str, Any]) -> bool:
    """Whether mappings are only in lists, and have none themselves: streams, but not meshes."""
    items = [x for v in value.values() if isinstance(v, list) for x in v if isinstance(x, dict)]
    return not any(isinstance(v, dict) for v in value.values()) and not any(map(_holds_mappings, items))


def _pairs(value: dict[str, Any]) -> list[str]:
    """`key: value` of each entry; the values of a list are apart, so that lines break between them."""
    parts: list[str] = []
    for key, item in value.items():
        words = flow(item).split(", ")
        parts += [f"{key}: {words[0]}", *words[1:]]
    return parts


def _wrapped(head: str, parts: list[str], close: str) -> Iterator[str]:
    """`key: [a, b, …]` or `key: {a: 1, …}`, later lines under the first part."""
    line, start = head, len(head)
    for i, part in enumerate(parts):
        text = part + ("," if i + 1 < len(parts) else close)
        if i and len(line) + 1 + len(text) > WIDTH:
            yield line
            line = " " * start + text
        else:
            line += text if i == 0 else " " + text
    yield line
