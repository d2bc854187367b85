"""Upgrades workload files of version 1 to version 2 (docs/workload-fields.md, "Versions").

Version 2 renames three fields without changing their meaning. The upgrade changes the nodes of the YAML document, which
know their lines, so that errors still name the line.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

OLD_VERSION = 1
NEW_VERSION = 2
SCHEDULE = {"think": "compute_time", "together": "barrier"}
ARRAYS = {"filled": "fill_values"}
CONTENTS = ("content", "contents")


def upgrade(document: yaml.Node | None) -> None:
    """Turn a document of version 1 into one of version 2, in place; leave any other unchanged."""
    version = next(_values(document, "workalike"), None)
    if not isinstance(version, yaml.ScalarNode) or version.value != str(OLD_VERSION):
        return
    version.value = str(NEW_VERSION)
    for family in _items(document, "families"):
        for schedule in _values(family, "schedule"):
            _rename(schedule, SCHEDULE)
        for key in CONTENTS:
            for content in _items(family, key):
                for arrays in _items(content, "arrays"):
                    _rename(arrays, ARRAYS)


def _values(node: yaml.Node | None, key: str) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        yield from (value for name, value in node.value if name.value == key)


def _items(node: yaml.Node | None, key: str) -> Iterator[yaml.Node]:
    """The items of the list at a key, or the single value there."""
    for value in _values(node, key):
        yield from value.value if isinstance(value, yaml.SequenceNode) else (value,)


def _rename(node: yaml.Node, names: dict[str, str]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                key.value = names.get(key.value, key.value)
