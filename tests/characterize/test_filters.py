"""Compressed datasets: what a file has of them, and a payload that deflate leaves as much of."""

from __future__ import annotations

import random
import zlib

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.contents.arrays.filters import (
    BLOCK,
    BLOCKS,
    Stored,
    compressibility_of,
    joined,
    may_filter,
    stored_in_chunks,
)
from workalike.characterize.contents.tunables import tunable_of
from workalike.facts.records import FileFacts
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Interface, Level, Workload

POINTS = 1_000_000
CHUNKS = 10


def made(
    *,
    below: int = 50_000,
    written: int = 4 * POINTS,
    chunk: int = POINTS // CHUNKS,
    rank: int = 0,
    **more: int,
) -> FileFacts:
    """A file of one dataset of 4-byte values in chunks, and its bytes at POSIX."""
    h5d = {
        "WRITES": 1, "BYTES_WRITTEN": written, "DATASPACE_NDIMS": 1, "DATASPACE_NPOINTS": POINTS,
        "DATATYPE_SIZE": 4, "CHUNK_SIZE_D1": chunk, "OPENS": 1, **more,
    }  # fmt: skip
    posix = {"OPENS": 1, "WRITES": 13, "BYTES_WRITTEN": below}
    return file_facts("/data/a.h5", module_facts("H5D", {rank: h5d}), module_facts("POSIX", {rank: posix}))


def test_what_the_file_has_of_the_data() -> None:
    assert stored_in_chunks([made()]) == Stored(4 * POINTS, 50_000 - 4096, 4 * POINTS // CHUNKS)
    many = made(chunk=100)  # 10,000 chunks: their index is larger
    assert stored_in_chunks([made(below=3_000_000, chunk=100)]) == Stored(4_000_000, 3_000_000 - 480_000, 400)
    assert stored_in_chunks([many]) == Stored(4_000_000, 1, 400)
    assert stored_in_chunks([made(), made()]) == Stored(8 * POINTS, 2 * (50_000 - 4096), 400_000)
    assert joined([Stored(10, 5, 2), Stored(20, 1, 4)]) == Stored(30, 6, 4)


@pytest.mark.parametrize(
    "file",
    [
        made(below=3_700_000),  # the file has most of it
        made(written=8 * POINTS),  # written twice: the library's cache may have joined the two
        made(chunk=0),  # contiguous
        file_facts(
            "/data/a.h5", module_facts("H5D", {0: {"BYTES_WRITTEN": 4}})
        ),  # the level below is unknown
        made(below=0),
    ],
)
def test_data_that_are_not_known_to_be_compressed(file: FileFacts) -> None:
    assert stored_in_chunks([file]) is None
    assert stored_in_chunks([made(), file]) is None
    assert tunable_of([file], Level.H5D, Interface.HDF5)[0].deflate is None


def test_filters_need_one_rank_or_collective_calls() -> None:
    assert may_filter([made()])
    assert not may_filter([made(rank=-1)])
    assert may_filter([made(rank=-1, USE_MPIIO_COLLECTIVE=1)])
    tunable, rules = tunable_of([made()], Level.H5D, Interface.HDF5)
    assert tunable.deflate == 4
    assert any("45,904 bytes of the 4,000,000" in rule.sentence for rule in rules)
    assert tunable_of([made(rank=-1)], Level.H5D, Interface.HDF5)[0].deflate is None


@pytest.mark.parametrize("share", [0.0018, 0.01, 0.1, 0.5, 0.85])
@pytest.mark.parametrize("chunk", [400_000, 65_536])
def test_the_payload_compresses_as_the_data_did(share: float, chunk: int) -> None:
    found = compressibility_of(Stored(10**9, round(share * 10**9), chunk))
    random_bytes = round((1 - found) * BLOCK * BLOCKS)
    source = random.Random(1)
    payload = b"".join(
        bytes(BLOCK - own) + source.randbytes(own)
        for i in range(chunk // BLOCK)
        for own in [random_bytes * (i + 1) // BLOCKS - random_bytes * i // BLOCKS]
    )
    assert len(zlib.compress(payload, 4)) == pytest.approx(share * len(payload), rel=0.05)


def test_the_users_compressibility_takes_precedence() -> None:
    family = {
        "role": "output", "interface": "posix", "schedule": {"start": [1]},
        "content": {"streams": [{"direction": "write", "sizes": ["4 x 1 KiB"]}]},
    }  # fmt: skip
    document = {"workalike": 2, "ranks": 1, "compressibility": 0.5, "families": [family]}
    workload = Workload.model_validate(document)
    assert resolve(workload, Options()).payload.compressibility == 0.5
    assert resolve(workload, Options(compressibility=0.0)).payload.compressibility == 0.0


def test_data_that_compress_more_than_zeros_are_zeros() -> None:
    assert compressibility_of(Stored(10**9, 1, 400_000)) == 1.0
