"""A DLIO workload as a YAML document: its sections and keys, and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import yaml

from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.notes import Notes
from workalike.workload.workload_file import line_of, load_yaml


class DlioDocument:
    """The file at `path`, whose content is `text`.

    Raises:
        WorkalikeError: USAGE for a file that is not a document with sections.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.node, document = load_yaml(text, path, hint="see docs/exchange.md")
        if not isinstance(document, dict):
            self.refuse(("dataset",), "is not a workload of DLIO", "give the section `dataset`")
        self.document: dict[str, Any] = document
        self.notes = Notes()

    def section(self, name: str) -> dict[str, Any]:
        found = self.document.get(name)
        if found is None:
            return {}
        if not isinstance(found, dict):
            self.refuse((name,), "is not a section", "give `key: value` lines")
        return found

    def value(self, section: str, key: str, default: Any) -> Any:
        found = self.section(section).get(key)
        return default if found is None else found

    def flag(self, section: str, key: str, default: bool) -> bool:
        found = self.value(section, key, default)
        if not isinstance(found, bool):
            self.refuse((section, key), f"{str(found)[:40]!r} is neither True nor False", "give one")
        return found

    def number(self, section: str, key: str, default: float, low: float, high: float) -> float:
        found = self.value(section, key, default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not low <= found <= high:
            self.refuse(
                (section, key), f"{str(found)[:40]} is not a number from {low:g} to {high:g}", "give one"
            )
        number: float = found
        return number

    def whole(self, section: str, key: str, default: int, low: int, high: int) -> int:
        found = self.number(section, key, default, low, high)
        if found != round(found):
            self.refuse((section, key), f"{found} is not a whole number", "give one")
        return round(found)

    def refuse(self, keys: tuple[str, ...], message: str, hint: str) -> NoReturn:
        node: yaml.Node | None = self.node
        place = f"line {line_of(node, keys)}, {'.'.join(keys)}"
        raise WorkalikeError(ErrorKind.USAGE, message, file=self.path, place=place, hint=hint)
