"""Fields of a workload document by their path, such as `families[0].schedule.every` or `families[*].tunable.cb_nodes`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

PATH = re.compile(
    r"(?:families\[(?:\*|[0-9]{1,5})\]|compute|runtime|compressibility)(?:\.[a-z_]{1,40}|\[(?:\*|[0-9]{1,6})\])*"
)
PART = re.compile(r"[a-z_]+|\[(?:\*|[0-9]+)\]")


def is_path(text: str) -> bool:
    """Whether a text is a path to a field of a workload."""
    return PATH.fullmatch(text) is not None and text != "families[*]"


def set_path(document: dict[str, Any], path: str, value: Any) -> None:
    """Set a field of a workload's document; parts on the way that are left out in it are added.

    Raises:
        ValueError: the document has no such part, such as an eighth family.
    """
    *way, last = PART.findall(path)
    for holder in _reached(document, way):
        if last.startswith("["):
            for index in _indices(holder, last):
                holder[index] = value
        elif isinstance(holder, dict):
            holder[last] = value
        else:
            raise ValueError(f"has no field {last}")


def _reached(holder: Any, way: list[str]) -> Iterator[Any]:
    if not way:
        yield holder
        return
    first, *rest = way
    if first.startswith("["):
        for index in _indices(holder, first):
            yield from _reached(holder[index], rest)
        return
    if isinstance(holder, str) and first == "mode":
        raise ValueError("is one word here")
    if not isinstance(holder, dict):
        raise ValueError(f"has no field {first}")
    if isinstance(holder.get(first), str) and rest:
        raise ValueError(f"{first} is one word here: set it as a whole")
    yield from _reached(holder.setdefault(first, {}), rest)


def _indices(holder: Any, part: str) -> list[int]:
    if not isinstance(holder, list):
        raise ValueError(f"{part} follows what is not a list")
    if part == "[*]":
        return list(range(len(holder)))
    index = int(part[1:-1])
    if index >= len(holder):
        raise ValueError(f"there are only {len(holder)}, the first is [0]")
    return [index]
