"""What was changed in a bundle: fields of plans, and files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

MOST = 20
"""Deviations that are listed of one plan."""


def changed_fields(asked: Any, found: Any, path: str = "") -> Iterator[str]:
    """Paths at which two JSON documents differ, such as `families[0].hints.cb_nodes`."""
    if isinstance(asked, dict) and isinstance(found, dict):
        for name in [*asked, *(n for n in found if n not in asked)]:
            yield from _both(asked.get(name), found.get(name), f"{path}.{name}" if path else str(name))
    elif isinstance(asked, list) and isinstance(found, list) and len(asked) == len(found):
        for number, (before, after) in enumerate(zip(asked, found, strict=True)):
            yield from _both(before, after, f"{path}[{number}]")
    elif asked != found or isinstance(asked, bool) != isinstance(found, bool):
        yield path


def _both(asked: Any, found: Any, path: str) -> Iterator[str]:
    if (asked is None or found is None) and isinstance(asked or found, dict):
        asked, found = asked or {}, found or {}
    yield from changed_fields(asked, found, path)


def changed_files(asked: str, found: str) -> list[str]:
    """Files whose checksums differ, or are missing; plans are judged by their fields.

    Args:
        asked: CHECKSUMS of the bundle.
        found: the same, made where it was run.
    """
    ours, theirs = _sums(asked), _sums(found)
    return [
        name for name, digest in ours.items() if theirs.get(name) != digest and not name.startswith("plans/")
    ]


def is_as_listed(sums: str, name: str, content: bytes) -> bool:
    """Whether a file is the one that a list of checksums has."""
    return _sums(sums).get(name) == hashlib.sha256(content).hexdigest()


def is_source(name: str) -> bool:
    """Whether the engine is built from this file; scripts may be fitted to a site."""
    return name == "CMakeLists.txt" or name.startswith(("engine/", "counting/", "headers/"))


def _sums(text: str) -> Mapping[str, str]:
    pairs = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in pairs}
