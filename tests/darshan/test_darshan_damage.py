"""Files that are not logs, and logs with known damage."""

from __future__ import annotations

import os
import random
import struct
import zlib
from pathlib import Path

import pytest
from damaged_logs import GOOD, NAMES, STDIO, left_out, made, opened, refused
from darshan_images import Image, named, ramp, record, times
from known_logs import package

from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError

# --- not a log ---------------------------------------------------------------------------------------


def test_files_that_are_not_there_or_not_files(tmp_path: Path, path: Path) -> None:
    refused(path, ErrorKind.MISSING, "No such file")
    refused(tmp_path, ErrorKind.UNSUPPORTED_LOG, "not a regular file")
    os.mkfifo(path)
    refused(path, ErrorKind.UNSUPPORTED_LOG, "not a regular file")  # and does not wait for a writer
    with pytest.raises(WorkalikeError) as caught:
        open_log("a\0b")
    assert caught.value.kind == ErrorKind.MISSING


@pytest.mark.parametrize(
    ("content", "kind", "word"),
    [
        (b"", ErrorKind.DAMAGED_LOG, "empty"),
        (b"3.41", ErrorKind.DAMAGED_LOG, "within the header"),
        (bytes(4096), ErrorKind.DAMAGED_LOG, "still running"),
        (b"\x1f\x8b\x08\x00" + bytes(100), ErrorKind.UNSUPPORTED_LOG, "Darshan 1"),
        (b"BZh91AY&SY" + bytes(100), ErrorKind.UNSUPPORTED_LOG, "Darshan 1"),
        (b"# darshan log version: 3.41\n# exe: ./app", ErrorKind.UNSUPPORTED_LOG, "not a Darshan log"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), ErrorKind.UNSUPPORTED_LOG, "not a Darshan log"),
    ],
)
def test_files_that_are_not_logs(path: Path, content: bytes, kind: ErrorKind, word: str) -> None:
    refused(made(path, content), kind, word)


@pytest.mark.parametrize(
    "version", [b"3.99\0\0\0\0", b"2.06\0\0\0\0", b"3.4\0\0\0\0\0", b"\xff\n\x1b[1m\0\0"]
)
def test_unknown_formats(path: Path, version: bytes) -> None:
    image = version + Image().build()[8:]
    error = refused(made(path, image), ErrorKind.UNSUPPORTED_LOG, "log format", "3.41")
    assert error.one_line().isprintable()


# --- truncation, header ------------------------------------------------------------------------------


def test_truncated_anywhere(path: Path) -> None:
    """Every truncation is noticed before anything is read."""
    image = package("ior_hdf5_example").read_bytes()
    path.write_bytes(image)
    for length in range(len(image) - 1, 0, -1):
        os.truncate(path, length)
        with pytest.raises(WorkalikeError) as caught:
            open_log(path)
        assert caught.value.kind == ErrorKind.DAMAGED_LOG


def test_unknown_compression(path: Path) -> None:
    refused(
        made(path, Image(header_edit=lambda header: header.__setitem__(16, 3))), ErrorKind.DAMAGED_LOG, "3"
    )


def edit(where: int, *values: int) -> Image:
    """A log of one STDIO record with u64s in the header overwritten."""
    return Image(
        names=NAMES,
        modules={STDIO: (2, [GOOD])},
        header_edit=lambda header: struct.pack_into(f"<{len(values)}Q", header, where, *values),
    )


@pytest.mark.parametrize("offset", [0, 1, 1327, 1328, 1329, 1 << 32, (1 << 64) - 1])
def test_regions_in_wrong_places(path: Path, offset: int) -> None:
    refused(made(path, edit(48 + 16 * STDIO, offset, 40)), ErrorKind.DAMAGED_LOG)
    refused(made(path, edit(32, offset, 12)), ErrorKind.DAMAGED_LOG)


@pytest.mark.parametrize("length", [1 << 20, (1 << 63) - 1, (1 << 64) - 1])
def test_regions_that_are_too_long(path: Path, length: int) -> None:
    good = edit(0).build()
    (offset,) = struct.unpack_from("<Q", good, 48 + 16 * STDIO)
    error = refused(made(path, edit(48 + 16 * STDIO, offset, length)), ErrorKind.DAMAGED_LOG, "the file ends")
    assert error.place == "module STDIO"


def test_overlapping_regions(path: Path) -> None:
    """The POSIX region overlaps that of STDIO."""
    image = edit(0).build()
    offset, length = struct.unpack_from("<2Q", image, 48 + 16 * STDIO)
    refused(made(path, edit(64, offset, length)), ErrorKind.DAMAGED_LOG, "within the region before it")


