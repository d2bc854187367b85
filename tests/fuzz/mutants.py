"""Mutants of texts and JSON documents, with numbers, words, lines and parts exchanged, doubled or removed."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

NUMBERS = [
    "0", "1", "-1", "2", "3", "7", "1000000", "1000001", "4294967296", "1125899906842624", "1125899906842625",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "-1e400", "1e-400", ".nan", ".inf",
    "0.1", "1e9", "9" * 60, "0x10", "064", "1_0",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 255, 65536, 10**6, 2**31, 2**32, 2**40, 2**50, 2**53 + 1, 2**60, 2**63 - 1, 2**63,
    -(2**63), 0.5, -0.5, 1e-300, 1e18, 1e300, float("nan"), float("inf"), float("-inf"), "", "x", "all", "posix", "\u202e",
    "\x00", "../..", "x" * 5000, [], {}, [[]], [0], [[0, 0, 1]], [[3, 1, 0]], {"a": 1},
]  # fmt: skip
_NUMBER = re.compile(r"(?<![A-Za-z])-?[0-9]+(?:\.[0-9]+)?")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]+")


def mutated_text(text: str, dice: random.Random) -> bytes:
    """The text with one to four changes; the result is not always UTF-8."""
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        text = dice.choice(TEXT_CHANGES)(text, dice)
    data = text.encode("utf-8", "surrogatepass")
    if data and dice.random() < 0.03:
        at = dice.randrange(len(data))
        data = data[:at] + dice.randbytes(1) + data[at + dice.choice([0, 1]) :]
    return data


def _other_number(text: str, dice: random.Random) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    place = dice.choice(found)
    new = dice.choice([*NUMBERS, dice.choice(found).group()])
    return text[: place.start()] + new + text[place.end() :]


def _other_word(text: str, dice: random.Random) -> str:
    found = list(_WORD.finditer(text))
    if not found:
        return text
    place, other = dice.choice(found), dice.choice(found)
    return text[: place.start()] + other.group() + text[place.end() :]


def _without_line(text: str, dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[dice.randrange(len(lines))]
    return "".join(lines)


def _moved_line(text: str, dice: random.Random) -> str:
    """The text with a line moved or doubled, sometimes with another indentation."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = lines[dice.randrange(len(lines))]
    if dice.random() < 0.5:
        lines.remove(line)
    if dice.random() < 0.3:
        line = dice.choice(["  " + line, line.removeprefix("  "), "- " + line])
    lines.insert(dice.randrange(len(lines) + 1), line)
    return "".join(lines)


def _cut(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + text[at + dice.choice([1, 2, 8, 40, len(text)]) :]


def _inserted(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    new = dice.choice(
        [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\n",
            "- ",
            "&a ",
            "*a",
            "!!python/object:x ",
            "\t",
            "\x07",
            "#",
            '"',
            "|",
            "\ud800",
            "~",
        ]
    )
    return text[:at] + new + text[at:]


TEXT_CHANGES = [
    _other_number,
    _other_number,
    _other_number,
    _other_word,
    _other_word,
    _without_line,
    _moved_line,
    _cut,
    _inserted,
]


def mutated_json(document: Any, dice: random.Random) -> bytes:
    """The JSON document with other values in some parts; sometimes its text is changed too."""
    document = copy.deepcopy(document)
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        document = _changed(document, dice)
    text = json.dumps(document)
    return mutated_text(text, dice) if dice.random() < 0.1 else text.encode()


def _changed(document: Any, dice: random.Random) -> Any:
    holder = _somewhere(document, dice)
    if holder is None:
        return dice.choice(VALUES)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = dice.choice(keys)
    change = dice.choice(["value", "value", "value", "near", "remove", "double", "exchange", "elsewhere"])
    if change == "value":
        holder[key] = copy.deepcopy(dice.choice(VALUES))
    elif change == "near" and isinstance(holder[key], int):
        holder[key] += dice.choice([-1, 1, holder[key], -holder[key]])
    elif change == "remove":
        del holder[key]
    elif change == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif change == "double":
        holder[str(key) + "x"] = holder[key]
    elif change == "exchange":
        other = dice.choice(keys)
        holder[key], holder[other] = holder[other], holder[key]
    else:
        other_holder = _somewhere(document, dice)
        if other_holder is not None:
            values = list(other_holder.values()) if isinstance(other_holder, dict) else other_holder
            holder[key] = copy.deepcopy(dice.choice(values))
    return document


def _somewhere(document: Any, dice: random.Random) -> Any:
    """A list or object that is not empty, at any depth; None where there is none."""
    found = None
    node = document
    while isinstance(node, (dict, list)) and node:
        found = node
        if dice.random() < 0.15:
            break
        node = dice.choice(list(node.values()) if isinstance(node, dict) else node)
    return found
