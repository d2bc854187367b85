"""Paths to tokens, component by component: the same component has the same token wherever it is.

A component is its words, its numbers and an extension. The words become one token. A number becomes its place among
the numbers that components of these words have, with its width where it is padded with zeros. So the files of a folder
stay in a folder, those of a series in a series and in order, and a dataset stays in its file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.anonymize import public
from workalike.fleet.anonymize.key import Key

_SEPARATORS = re.compile(r"([/:])")
_HASH = re.compile(
    r"(?<![0-9a-zA-Z])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}(?![0-9a-zA-Z])"
)
_VARYING = re.compile(rf"({_HASH.pattern})|(\d+)", re.ASCII)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d{1,2})?", re.ASCII)
_ONLY_DIGITS = re.compile(r"\d{5,}", re.ASCII)
_TRUNCATED = "<TRUNCATED>"

Series = tuple[str, int]
"""The words of a component with placeholders, and which of its numbers."""


class Paths:
    """The tokens of all paths of some logs.

    Args:
        key: what tokens follow from.
        names: the files that will be asked for; the places of numbers follow from all names, folders and commands.
        folders: folders that will be asked for.
        commands: command lines that will be asked for.
    """

    def __init__(
        self, key: Key, names: Iterable[str], folders: Iterable[str] = (), commands: Iterable[str] = ()
    ) -> None:
        self._key = key
        self._numbers: dict[Series, set[str]] = defaultdict(set)
        self._places: dict[Series, dict[str, str]] = {}
        self._known: dict[tuple[str, bool], str] = {}
        self._owners: dict[str, str] = {}
        words = (word for line in commands for word in line.split(" "))
        for name in (*names, *words):
            for part, base, public_word in _parts(name):
                if not public_word:
                    self._collect(part, base)
        for name in folders:
            for part, _, public_word in _parts(name):
                if not public_word:
                    self._collect(part, base=False)

    def path(self, name: str, *, folder: bool = False) -> str:
        """The new name of a file or dataset, or of a folder. Names that are not paths stay (`public.NAMES`)."""
        if name in public.NAMES:
            return name
        return "".join(
            part if public_word else self._component(part, base and not folder)
            for part, base, public_word in _parts(name)
        )

    def command(self, line: str) -> str:
        """A command line, word by word."""
        return " ".join(_TRUNCATED if word == _TRUNCATED else self.path(word) for word in line.split(" "))

    def _collect(self, part: str, base: bool) -> None:
        if _fixed_form(part, base):
            return
        words, fields, _ = _split(part, base)
        for place, (text, is_hash) in enumerate(fields):
            if not is_hash:
                self._numbers[words, place].add(text)

    def _component(self, part: str, base: bool) -> str:
        found = self._known.get((part, base))
        if found is None:
            found = self._known[part, base] = self._new(part, base)
        return found

    def _new(self, part: str, base: bool) -> str:
        if base and _ONLY_DIGITS.fullmatch(part):
            return self._key.digits("name of digits", part)
        for pattern, form in public.MPI_FILES:
            if pattern.fullmatch(part):
                return form.replace("{}", self._token("file of MPI", part))
        words, fields, extension = _split(part, base)
        out = [self._token("words", words)]
        for place, (text, is_hash) in enumerate(fields):
            out.append(self._key.hexadecimal("hash", text) if is_hash else self._place((words, place), text))
        return "-".join(out) + extension

    def _token(self, kind: str, text: str) -> str:
        token = self._key.word(kind, text)
        if self._owners.setdefault(token, f"{kind} {text}") != f"{kind} {text}":
            raise WorkalikeError(
                ErrorKind.USAGE, "two names have the same token with this key", hint="use another key"
            )
        return token

    def _place(self, series: Series, text: str) -> str:
        """The place of a number among those of its series, from 0."""
        places = self._places.get(series)
        if places is None:
            places = self._places[series] = _places(self._numbers[series])
        return places[text]


def _places(numbers: set[str]) -> dict[str, str]:
    """Each number's place; where one is padded with zeros, numbers of each width have places of that width."""
    padded = any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in numbers)
    groups: dict[int, list[str]] = defaultdict(list)
    for text in numbers:
        groups[len(text) if padded else 0].append(text)
    return {
        text: str(place).zfill(width)
        for width, texts in groups.items()
        for place, text in enumerate(sorted(texts, key=lambda text: (Decimal(text), text)))
    }


def _parts(name: str) -> Iterable[tuple[str, bool, bool]]:
    """(text, whether it ends a path, whether it stays) of each component and separator."""
    if name in public.NAMES:
        return
    parts = _SEPARATORS.split(name)
    last = len(parts) - 1
    for at, part in enumerate(parts):
        stays = bool(at % 2) or part in ("", ".", "..") or (at < last and _is_public(parts, at))
        yield part, not stays and (at == last or parts[at + 1] == ":"), stays


def _is_public(parts: list[str], at: int) -> bool:
    """Whether a component, which is not the last, is a folder that many systems have."""
    if at == 2 and parts[0] == "" and parts[at] in public.SYSTEM_FOLDERS:
        return True
    return parts[at] in public.FOLDERS or (parts[at] == "lib" and parts[at - 2] in public.JAVA)


def _fixed_form(part: str, base: bool) -> bool:
    """Whether the component has a form without numbers of a series."""
    if base and _ONLY_DIGITS.fullmatch(part):
        return True
    return any(pattern.fullmatch(part) for pattern, _ in public.MPI_FILES)


def _split(part: str, base: bool) -> tuple[str, list[tuple[str, bool]], str]:
    """Words with placeholders, (number or hexadecimal id, whether it is the latter), and the public extension."""
    stem, extension = _extension(part)
    if not base and _NUMBER.fullmatch(part):
        return "\1\3", [(part, False)], ""
    fields = [(match.group(), match.group(1) is not None) for match in _VARYING.finditer(stem)]
    words = _VARYING.sub(lambda match: "\2" if match.group(1) is not None else "\1", stem)
    return f"{words}\3{extension}", fields, extension


def _extension(part: str) -> tuple[str, str]:
    """The component without its public extension, and that; an extension that is added leaves the component whole."""
    if public.SHARED_LIBRARY.fullmatch(part):
        return part[: -len(".so")] if part.endswith(".so") else part, ".so"
    if public.TEXT_LOG.fullmatch(part):
        return part, ".log"
    stem, dot, extension = part.rpartition(".")
    if stem and dot and extension in public.EXTENSIONS:
        return stem, f".{extension}"
    return part, ""