def test_bytes_that_belong_to_no_region(path: Path) -> None:
    image = Image(names=NAMES, modules={STDIO: (2, [GOOD])}).build()
    log = open_log(made(path, image + b"tail"))
    assert log.warnings == [f"4 bytes at byte {len(image)}, the end of the file, belong to no region"]
    length = len(image) - struct.unpack_from("<Q", image, 48 + 16 * STDIO)[0]
    log = opened(path, edit(48 + 16 * STDIO, 0, 0))
    assert log.modules == {}
    assert log.warnings == [
        f"{length} bytes at byte {len(image) - length}, the end of the file, belong to no region"
    ]


# --- job and names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("nprocs", [0, -1, -(1 << 63), 1 << 31])
def test_impossible_number_of_processes(path: Path, nprocs: int) -> None:
    refused(made(path, Image(nprocs=nprocs)), ErrorKind.DAMAGED_LOG, "processes", "job region")


@pytest.mark.parametrize("times", [(5, -1, 6, 0), (5, 0, 6, 1_000_000_000)])
def test_impossible_nanoseconds(path: Path, times: tuple[int, ...]) -> None:
    refused(made(path, Image(times=times)), ErrorKind.DAMAGED_LOG, "nanoseconds")


@pytest.mark.parametrize("version", ["3.21", "3.41"])
def test_end_before_start(path: Path, version: str) -> None:
    log = opened(path, Image(version, times=(100, 0, 50, 0)))
    assert log.job.run_time == 0
    assert any("ends before it starts" in text for text in log.warnings)


def test_extreme_times(path: Path) -> None:
    log = opened(path, Image(times=(-(1 << 63), 0, (1 << 63) - 1, 0)))
    assert log.job.run_time == pytest.approx(1.8e19, rel=0.1)


def test_job_region_that_is_too_short(path: Path) -> None:
    image = bytearray(Image().build()[:1328])
    packed = zlib.compress(bytes(1080))
    struct.pack_into("<2Q", image, 32, len(image) + len(packed), 0)
    refused(made(path, bytes(image) + packed), ErrorKind.DAMAGED_LOG, "1080", "job region")


def test_odd_job_texts(path: Path) -> None:
    log = opened(
        path, Image(metadata=b"no equals sign\na=b=c\n=x\n", text=b"\xff\xfe app\nno tab\next4\t/ a b")
    )
    assert log.job.metadata == {"a": "b=c", "": "x"}
    assert log.job.exe == "\\xff\\xfe app"
    assert log.job.mounts == [("ext4", "/ a b")]
    assert len(log.warnings) == 2


def test_names_given_twice(path: Path) -> None:
    region = b"".join(
        named("3.41", "<", number, name)
        for number, name in [(1, b""), (1, b"first"), (1, b"second"), (2, b""), (2, b""), (3, b"third")]
    )
    log = opened(path, Image(name_region=region))
    assert log.names == {1: "first", 2: "", 3: "third"}
    assert log.warnings == []


@pytest.mark.parametrize("version", ["3.00", "3.41"])
def test_names_that_are_cut_short(path: Path, version: str) -> None:
    good = named(version, "<", 1, b"whole")
    for cut in range(1, len(good)):
        log = opened(path, Image(version, name_region=good + good[:cut]))
        assert log.names == {1: "whole"}
        assert log.warnings == [f"name region: {cut} bytes left over at inflated byte {len(good)}"]


def test_records_without_a_name_are_kept(path: Path) -> None:
    """PyDarshan drops them silently (docs/reference/darshan-format.md#name-region)."""
    log = opened(
        path, Image(names=NAMES, modules={STDIO: (2, [GOOD, record("<", 12, 1, ramp(14), times(15))])})
    )
    table = log.records("STDIO")
    assert table is not None and table.ids.tolist() == [11, 12]
    assert log.warnings == []  # names have not been read yet
    assert log.names == {11: "/a"}
    assert log.warnings == ["module STDIO: 1 of 2 records have no name"]


# --- records -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [1, 7, 9, 247])
def test_bytes_left_over_after_records(path: Path, extra: int) -> None:
    log = opened(path, Image(names=NAMES, modules={STDIO: (2, [GOOD, GOOD[:extra]])}))
    table = log.records("STDIO")
    assert table is not None and len(table) == 1
    assert log.warnings == [f"module STDIO: {extra} bytes left over after 1 records"]


def test_less_than_one_record(path: Path) -> None:
    log = opened(path, Image(modules={STDIO: (2, [b"x"]), 1: (4, [b""])}))
    assert [len(log.records(module) or ()) for module in ("STDIO", "POSIX")] == [0, 0]
    assert log.warnings == ["module STDIO: 1 bytes left over after 0 records"]


