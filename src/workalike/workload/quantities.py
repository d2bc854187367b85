"""The types of a workload's fields: sizes, times, ranks and counts, with their limits."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from workalike.workload import units

MAX_RANKS = 2**24
MAX_DUMPS = 200_000  # of one family
MAX_ALL_DUMPS = 1_000_000
MAX_FAMILIES = 10_000
MAX_DATASETS = 10**6
# Limits of the engine (engine/core/plan/limits.hpp).
MAX_OPERATIONS = 2**40
MAX_OPERATION_BYTES = 2**50
MAX_FILE_BYTES = 2**60
MAX_ALIGNMENT = 2**40
MAX_BUFFER_ALIGNMENT = 2**30
DIRECTORY_NAME = "[A-Za-z][A-Za-z0-9-]{0,31}"
"""A word that stands for a directory, which whoever performs the workload names."""
MAX_REPEATS = 1024
MAX_STRIPES = 10**6


def beyond_limit(message: str) -> PydanticCustomError:
    """An error of a validator for what is valid, but more than a workload may state."""
    return PydanticCustomError("limit", "{message}", {"message": message})


class Strict(BaseModel):
    """A part of a document, in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", validate_assignment=False)


def _ranks_in(value: object) -> object:
    """Parse text of a file; accept from code also None and (first, last, step) tuples, which YAML cannot express."""
    if value is None or (isinstance(value, list) and value and all(isinstance(r, tuple) for r in value)):
        return value
    return units.parse_ranks(value)


def _number_or_text(number: str, pattern: str, *examples: str) -> WithJsonSchema:
    text = {"type": "string", "pattern": pattern, "examples": list(examples)}
    return WithJsonSchema({"anyOf": [{"type": number, "minimum": 0}, text]})


Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    PlainSerializer(units.format_size, return_type=str),
    _number_or_text("integer", units.SIZE_PATTERN, "259 MiB"),
]
Seconds = Annotated[
    float,
    BeforeValidator(units.parse_time),
    PlainSerializer(units.format_time, return_type=str),
    _number_or_text("number", units.TIME_PATTERN, "12.5 s"),
]
RankRanges = list[tuple[int, int, int]]
Ranks = Annotated[
    RankRanges | None,
    BeforeValidator(_ranks_in),
    PlainSerializer(units.format_ranks, return_type=str),
    _number_or_text("integer", units.RANKS_PATTERN, "all", "0-511:8"),
]


def _directory_name(text: str) -> str:
    if not re.fullmatch(DIRECTORY_NAME, text):
        raise ValueError("the name of a directory is a letter, then at most 31 letters, digits and -")
    return text


DirectoryName = Annotated[
    str,
    AfterValidator(_directory_name),
    WithJsonSchema({"type": "string", "pattern": f"^{DIRECTORY_NAME}$", "examples": ["fast"]}),
]
Count = Annotated[int, Field(ge=0, le=units.MAX_INT)]
Extent = Annotated[int, Field(ge=1, le=MAX_OPERATION_BYTES)]
Operations = Annotated[int, Field(ge=0, le=MAX_OPERATIONS)]
