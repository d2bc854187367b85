"""Reads the file that capture wrote beside a log, LOG.extra.json, with what Darshan lacks.

These are sizes of STDIO calls, truncations and removals of files, calls on HDF5 attributes, and the CPU time of processes.

The file is as untrusted as the log: sizes that contradict the log's counters are not used.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workalike.file_kind import side_file_of
from workalike.workload.model import MAX_OPERATION_BYTES, Direction
from workalike.workload.quantities import MAX_RANKS

MAX_BYTES = 64 * 2**20
MAX_COUNT = 2**53
MAX_SECONDS = 1e10
LONGEST_NAME = 255
COUNTS_REMOVALS = 2
"""The version of the file since which removals are counted; some files of version 1 have them, too."""

LIBRARIES = ("hdf5", "pnetcdf", "netcdf", "mpi")
"""The libraries of which the side file has the version."""
_VERSION = re.compile(r"[A-Za-z0-9._+()*:, -]{1,80}")

Pair = tuple[int, int]
SizesOfRank = dict[int, dict[Direction, list[Pair]]]
"""Rank -> (operations, size) pairs of each direction."""


class _Call(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    file: str
    rank: int = Field(ge=0, lt=MAX_RANKS)
    reads: list[tuple[int, int]] = []
    writes: list[tuple[int, int]] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    file: str
    truncations: int = Field(default=0, ge=0, le=MAX_COUNT)
    removals: int = Field(default=0, ge=0, le=MAX_COUNT)


class _Hdf5(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    file: str
    attributes_created: int = Field(default=0, ge=0, le=MAX_COUNT)
    attributes_opened: int = Field(default=0, ge=0, le=MAX_COUNT)
    attributes_written: int = Field(default=0, ge=0, le=MAX_COUNT)


class _Process(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    start: float = Field(ge=0, le=MAX_SECONDS)
    end: float = Field(ge=0, le=MAX_SECONDS)
    cpu_s: float = Field(ge=0, le=MAX_SECONDS)
    waited_s: float = Field(default=0, ge=0, le=MAX_SECONDS)


class _Library(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    name: str
    version: str


class _SideFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    version: int = 1
    stdio_sizes: list[_Call] = []
    files: list[_File] = []
    processes: list[_Process] = []
    hdf5: list[_Hdf5] = []
    libraries: list[_Library] = []


@dataclass(frozen=True)
class ProcessTime:
    """Seconds: when a process began and ended on the job's clock, the CPU time of all its threads, and how long the first
    of them waited for a core."""

    start: float
    end: float
    cpu: float
    waited: float = 0.0


@dataclass
class SideFile:
    """By name of a file: the sizes of its STDIO calls by rank, how often it was emptied after it was written, how often
    its name was deleted, and the HDF5 calls on its attributes (created, opened, written).

    `counts_removals` says whether it was written by a capture that counts them: older ones did not.
    `processes` has one item for each process whose CPU time is known. `libraries` has the versions of I/O libraries that
    the program has loaded, by name.
    """

    stdio_sizes: dict[str, SizesOfRank] = field(default_factory=dict)
    truncations: dict[str, int] = field(default_factory=dict)
    removals: dict[str, int] = field(default_factory=dict)
    processes: list[ProcessTime] = field(default_factory=list)
    attribute_calls: dict[str, int] = field(default_factory=dict)
    counts_removals: bool = False
    libraries: dict[str, str] = field(default_factory=dict)


def read_side_file(log: Path, warnings: list[str]) -> SideFile:
    """What the side file of a log reports; nothing without one.

    `warnings` gets a line about a damaged side file.
    """
    path = side_file_of(log)
    try:
        if len(os.fsencode(path.name)) > LONGEST_NAME or not path.is_file():
            return SideFile()
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
        truncations: Counter[str] = Counter()
        removals: Counter[str] = Counter()
        for counted in side.files:
            truncations[counted.file] += counted.truncations
            removals[counted.file] += counted.removals
        attributes: Counter[str] = Counter()
        for row in side.hdf5:
            attributes[row.file] += row.attributes_created + row.attributes_opened + row.attributes_written
        for calls in (truncations, removals, attributes):
            if calls and max(calls.values()) > MAX_COUNT:
                raise ValueError(f"a file has more than {MAX_COUNT} calls of a kind")
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        warnings.append(
            f"the side file {path.name} is not used: {place}{': ' if place else ''}{first['msg']}"
        )
        return SideFile()
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        warnings.append(f"the side file {path.name} is not used: {reason}")
        return SideFile()
    processes = [ProcessTime(p.start, p.end, p.cpu_s, p.waited_s) for p in side.processes]
    counts = side.version >= COUNTS_REMOVALS or any("removals" in row.model_fields_set for row in side.files)
    libraries = {
        library.name: library.version
        for library in side.libraries
        if library.name in LIBRARIES and _VERSION.fullmatch(library.version)
    }
    return SideFile(sizes, dict(truncations), dict(removals), processes, dict(attributes), counts, libraries)


def _pairs(pairs: list[tuple[int, int]]) -> Iterator[Pair]:
    for size, count in pairs:
        if not (0 <= size <= MAX_OPERATION_BYTES and 0 < count <= MAX_COUNT):
            raise ValueError(f"{count} calls of {size} bytes")
        yield count, size
