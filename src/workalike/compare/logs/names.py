"""What of a file's name stays from run to run: not its folder, its numbers, and the parts that are made at random."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workalike.facts.naming import pattern_of

RANDOM = (8, 6)
"""Letters and digits that Python's tempfile and mkstemp put into names."""
_RANDOM = {length: re.compile(rf"[A-Za-z0-9_]{{{length}}}") for length in RANDOM}
_CHANGES = re.compile(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9_])[^0-9_]")
LOOKS_RANDOM = 2
MAY_BE_RANDOM = 1
ANYTHING = "\N{WHITE MEDIUM LOZENGE}"
"""Stands for a random part; it is in no name that a program chooses."""


def common_folder(names: Sequence[str]) -> str:
    """The folder, with a slash at its end, that all absolute names lie in; empty where there is none."""
    absolute = [name for name in names if name.startswith("/")]
    if not absolute:
        return ""
    first, last = min(absolute), max(absolute)
    differ = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None
    )
    shared = first if differ is None else first[:differ]
    return shared[: shared.rfind("/") + 1]


def within(name: str, folder: str) -> str:
    """The name without the folder that all names lie in."""
    return name[len(folder) :] if folder and name.startswith(folder) else name


def random_keys(name: str) -> Iterator[tuple[str, int]]:
    """(the name without a part that may be random, how much that part looks so), for each such part.

    A random part ends the name of a file or folder, before its extension, and follows something that is not random. It
    looks so (2) where kinds of characters change more than once in it; it may be (1) where it has more than small
    letters, and 0 is a word.
    """
    parts = name.split("/")
    for place, part in enumerate(parts):
        stem = part.partition(".")[0] or part
        for text in dict.fromkeys((stem, part)):
            for length in RANDOM:
                tail = text[-length:]
                if len(text) > length and _RANDOM[length].fullmatch(tail):
                    kept = f"{text[:-length]}{ANYTHING}{length}{part[len(text) :]}"
                    key = "/".join([*parts[:place], kept, *parts[place + 1 :]])
                    by_python = length == max(RANDOM) and text[:-length].endswith("tmp")
                    yield pattern_of(key), LOOKS_RANDOM if by_python else _looks(tail)


def _looks(tail: str) -> int:
    changes = len(_CHANGES.findall(tail))
    if changes > 1:
        return LOOKS_RANDOM
    return 0 if not changes and tail.islower() else MAY_BE_RANDOM


def kind_of_name(name: str) -> str:
    """The name without its numbers and without all parts that may be random: the same for files of one series."""
    return pattern_of("/".join(map(_without_random, name.split("/"))))


def _without_random(part: str) -> str:
    stem = part.partition(".")[0] or part
    for length in RANDOM:
        tail = stem[-length:]
        if len(stem) > length and _RANDOM[length].fullmatch(tail) and _looks(tail):
            return f"{stem[:-length]}{ANYTHING}{part[len(stem) :]}"
    return part
