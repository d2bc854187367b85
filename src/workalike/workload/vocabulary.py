"""All words that a workload file may contain, from the schema."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from workalike.workload.long_lists import KEY, MARK
from workalike.workload.model import Workload
from workalike.workload.units import SIZE_UNITS, TIME_UNITS
from workalike.workload.words import Difference

SYNTAX_WORDS = ("all", "and", "or", "x", "rank", "true", "false", "null")  # of ranks, entries and YAML
WORD = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


@functools.cache
def schema_words() -> frozenset[str]:
    """Names of fields, words of closed lists and units, in lower case."""
    found = {word.lower() for word in (*SYNTAX_WORDS, *SIZE_UNITS, *TIME_UNITS)}
    found.update(reading.value for reading in Difference)
    found.update(_words_of(Workload.model_json_schema()))
    found.update((KEY, MARK))  # the file with long lists is not a field of the model
    return frozenset(found)


def _words_of(schema: Any) -> Iterator[str]:
    """Names of properties and enumerated values, anywhere in a JSON schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _words_of(item)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "properties":
            yield from (name.lower() for name in value)
            yield from _words_of(list(value.values()))
        elif key in ("enum", "const"):
            yield from (
                v.lower() for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)
            )
        elif key not in ("default", "examples", "description", "title", "required", "pattern"):
            yield from _words_of(list(value.values()) if key == "$defs" else value)