@pytest.mark.parametrize("rank", [-2, 4, 1 << 40, -(1 << 63), (1 << 63) - 1])
def test_ranks_that_the_job_does_not_have(path: Path, rank: int) -> None:
    spoilt = record("<", 11, rank, ramp(14), times(15))
    error = refused(
        made(path, Image(names=NAMES, modules={STDIO: (2, [GOOD, spoilt])})), ErrorKind.DAMAGED_LOG, str(rank)
    )
    assert error.place == "module STDIO, record 1"


def test_times_that_are_no_numbers(path: Path) -> None:
    spoilt = record("<", 11, 0, ramp(14), [float("nan"), *times(14)])
    log = opened(path, Image(names=NAMES, modules={STDIO: (2, [spoilt])}))
    assert log.records("STDIO") is not None
    assert any("not finite" in text for text in log.warnings)


@pytest.mark.parametrize(
    ("writes", "reads"), [(-1, 0), (0, -1), (2, 0), (1 << 62, 0), ((1 << 63) - 1, (1 << 63) - 1), (-5, 6)]
)
def test_traces_with_impossible_counts(path: Path, writes: int, reads: int) -> None:
    data = struct.pack("<Qqq64s2q", 11, 0, 0, b"host", writes, reads) + bytes(32)
    left_out(made(path, Image(names=NAMES, modules={10: (1, [data])})), "DXT_POSIX", "record 0")


def test_trace_with_bytes_left_over(path: Path) -> None:
    data = struct.pack("<Qqq64s2q", 11, 0, 0, b"host", 1, 0) + bytes(32)
    log = opened(path, Image(names=NAMES, modules={10: (1, [data + data[:103]])}))
    trace = log.dxt("DXT_POSIX")
    assert trace is not None and len(trace) == 1
    assert log.warnings == ["module DXT_POSIX: 103 bytes left over at inflated byte 136"]


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1), (1 << 40, 0), (0, 1 << 40), (1 << 60, 1 << 60)])
def test_lustre_with_impossible_counts(path: Path, counts: tuple[int, int]) -> None:
    data = struct.pack("<Qq2q", 11, 0, *counts) + bytes(80)
    left_out(made(path, Image(names=NAMES, modules={8: (2, [data])})), "LUSTRE", "record 0")


@pytest.mark.parametrize("count", [-1, -8, 1 << 40, (1 << 63) - 1])
def test_old_lustre_with_impossible_counts(path: Path, count: int) -> None:
    data = struct.pack("<Qq5q", 11, 0, 1, 1, 0, 1, count) + bytes(80)
    image = Image("3.21", names=NAMES, modules={7: (1, [data])})
    left_out(made(path, image), "LUSTRE", "record 0")


def heatmap(rank: int, bins: int, width: float = 0.5, stored: int | None = None) -> bytes:
    """A heatmap record whose head says ``bins``, but which has ``stored`` bins."""
    held = bins if stored is None else stored
    return struct.pack("<Qqdq2Q", 16592106915301738621, rank, width, bins, 0, 0) + bytes(16 * held)


@pytest.mark.parametrize("bins", [-1, -3, 3, 1 << 40, (1 << 63) - 1, -(1 << 63)])
def test_heatmaps_with_impossible_counts(path: Path, bins: int) -> None:
    image = Image(modules={15: (1, [heatmap(0, bins, stored=2)])})
    left_out(made(path, image), "HEATMAP", "record 0")


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), float("inf")])
def test_heatmaps_with_impossible_bins(path: Path, width: float) -> None:
    image = Image(modules={15: (1, [heatmap(0, 2, width)])})
    left_out(made(path, image), "HEATMAP", "seconds wide")


def test_heatmaps_that_contradict_each_other(path: Path) -> None:
    image = Image(modules={15: (1, [heatmap(0, 2, 0.5), heatmap(1, 2, 0.25)])})
    left_out(made(path, image), "HEATMAP", "different width")
    log = opened(path, Image(modules={15: (1, [heatmap(0, 2), heatmap(1, 3), heatmap(2, 0, 0.0)])}))
    assert log.heatmaps()["POSIX"].write.shape == (3, 3)
    assert any("different numbers of bins" in text for text in log.warnings)
    # A few large records among many empty ones must not be padded to a huge table.
    empties = b"".join(heatmap(0, 0, 0.0) for _ in range(1000))
    image = Image(modules={15: (1, [heatmap(0, 50_000), empties])})
    left_out(made(path, image), "HEATMAP", "differ too much")


def test_unknown_heatmap(path: Path) -> None:
    data = struct.pack("<Qqdq2Q", 5, 0, 0.5, 1, 0, 0) + bytes(16)
    log = opened(path, Image(names={5: b"heatmap:NEW"}, modules={15: (1, [data])}))
    assert list(log.heatmaps()) == ["NEW"]
    log = opened(path, Image(modules={15: (1, [data])}))
    assert list(log.heatmaps()) == ["id 5"]
    assert any("no known interface" in text for text in log.warnings)


