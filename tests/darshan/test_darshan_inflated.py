"""Compressed regions of a log: broken streams, decompression bombs, and what is inflated when."""

from __future__ import annotations

import bz2
import os
import struct
import tracemalloc
import zlib
from pathlib import Path

import darshan_everything
import pytest
from damaged_logs import GOOD, NAMES, STDIO, made, opened, refused
from darshan_images import Image, named, ramp, record, times

from workalike.darshan import LogBuilder, open_log, record_id
from workalike.errors import ErrorKind, WorkalikeError

# --- compression -------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [0, 1])
def test_broken_streams(path: Path, compression: int) -> None:
    """A wrong checksum, a truncation, and garbage after a good stream; the error names module and byte."""
    pack = {0: zlib.compress, 1: bz2.compress}[compression]
    good = Image(compression=compression, names=NAMES, modules={STDIO: (2, [GOOD, GOOD])}).build()
    offset, length = struct.unpack_from("<2Q", good, 48 + 16 * STDIO)
    second = offset + len(pack(GOOD))
    checksum = good[: second + 20] + bytes([good[second + 20] ^ 4]) + good[second + 21 :]
    error = refused(made(path, checksum), ErrorKind.DAMAGED_LOG, "stream")
    assert error.place == f"module STDIO, byte {second}"

    def with_length(change: int, tail: bytes = b"") -> bytes:
        spoilt = bytearray(good[: offset + length + min(change, 0)] + tail)
        struct.pack_into("<Q", spoilt, 48 + 16 * STDIO + 8, length + change)
        return bytes(spoilt)

    refused(made(path, with_length(-3)), ErrorKind.DAMAGED_LOG, "cut short")
    refused(made(path, with_length(4, b"rest")), ErrorKind.DAMAGED_LOG, "stream")


def test_many_empty_streams(path: Path) -> None:
    """Each stream is cheap; copying the rest after each would cost the square of their number."""
    empty = zlib.compress(b"")
    image = Image(names=NAMES, modules={STDIO: (2, [b""] * 50_000 + [GOOD])})
    assert len(empty) == 8
    table = opened(path, image).records("STDIO")
    assert table is not None and len(table) == 1


def test_streams_of_all_sizes(path: Path) -> None:
    """The window adapts to streams of growing and shrinking sizes."""
    sizes = [1, 3000, 2, 1, 700, 1, 1, 2000, 5]
    streams = []
    row = 0
    for size in sizes:
        rows = range(row, row + size)
        streams.append(b"".join(record("<", 11, -1, ramp(14, 977 * number), times(15)) for number in rows))
        row += size
    table = opened(path, Image(names=NAMES, modules={STDIO: (2, streams)})).records("STDIO")
    assert table is not None
    assert table["OPENS"].tolist() == [977 * number for number in range(row)]


def bomb(size: int, compression: int) -> bytes:
    """``size`` zeros, compressed as much as possible."""
    if compression == 1:
        return bz2.compress(bytes(1 << 20)) * (size >> 20)
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


@pytest.mark.parametrize("compression", [0, 1])
@pytest.mark.parametrize("where", ["job", "names", "module"])
def test_bombs(path: Path, compression: int, where: str) -> None:
    """A region of 256 MiB of zeros in a small file gives an error with a hint."""
    packed = bomb(256 << 20, compression)
    good = Image(compression=compression, names=NAMES, modules={STDIO: (2, [GOOD])}).build()
    names, names_length, *_ = struct.unpack_from("<2Q", good, 32)
    module, module_length = struct.unpack_from("<2Q", good, 48 + 16 * STDIO)
    parts = [good[1328:names], good[names : names + names_length], good[module : module + module_length]]
    parts[["job", "names", "module"].index(where)] = packed
    header = bytearray(good[:1328])
    struct.pack_into("<2Q", header, 32, 1328 + len(parts[0]), len(parts[1]))
    struct.pack_into("<2Q", header, 48 + 16 * STDIO, 1328 + len(parts[0]) + len(parts[1]), len(parts[2]))
    made(path, bytes(header) + b"".join(parts))
    tracemalloc.start()
    try:
        refused(path, ErrorKind.DAMAGED_LOG, "inflate to more than", "WORKALIKE_MAX_REGION_BYTES")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 << 20


@pytest.mark.parametrize("compression", [0, 2])
def test_a_region_as_large_as_a_sparse_file(path: Path, compression: int) -> None:
    """A sparse file of a terabyte, of which nothing is read."""
    size = 1 << 40
    good = bytearray(Image(compression=compression, names=NAMES, modules={STDIO: (2, [GOOD])}).build())
    (offset,) = struct.unpack_from("<Q", good, 48 + 16 * STDIO)
    struct.pack_into("<Q", good, 48 + 16 * STDIO + 8, size - offset)
    path.write_bytes(good)
    os.truncate(path, size)
    refused(path, ErrorKind.DAMAGED_LOG, "inflate to more than", "module STDIO")


