"""Syncs and flushes amid the writes of a dump: `each`, `every 16`, `2 x each`; `end` means none."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, Field, PlainSerializer, WithJsonSchema, model_validator

from workalike.workload.quantities import MAX_OPERATIONS

MOST_CALLS = 1000
"""The engine's limit (engine/core/plan/limits.hpp)."""
PATTERN = r"^\s*(?:end|(?:[1-9][0-9]{0,3}\s*x\s*)?(?:each|every\s+[1-9][0-9]{0,12}))\s*$"
_TEXT = re.compile(r"\s*(?:([1-9][0-9]{0,3})\s*x\s*)?(?:each|every\s+([1-9][0-9]{0,12}))\s*")


class AmidWrites(BaseModel):
    """`calls` of a rank after every `writes` of its writes; with `writes` 0, none."""

    writes: Annotated[int, Field(ge=0, le=MAX_OPERATIONS)] = 0
    calls: Annotated[int, Field(ge=1, le=MOST_CALLS)] = 1

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value.strip() == "end":
            return {}
        match = _TEXT.fullmatch(value)
        if match is None:
            raise ValueError(f"{value[:40]!r} is none of `end`, `each`, `every 16` and `2 x each`")
        return {"calls": int(match[1] or 1), "writes": int(match[2] or 1)}

    def __bool__(self) -> bool:
        return self.writes > 0

    def text(self) -> str:
        if not self:
            return "end"
        often = f"{self.calls} x " if self.calls > 1 else ""
        return often + ("each" if self.writes == 1 else f"every {self.writes}")

    def words(self, call: str) -> str:
        """For a reader: `an fsync after every write`, `2 flushes after every 16 writes`."""
        plural = f"{call}es" if call.endswith("sh") else f"{call}s"
        article = "an" if call == "fsync" else "a"
        calls = f"{article} {call}" if self.calls == 1 else f"{self.calls} {plural}"
        return f"{calls} after every {'write' if self.writes == 1 else f'{self.writes} writes'}"

    def total(self, writes: int) -> int:
        """The calls of a rank that writes so often."""
        return writes // self.writes * self.calls if self else 0


AmidText = Annotated[
    AmidWrites,
    PlainSerializer(lambda amid: amid.text(), return_type=str),
    WithJsonSchema(
        {"type": "string", "pattern": PATTERN, "examples": ["end", "each", "every 16", "2 x each"]}
    ),
]
