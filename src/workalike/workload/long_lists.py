"""Long lists of a workload, in a file beside it (docs/workload-format.md, "Long workloads").

A workload that is longer than a page has its long lists of numbers in a file of their own: starts of a thousand dumps,
or the sizes of each of thirty. That file is YAML too: one list of lists, in the order of the workload. In the workload
each one is `{listed: N}`, with the number of its values; its head names the file by its SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text
from workalike.workload.per_dump import OF_CONTENT, OF_STREAM, OF_TABLE, STREAMS
from workalike.workload.yaml_text import filled, flow

Document = dict[str, Any]

KEY = "lists"
MARK = "listed"
LONG_TEXT = 300
"""Characters of a list that is long: three lines."""
MAX_BYTES = 64 * 2**20
HINT = "copy it again, unchanged, from where the workload was written"
FIELDS = {
    "Family": ("sizes", "growth", "use"),
    "Schedule": ("start", "gaps", "duration", "compute_time", "metadata"),
    "Window": ("first", "last", "busy"),
    "Content": tuple(OF_CONTENT),
    "Stream": tuple(OF_STREAM),
    "BufferedStream": tuple(STREAMS["buffered"]),
    "Rows": tuple(OF_TABLE),
}
"""Fields of each part of a workload whose list may be in the file beside it."""
_PARTS = {
    "Family": {"schedule": "Schedule", "content": "Content", "contents": "Content"},
    "Schedule": {"writes": "Window", "reads": "Window"},
    "Content": {"streams": "Stream", "buffered": "BufferedStream", "table": "Rows"},
}
"""Which part of a workload a field of a part is, or the entries of its list."""


def taken_out(document: Document) -> tuple[Document, str]:
    """The document without its long lists, and the text of the file that has them; no text where there are none."""
    lists: list[list[Any]] = []

    def take(value: Any) -> Any:
        if not isinstance(value, list) or len(flow(value)) <= LONG_TEXT:
            return value
        lists.append(value)
        return {MARK: len(value)}

    families = _with_fields(document["families"], "Family", take)
    if not lists:
        return document, ""
    # No word but the schema's, nor a comment: a log may have any other word, and an audit would find it.
    text = "".join("- " + "\n".join(filled(each, 2)) + "\n" for each in lists)
    head = {"sha256": hash_of(text), "number": len(lists)}
    version = {"workalike": document["workalike"]} if "workalike" in document else {}
    return version | {KEY: head} | document | {"families": families}, text


def put_back(document: Document, lists: list[Any]) -> Document:
    """The document with its lists, in its order.

    Raises:
        ValueError: there are more or fewer, or one has another length.
    """
    given = iter(lists)

    def put(value: Any) -> Any:
        if not is_mark(value):
            return value
        found = next(given, None)
        if not isinstance(found, list) or len(found) != value[MARK]:
            has = f"{len(found)} values" if isinstance(found, list) else "none"
            raise ValueError(f"a list of {value[MARK]} values is named, and the file beside has {has}")
        return found

    families = _with_fields(document.get("families"), "Family", put)
    if next(given, None) is not None:
        raise ValueError("the file beside has more lists than are named")
    return {key: value for key, value in document.items() if key != KEY} | {"families": families}


def place_of(document: Document, location: tuple[int | str, ...]) -> tuple[int, tuple[int | str, ...]] | None:
    """Which list a place in the whole workload lies in, from 0, and the place within; None if in none."""
    number, found = 0, None

    def count(value: Any) -> Any:
        nonlocal number
        if is_mark(value):
            number += 1
            return number - 1
        return value

    part: Any = {"families": _with_fields(document.get("families"), "Family", count)}
    marked: Any = document
    for depth, step in enumerate(location):
        try:
            part, marked = part[step], marked[step]
        except (KeyError, IndexError, TypeError):
            return None
        if is_mark(marked):
            found = (part, location[depth + 1 :])
            break
    return found


def is_mark(value: Any) -> bool:
    """Whether a value stands for a list in the file beside."""
    return isinstance(value, dict) and value.keys() == {MARK} and type(value[MARK]) is int


def _with_fields(value: Any, part: str, change: Callable[[Any], Any]) -> Any:
    """A part of a workload, or a list of them, with every field that may be in the file beside changed, in order."""
    if isinstance(value, list):
        return [_with_fields(item, part, change) for item in value]
    if not isinstance(value, dict):
        return value
    parts = _PARTS.get(part, {})
    return {
        key: change(item)
        if key in FIELDS[part]
        else _with_fields(item, parts[key], change)
        if key in parts
        else item
        for key, item in value.items()
    }


def read_lists(path: Path, sha256: str, load: Callable[[str, Path], Any]) -> list[Any]:
    """The lists of a file that a workload names; `load` reads YAML.

    Raises:
        WorkalikeError: MISSING, or BAD_WORKLOAD where the file is not the one that the workload names.
    """
    try:
        text = read_text(path, ErrorKind.BAD_WORKLOAD, MAX_BYTES)
    except WorkalikeError as error:
        if error.kind is not ErrorKind.MISSING:
            raise
        hint = "copy it into the folder of the workload"
        raise WorkalikeError(
            ErrorKind.MISSING, "the workload's long lists are not there", file=path, hint=hint
        ) from error
    if hash_of(text) != sha256:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            "has not the lists of this workload: its SHA-256 differs",
            file=path,
            hint=HINT,
        )
    found = load(text, path)
    if not isinstance(found, list):
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, "is not a list of lists", file=path, hint=HINT)
    return found


def file_name(sha256: str) -> str:
    """The name of the file with a workload's lists, in the folder of the workload."""
    return f"lists-{sha256[:16]}.yaml"


def hash_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
