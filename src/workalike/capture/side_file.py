"""Reads the file that capture wrote beside a log, LOG.extra.json: the sizes of STDIO calls, which Darshan lacks.

The file is as untrusted as the log: sizes that contradict the log's counters are not used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workalike.file_kind import side_file_of
from workalike.workload.model import MAX_OPERATION_BYTES, Direction

MAX_BYTES = 64 * 2**20
MAX_COUNT = 2**53
LONGEST_NAME = 255

Pair = tuple[int, int]
SizesOfRank = dict[int, dict[Direction, list[Pair]]]
"""Rank -> (operations, size) pairs of each direction."""


class _Call(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    file: str
    rank: int = Field(ge=0)
    reads: list[tuple[int, int]] = []
    writes: list[tuple[int, int]] = []


class _SideFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    stdio_sizes: list[_Call] = []


def stdio_sizes(log: Path, warnings: list[str]) -> dict[str, SizesOfRank]:
    """The sizes of each file's STDIO calls by rank; empty without a side file.

    `warnings` gets a line about a damaged side file.
    """
    path = side_file_of(log)
    try:
        if len(os.fsencode(path.name)) > LONGEST_NAME or not path.is_file():
            return {}
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        side = _SideFile.model_validate_json(path.read_bytes())
        sizes: dict[str, SizesOfRank] = {}
        for call in side.stdio_sizes:
            pairs = {
                Direction.READ: list(_pairs(call.reads)),
                Direction.WRITE: list(_pairs(call.writes)),
            }
            sizes.setdefault(call.file, {})[call.rank] = pairs
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        warnings.append(
            f"the side file {path.name} is not used: {place}{': ' if place else ''}{first['msg']}"
        )
        return {}
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        warnings.append(f"the side file {path.name} is not used: {reason}")
        return {}
    return sizes


def _pairs(pairs: list[tuple[int, int]]) -> Iterator[Pair]:
    for size, count in pairs:
        if not (0 <= size <= MAX_OPERATION_BYTES and 0 < count <= MAX_COUNT):
            raise ValueError(f"{count} calls of {size} bytes")
        yield count, size