# --- logs of modified and unfinished versions of Darshan -----------------------------------------------


def test_zero_bytes_between_header_and_job_region(path: Path) -> None:
    """A lab-built Darshan has a header of 9,520 bytes; all offsets in it are right."""
    image = Image(names=NAMES, modules={STDIO: (2, [GOOD])})
    plain = image.build()

    def shift(header: bytearray) -> None:
        for place in (32, 48 + 16 * STDIO):
            (offset,) = struct.unpack_from("<Q", header, place)
            struct.pack_into("<Q", header, place, offset + 8192)

    image.header_edit = shift
    longer = image.build()
    log = open_log(made(path, longer[:1328] + bytes(8192) + longer[1328:]))
    assert (log.job.nprocs, log.job.exe, log.names) == (4, "./app -x", {11: "/a"})
    table = log.records("STDIO")
    assert table is not None and table.counters.tolist() == [ramp(14)]
    assert [text.split(",")[0] for text in log.warnings] == ["8192 zero bytes between header and job region"]
    # Other bytes there are no longer header.
    refused(
        made(path, longer[:1328] + bytes(8191) + b"x" + longer[1328:]), ErrorKind.DAMAGED_LOG, "job region"
    )
    assert open_log(made(path, plain)).warnings == []


@pytest.mark.parametrize("order", "<>")
def test_format_3_41_from_before_the_nanoseconds(path: Path, order: str) -> None:
    """The job region has two fields less; the times are whole seconds."""
    image = Image(order=order, names=NAMES, nanoseconds=False, times=(1_600_000_000, 1_600_000_099))
    log = opened(path, image)
    assert (log.job.start_time, log.job.end_time, log.job.run_time) == (1_600_000_000, 1_600_000_099, 100.0)
    assert (log.job.nprocs, log.job.job_id, log.job.exe) == (4, 77, "./app -x")
    assert log.job.metadata == {"lib_ver": "3.5.0", "h": "romio_no_indep_rw=true;cb_nodes=4"}
    assert log.job.mounts == [("ext4", "/"), ("lustre", "/lus")]
    assert ["nanosecond" in text for text in log.warnings] == [True]


def test_nothing_but_metadata_tells_that_nanoseconds_are_missing(path: Path) -> None:
    """Nanoseconds that cannot be are no proof of an older version."""
    image = Image(nanoseconds=False, metadata=b"", times=(1_600_000_000, 1_600_000_099))
    refused(made(path, image), ErrorKind.DAMAGED_LOG, "job region")


@pytest.mark.parametrize(("count", "extra"), [(1, 1), (2, 1), (3, 2), (7, 2), (13, 7), (33, 1), (33, 3)])
def test_records_of_another_size(path: Path, count: int, extra: int) -> None:
    """A modified module: its counters are not known, wherever in the record the new ones are."""
    ids = {100 + number: b"/a" for number in range(count)}
    stored = [
        record("<", number, place % 4, ramp(14 + extra, 10 * place), times(15))
        for place, number in enumerate(ids)
    ]
    error = refused(
        made(path, Image(names=ids, modules={STDIO: (2, stored)})),
        ErrorKind.UNSUPPORTED_LOG,
        f"{248 + 8 * extra} bytes",
        "248",
        "modified",
    )
    assert error.place == "module STDIO"


@pytest.mark.parametrize("count", [1, 2, 3, 31, 44, 88])
@pytest.mark.parametrize("named", [0, 1, 2])
def test_records_of_another_size_without_names(path: Path, count: int, named: int) -> None:
    """POSIX records of 720 bytes are refused in the same way, however many of them have a name."""
    dice = random.Random(count)
    ids = [dice.getrandbits(64) for _ in range(count)]
    stored = [record("<", number, -1, [0] * 69, [*times(17), 0.5, 0.5]) for number in ids]
    names = {number: b"/a" for place, number in enumerate(ids) if place % 2 < named} or {1: b"/b"}
    image = Image(names=names, modules={1: (4, stored)})
    refused(made(path, image), ErrorKind.UNSUPPORTED_LOG, "module POSIX", "modified Darshan", "704")


def test_records_of_another_size_that_fill_usual_ones(path: Path) -> None:
    """31 records of 256 bytes are as long as 32 of 248."""
    ids = {100 + number: b"/a" for number in range(31)}
    stored = [record("<", number, 0, ramp(15), times(15)) for number in ids]
    refused(
        made(path, Image(names=ids, modules={STDIO: (2, stored)})), ErrorKind.UNSUPPORTED_LOG, "256 bytes"
    )