def test_a_bomb_of_names(path: Path) -> None:
    """A few bytes that would become hundreds of thousands of Python objects."""
    honest = b"".join(named("3.41", "<", record_id(str(number)), b"same name") for number in range(20_000))
    assert len(opened(path, Image(name_region=honest)).names) == 20_000
    image = Image(name_region=named("3.41", "<", 5, b"") * 300_000)
    refused(made(path, image), ErrorKind.DAMAGED_LOG, "more names than it has bytes")
    # Names with a length before them that are all the same stay one object.
    image = Image("3.00", name_region=named("3.00", "<", 5, b"x") * 300_000)
    assert opened(path, image).names == {5: "x"}


def test_the_cap_can_be_moved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower and a higher limit, by argument and by environment; the argument has precedence."""
    zeros = bytes(248 * 300_000)  # 71 MiB: above the default limit for so few compressed bytes
    image = Image(modules={STDIO: (2, [zeros])})
    refused(made(path, image), ErrorKind.DAMAGED_LOG, "inflate to more than")
    table = open_log(path, max_region_bytes=100 << 20).records("STDIO")
    assert table is not None and len(table) == 300_000
    monkeypatch.setenv("WORKALIKE_MAX_REGION_BYTES", str(100 << 20))
    assert open_log(path).records("STDIO") is not None
    monkeypatch.setenv("WORKALIKE_MAX_REGION_BYTES", "2000")
    refused(path, ErrorKind.DAMAGED_LOG, "more than 2000")
    assert open_log(path, max_region_bytes=100 << 20).records("STDIO") is not None
    monkeypatch.setenv("WORKALIKE_MAX_REGION_BYTES", "9" * 30)
    assert open_log(path).records("STDIO") is not None
    for wrong in ("", "2 GiB", "-1", "0", "٣", "9" * 10_000):
        monkeypatch.setenv("WORKALIKE_MAX_REGION_BYTES", wrong)
        with pytest.raises(WorkalikeError) as caught:
            open_log(path)
        assert caught.value.kind == ErrorKind.USAGE


# --- reading -----------------------------------------------------------------------------------------


def test_only_what_is_asked_for_is_inflated(path: Path) -> None:
    """Damage in one module does not prevent reading the others."""
    image = bytearray(darshan_everything.builder().image())
    (names,) = struct.unpack_from("<Q", image, 32)
    offset, length = struct.unpack_from("<2Q", image, 48 + 16)
    image[names + 5] ^= 1
    image[offset + length - 1] ^= 1
    log = open_log(made(path, bytes(image)))
    assert log.job.nprocs == 4
    assert log.records("STDIO") is not None
    for ask in (lambda: log.names, lambda: log.records("POSIX")):
        with pytest.raises(WorkalikeError):
            ask()


def test_large_logs_are_read_in_parts(path: Path) -> None:
    """Of a large file, only the requested regions are read; a change of the file is noticed."""
    log = LogBuilder(nprocs=2).posix("/a", 1, WRITES=3)
    segments = [(index, 1, index * 1.5, index * 1.75 + 0.001 * (index % 97)) for index in range(200_000)]
    log.dxt_posix("/a", 1, writes=segments)
    log.write(path)
    assert path.stat().st_size > 1 << 20
    read = open_log(path)
    table, trace = read.records("POSIX"), read.dxt("DXT_POSIX")
    assert table is not None and table["WRITES"].tolist() == [3]
    assert trace is not None and trace.segments(0)[0].tolist() == segments

    stale = open_log(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(WorkalikeError) as caught:
        stale.dxt("DXT_POSIX")
    assert caught.value.kind == ErrorKind.DAMAGED_LOG and "changed" in caught.value.message
    stale = open_log(made(path, log.image()))
    path.unlink()
    with pytest.raises(WorkalikeError) as caught:
        stale.dxt("DXT_POSIX")
    assert caught.value.kind == ErrorKind.MISSING


def test_lack_of_memory_is_an_error_like_others(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> None:
        raise MemoryError

    log = open_log(darshan_everything.builder().write(path))
    for name in ("read_names", "decode_records", "decode_lustre", "decode_heatmaps", "decode_dxt"):
        monkeypatch.setattr(f"workalike.darshan.log.{name}", no_memory)
    asks = (
        lambda: log.names,
        lambda: log.records("POSIX"),
        log.lustre,
        log.heatmaps,
        lambda: log.dxt("DXT_POSIX"),
    )
    for ask in asks:
        with pytest.raises(WorkalikeError, match="more than fits into memory"):
            ask()


def test_results_are_kept(path: Path) -> None:
    log = open_log(darshan_everything.builder().write(path))
    assert log.records("POSIX") is log.records("POSIX")
    assert log.dxt("DXT_POSIX") is log.dxt("DXT_POSIX")
    assert log.lustre() is log.lustre()
    assert log.heatmaps() is log.heatmaps()
    assert log.names is log.names
