"""Filters of datasets: chunks that take less room in the file than the data that were written into them.

A log names no filters. Where a library writes much less than it was given, and nothing was written twice, it compresses.
"""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.contents.arrays.dataspace import chunk_of
from workalike.characterize.result import FamilyFacts
from workalike.facts.counters import collective_of, operations_of
from workalike.facts.rank_sets import ranks_of
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Level

BLOCK = 4096
BLOCKS = 257
"""The engine's payload: zeros and random bytes in so many blocks, and again (engine/core/data/arena.cpp)."""


@dataclass(frozen=True)
class Stored:
    """Bytes that were written into chunked datasets, what the file has of them, and the bytes of the largest chunk."""

    data: int
    stored: int
    chunk: int


def stored_in_chunks(files: Sequence[FileFacts]) -> Stored | None:
    """What the files have of the data in their datasets; None where nothing says that these were compressed."""
    found = [stored for file in files if (stored := _stored(file)) is not None]
    if not found or len(found) < len(files):
        return None
    return joined(found)


def may_filter(files: Sequence[FileFacts]) -> bool:
    """Whether HDF5 can: each file is one rank's, or all its accesses are collective."""
    return all(
        ranks_of(file, Level.H5D).size(file.nprocs) == 1
        or all(
            collective_of(file.modules["H5D"], direction) == operations_of(file.modules["H5D"], direction)
            for direction in Direction
        )
        for file in files
    )


def joined(parts: Iterable[Stored]) -> Stored:
    """Several files as one; at least one is given."""
    parts = list(parts)
    return Stored(
        sum(part.data for part in parts),
        sum(part.stored for part in parts),
        max(part.chunk for part in parts),
    )


def compressibility_in(families: Iterable[FamilyFacts]) -> float:
    """The share of zeros in the payload of the families whose datasets are compressed; 0 without any."""
    found = [stored_in_chunks(facts.files()) for facts in families if facts.family.tunable.deflate]
    known = [stored for stored in found if stored is not None]
    return compressibility_of(joined(known)) if known else 0.0


def compressibility_of(stored: Stored) -> float:
    """The share of zeros in the engine's payload of which deflate leaves as many bytes."""
    wanted = stored.stored / stored.data
    size = min(stored.chunk, THRESHOLDS.deflate_sample)
    few, many = 0, BLOCK * BLOCKS  # random bytes of the payload
    while few < many:
        middle = (few + many) // 2
        if _left(middle, size) < wanted:
            few = middle + 1
        else:
            many = middle
    return round(1 - few / (BLOCK * BLOCKS), 6)


def _left(random_bytes: int, size: int) -> float:
    """The share that deflate leaves of so many bytes of the engine's payload, given the random bytes of the payload."""
    source = random.Random(size)
    data = bytearray()
    for i in range(max(1, min(BLOCKS, size // BLOCK))):
        own = random_bytes * (i + 1) // BLOCKS - random_bytes * i // BLOCKS
        data += bytes(BLOCK - own) + source.randbytes(own)
    return len(zlib.compress(data, THRESHOLDS.deflate_level)) / len(data)


def _stored(file: FileFacts) -> Stored | None:
    h5d = file.modules.get("H5D")
    below = next(
        (
            facts
            for name in ("MPI-IO", "POSIX")
            if (facts := file.modules.get(name)) is not None and facts.total("BYTES_WRITTEN")
        ),
        None,
    )
    if h5d is None or below is None or h5d.partial or below.partial:
        return None
    data, in_file = h5d.total("BYTES_WRITTEN"), below.total("BYTES_WRITTEN")
    rows = np.unique(h5d.ids, return_index=True)[1].tolist()
    sizes = [_sizes(h5d, row) for row in rows]
    known = [pair for pair in sizes if pair is not None]
    if len(known) < len(sizes) or not data or data > sum(size for size, _ in known):
        return None  # not chunked, or written more than once
    if in_file > THRESHOLDS.deflate_most * data:
        return None
    chunks = sum(-(-size // chunk) for size, chunk in known)
    metadata = max(THRESHOLDS.deflate_metadata, THRESHOLDS.deflate_index * chunks)
    return Stored(data, max(1, in_file - metadata), max(chunk for _, chunk in known))


def _sizes(h5d: ModuleFacts, row: int) -> tuple[int, int] | None:
    """Bytes of a dataset and of a chunk of it; None where it is not chunked."""
    element = int(h5d.column("DATATYPE_SIZE")[row])
    rank = max(1, int(h5d.column("DATASPACE_NDIMS")[row]))
    chunk = element * math.prod(chunk_of(h5d, row, rank))
    size = element * int(h5d.column("DATASPACE_NPOINTS")[row])
    return (size, chunk) if size > 0 and chunk > 0 else None
