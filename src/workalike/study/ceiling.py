"""What a file system gives one process: a short measurement with repeats, beside which a bandwidth is a share.

It is not a benchmark of the file system: one process of one node, and a file that is usually smaller than memory.
`write` ends with an fsync, `write_cached` does not; `read` is asked from the storage (the pages are dropped first, as
far as the file system follows the advice), `read_cached` from memory. Small random reads are asked from the storage.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import free_bytes, write_text, writing
from workalike.leftovers import scratch_folder
from workalike.study import system

FORMAT = "workalike-machine"
BLOCK = 4 * 2**20
SMALL = 4096
SMALL_OPERATIONS = 256
FILES = 200
SYNCS = 20


def measure(directory: Path, size: int, repeats: int) -> dict[str, Any]:
    """The machine file's content; files in `directory` are removed.

    Args:
        directory: on the file system to measure.
        size: bytes of the file that is written and read.
        repeats: how often each is measured, one after the other in turn.

    Raises:
        WorkalikeError: USAGE if the directory does not exist or has no room; CANNOT_WRITE.
    """
    if not directory.is_dir():
        raise WorkalikeError(
            ErrorKind.USAGE, "is not a directory", file=directory, hint="name an existing one"
        )
    size = max(BLOCK, size // BLOCK * BLOCK)
    free = free_bytes(directory)
    if free is not None and 2 * size > free:  # the file that is read, and one that the page cache takes
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"has no room for two files of {size:,} bytes",
            file=directory,
            hint="lower --size",
        )
    values: dict[str, list[float]] = {name: [] for name in UNITS}
    with writing(directory, "check rights and space"), scratch_folder(directory) as folder:
        for number in range(repeats):
            for name, kind in KINDS.items():
                values[name].append(kind(folder, size, number))
    return {
        "format": FORMAT,
        "version": 1,
        "processes": 1,
        "file_bytes": size,
        "system_id": system.system_id(directory),
        "system": system.describe({str(directory): directory}),
        "ceilings": {
            name: {"unit": UNITS[name], "median": statistics.median(found), "values": found}
            for name, found in values.items()
        },
    }


def write_machine(machine: dict[str, Any], path: Path) -> None:
    """Write a machine file.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_text(path, json.dumps(machine, indent=1) + "\n")


def _write(folder: Path, size: int, _: int) -> float:
    """Sequential writes of 4 MiB and an fsync, bytes per second."""
    return _written(folder / "large", size, is_synced=True)


def _write_cached(folder: Path, size: int, _: int) -> float:
    """Sequential writes of 4 MiB that the page cache may keep, bytes per second."""
    try:
        return _written(folder / "cached", size, is_synced=False)
    finally:
        # Before its pages are written back, which would disturb the next measurement.
        (folder / "cached").unlink(missing_ok=True)


def _written(path: Path, size: int, *, is_synced: bool) -> float:
    block = memoryview(random.Random(1).randbytes(BLOCK))
    begin = time.perf_counter()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        for _block in range(size // BLOCK):
            _write_all(descriptor, block)
        if is_synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return size / (time.perf_counter() - begin)


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read(folder: Path, size: int, _: int) -> float:
    descriptor = os.open(folder / "large", os.O_RDONLY)
    try:
        _drop_pages(descriptor)
        return _read_through(descriptor, size)
    finally:
        os.close(descriptor)


def _drop_pages(descriptor: int) -> None:
    """Ask that the file's pages leave memory; not every file system does."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _read_cached(folder: Path, size: int, _: int) -> float:
    descriptor = os.open(folder / "large", os.O_RDONLY)
    try:
        _read_through(descriptor, size)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return _read_through(descriptor, size)
    finally:
        os.close(descriptor)


def _read_through(descriptor: int, size: int) -> float:
    buffer = bytearray(BLOCK)
    begin = time.perf_counter()
    while os.readv(descriptor, [buffer]):
        pass
    return size / (time.perf_counter() - begin)


def _small_reads(folder: Path, size: int, number: int) -> float:
    """Reads of 4 KiB at random places of the file, from the storage, per second."""
    descriptor = os.open(folder / "large", os.O_RDONLY)
    try:
        _drop_pages(descriptor)
        begin = time.perf_counter()
        for place in _random_places(size, number):
            os.pread(descriptor, SMALL, place)
        return SMALL_OPERATIONS / (time.perf_counter() - begin)
    finally:
        os.close(descriptor)


def _small_writes(folder: Path, size: int, number: int) -> float:
    """Writes of 4 KiB at random places of the file, with an fsync at the end, per second."""
    data = random.Random(2).randbytes(SMALL)
    descriptor = os.open(folder / "large", os.O_WRONLY)
    try:
        begin = time.perf_counter()
        for place in _random_places(size, number):
            os.pwrite(descriptor, data, place)
        os.fsync(descriptor)
        return SMALL_OPERATIONS / (time.perf_counter() - begin)
    finally:
        os.close(descriptor)


def _random_places(size: int, number: int) -> list[int]:
    """Offsets of small blocks in a file, other ones for each repeat."""
    return [
        SMALL * block for block in random.Random(number).choices(range(size // SMALL), k=SMALL_OPERATIONS)
    ]


def _files(folder: Path, _: int, number: int) -> float:
    """Files created, asked for and removed, per second."""
    names = [folder / f"small-{number}-{i}" for i in range(FILES)]
    begin = time.perf_counter()
    for name in names:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    for name in names:
        name.stat()
    for name in names:
        name.unlink()
    return FILES / (time.perf_counter() - begin)


def _sync(folder: Path, _: int, __: int) -> float:
    """Median seconds of a write of 4 KiB with an fsync."""
    data = random.Random(3).randbytes(SMALL)
    times = []
    descriptor = os.open(folder / "synced", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for _i in range(SYNCS):
            begin = time.perf_counter()
            os.write(descriptor, data)
            os.fsync(descriptor)
            times.append(time.perf_counter() - begin)
    finally:
        os.close(descriptor)
    return statistics.median(times)


KINDS: dict[str, Callable[[Path, int, int], float]] = {
    "write_cached": _write_cached,
    "write": _write,
    "read": _read,
    "read_cached": _read_cached,
    "small_random_reads": _small_reads,
    "small_random_writes": _small_writes,
    "files_created_and_removed": _files,
    "sync_latency": _sync,
}
UNITS = {
    "write_cached": "B/s",
    "write": "B/s",
    "read": "B/s",
    "read_cached": "B/s",
    "small_random_reads": "operations/s",
    "small_random_writes": "operations/s",
    "files_created_and_removed": "files/s",
    "sync_latency": "s",
}
