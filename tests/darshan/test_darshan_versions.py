"""Format versions, byte orders, compressions and record versions, in logs made by hand with known values."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import numpy as np
import pytest
from darshan_images import Image, ramp, record, times

from workalike.darshan import Log, open_log
from workalike.errors import WorkalikeError

FORMATS = ["3.00", "3.10", "3.20", "3.21", "3.41"]
MODULES_BEFORE_H5D = ["NULL", "POSIX", "MPI-IO", "H5F", "PNETCDF_FILE", "BG/Q", "LUSTRE", "STDIO"]
MODULES_BEFORE_VAR = ["NULL", "POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "BG/Q", "LUSTRE", "STDIO"]
MODULES_TODAY = [*MODULES_BEFORE_VAR[:6], "PNETCDF_VAR", "BG/Q", "LUSTRE", "STDIO"]
LATER = ["DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI", "HEATMAP", "DFS", "DAOS"]
SLOTS = {
    "3.00": MODULES_BEFORE_H5D + LATER,
    "3.10": MODULES_BEFORE_H5D + LATER,
    "3.20": MODULES_BEFORE_VAR + LATER,
    "3.21": MODULES_BEFORE_VAR + LATER,
    "3.41": MODULES_TODAY + LATER,
}
"""Which module each number of a file of this format is."""

SIZES = {
    ("POSIX", 1): (68, 15),
    ("POSIX", 2): (64, 15),
    ("POSIX", 3): (64, 17),
    ("POSIX", 4): (69, 17),
    ("MPI-IO", 1): (51, 15),
    ("MPI-IO", 2): (51, 15),
    ("MPI-IO", 3): (51, 17),
    ("H5F", 1): (1, 2),
    ("H5F", 2): (1, 4),
    ("H5F", 3): (3, 5),
    ("H5D", 1): (94, 17),
    ("PNETCDF_FILE", 1): (2, 2),
    ("PNETCDF_FILE", 2): (2, 4),
    ("PNETCDF_FILE", 3): (9, 8),
    ("STDIO", 1): (13, 15),
    ("STDIO", 2): (14, 15),
}
"""Integers and reals of a record (docs/reference/darshan-format.md#modules)."""

NAMES = {11: b"/a", 12: b"/b", (1 << 64) - 1: b"<STDOUT>", 256: b"/with/zero/bytes/in/its/id"}


def slot(version: str, module: str) -> int:
    return SLOTS[version].index(module)


def opened(image: Image, tmp_path: Path) -> Log:
    path = tmp_path / "made.darshan"
    path.write_bytes(image.build())
    return open_log(path)


@pytest.mark.parametrize(
    ("version", "order", "compression"), list(itertools.product(FORMATS, "<>", (0, 1, 2))), ids=str
)
def test_job_and_names(version: str, order: str, compression: int, tmp_path: Path) -> None:
    log = opened(Image(version, order, compression, names=NAMES, uid=-5), tmp_path)
    assert log.format_version == version
    assert log.byte_order == ("little" if order == "<" else "big")
    assert (log.job.uid, log.job.nprocs, log.job.job_id) == (-5, 4, 77)
    assert log.job.exe == "./app -x"
    assert log.job.mounts == [("ext4", "/"), ("lustre", "/lus")]
    assert log.job.metadata == {"lib_ver": "3.5.0", "h": "romio_no_indep_rw=true;cb_nodes=4"}
    assert log.job.start_time == 1_700_000_000
    # Before 3.41, times are whole seconds, and both ends count.
    assert log.job.run_time == (100.5 if version == "3.41" else 101.0)
    assert log.names == {number: name.decode() for number, name in NAMES.items()}
    assert log.modules == {}
    assert log.skipped == []


@pytest.mark.parametrize(
    ("version", "order", "compression"), list(itertools.product(FORMATS, "<>", (0, 1, 2))), ids=str
)
def test_modules_have_their_place_in_every_format(
    version: str, order: str, compression: int, tmp_path: Path
) -> None:
    """Two records in two streams for each module; every value must be read into the right counter."""
    chosen = {
        "POSIX": 4,
        "MPI-IO": 3,
        "H5F": 3,
        "PNETCDF_FILE": 3,
        "STDIO": 2,
    }
    modules = {}
    for module, number in chosen.items():
        ints, reals = SIZES[module, number]
        streams = [
            record(order, 11 + row, row - 1, ramp(ints, 100 * row), times(reals, 7 * row)) for row in (0, 1)
        ]
        modules[slot(version, module)] = (number, streams)
    log = opened(Image(version, order, compression, names=NAMES, modules=modules), tmp_path)
    assert list(log.modules) == list(chosen)
    for module, number in chosen.items():
        ints, reals = SIZES[module, number]
        table = log.records(module)
        assert table is not None
        assert table.ids.tolist() == [11, 12]
        assert table.ranks.tolist() == [-1, 0]
        assert table.counters.tolist() == [ramp(ints, 0), ramp(ints, 100)]
        assert table.fcounters.tolist() == [times(reals, 0), times(reals, 7)]
    expected = ["uncompressed"] if compression == 2 else []
    assert [text.split()[0] for text in log.warnings] == expected


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("module", "number"), SIZES, ids=str)
def test_record_versions(module: str, number: int, order: str, tmp_path: Path) -> None:
    """Old records are converted to the current layout, with -1 for what they lack."""
    ints, reals = SIZES[module, number]
    stored, stored_times = ramp(ints), times(reals)
    data = record(order, 11, 2, stored, stored_times)
    log = opened(
        Image("3.21", order, names=NAMES, modules={slot("3.21", module): (number, [data])}), tmp_path
    )
    table = log.records(module)
    assert table is not None
    expected, expected_times = upconverted(module, number, stored, stored_times)
    assert table.counters.tolist() == [expected]
    assert table.fcounters.tolist() == [expected_times]
    assert table.counters.dtype == np.int64 and table.fcounters.dtype == np.float64
    lost = [text for text in log.warnings if "left out" in text]
    assert len(lost) == ((module, number) == ("POSIX", 1))


def upconverted(
    module: str, number: int, ints: list[int], reals: list[float]
) -> tuple[list[int], list[float]]:
    """What docs/reference/darshan-format.md#modules says about old versions, by hand."""
    ints, reals = list(ints), list(reals)
    if module == "POSIX":
        if number == 1:
            del ints[6:10]  # four STDIO counters after MMAPS
        if number < 4:
            ints[1:1] = [-1, -1]  # FILENOS, DUPS after OPENS
            ints[10:10] = [-1, -1, 0]  # RENAME_SOURCES, RENAME_TARGETS, RENAMED_FROM before MODE
    if module in ("POSIX", "MPI-IO") and len(reals) == 15:
        reals[3:3] = [-1.0, -1.0]  # CLOSE_START, OPEN_END
    if module == "STDIO" and number == 1:
        ints[1:1] = [-1]  # FDOPENS
    if module == "H5F" and number < 3:
        ints += [-1, -1]
        reals = [reals[0], -1.0, -1.0, reals[1]] if number == 1 else reals
        reals.append(-1.0)
    if module == "PNETCDF_FILE" and number < 3:
        ints = [-1, sum(ints), *[-1] * 7]  # OPENS are the independent and the collective ones
        first, *rest = reals
        close_start, open_end, close_end = (-1.0, -1.0, rest[0]) if number == 1 else rest
        reals = [first, close_start, -1.0, open_end, close_end, -1.0, -1.0, -1.0]
    return ints, reals


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("module", "number", "ints"), [("H5D", 2, 94), ("PNETCDF_VAR", 1, 120)])
def test_records_with_a_file(module: str, number: int, ints: int, order: str, tmp_path: Path) -> None:
    file_id = (1 << 63) + 12
    data = struct.pack(f"{order}QqQ{ints}q17d", 11, -1, file_id, *ramp(ints), *times(17))
    log = opened(Image(order=order, names=NAMES, modules={slot("3.41", module): (number, [data])}), tmp_path)
    table = log.records(module)
    assert table is not None and table.file_ids is not None
    assert table.file_ids.tolist() == [file_id]
    assert table.counters.tolist() == [ramp(ints)]
    assert table.fcounters.tolist() == [times(17)]
    assert table.counter_names[-1] == "SLOWEST_RANK_BYTES"
    assert table["SLOWEST_RANK_BYTES"].tolist() == [999 + ints]
    assert "BYTES_READ" in table and "NONE_SUCH" not in table


def test_old_datasets_have_no_file(tmp_path: Path) -> None:
    data = record("<", 11, 2, ramp(94), times(17))
    log = opened(Image("3.21", names=NAMES, modules={4: (1, [data])}), tmp_path)
    table = log.records("H5D")
    assert table is not None and table.file_ids is None
    assert any("which file" in text for text in log.warnings)


@pytest.mark.parametrize("order", "<>")
def test_lustre_versions(order: str, tmp_path: Path) -> None:
    """Version 1 has one component; version 2 any number, each with its share of the OSTs."""
    old = struct.pack(f"{order}Qq5q3q", 11, 2, 40, 1, 0, 1 << 20, 3, 7, 8, 9)
    old += struct.pack(f"{order}Qq5q1q", 12, -1, 40, 1, 0, 1 << 21, 1, 39)
    log = opened(Image("3.21", order, names=NAMES, modules={7: (1, [old])}), tmp_path)
    assert [(record.id, record.rank, record.stripe_size, record.stripe_count) for record in log.lustre()] == [
        (11, 2, 1 << 20, 3),
        (12, -1, 1 << 21, 1),
    ]
    assert log.lustre()[0].osts.tolist() == [7, 8, 9]
    assert log.lustre()[-1].components[0].osts.tolist() == [39]

    new = struct.pack(f"{order}Qq2q", 11, 2, 2, 3)
    new += struct.pack(f"{order}7q16s", 1 << 20, 1, 1, 16, 0, 1 << 30, 0, b"fast")
    new += struct.pack(f"{order}7q16s", 1 << 22, 2, 1, 0, 1 << 30, -1, 0, b"sixteen_letters!")
    new += struct.pack(f"{order}3q", 5, 6, 7)
    log = opened(Image("3.41", order, names=NAMES, modules={8: (2, [new])}), tmp_path)
    (record,) = log.lustre()
    assert (record.stripe_size, record.stripe_count, record.osts.tolist()) == (1 << 20, 1, [5, 6, 7])
    assert [part.osts.tolist() for part in record.components] == [[5], [6, 7]]
    assert [part.pool for part in record.components] == ["fast", "sixteen_letters!"]
    assert [(part.extent_start, part.extent_end) for part in record.components] == [
        (0, 1 << 30),
        (1 << 30, -1),
    ]
    assert log.warnings == []


@pytest.mark.parametrize("order", "<>")
def test_lustre_that_contradicts_itself(order: str, tmp_path: Path) -> None:
    data = struct.pack(f"{order}Qq2q", 11, 2, 1, 3)
    data += struct.pack(f"{order}7q16s3q", 1 << 20, 2, 1, 16, 0, -1, 0, b"", 5, 6, 7)
    log = opened(Image("3.41", order, names=NAMES, modules={8: (2, [data])}), tmp_path)
    assert log.lustre()[0].osts.tolist() == [5, 6, 7]
    assert any("other OSTs" in text for text in log.warnings)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(
    ("module", "number", "thread", "valid"),
    [
        ("DXT_POSIX", 1, False, True),
        ("DXT_POSIX", 2, True, True),
        ("DXT_MPIIO", 1, False, False),
        ("DXT_MPIIO", 2, False, True),
        ("DXT_MPIIO", 3, True, True),
    ],
)
def test_trace_versions(
    module: str, number: int, thread: bool, valid: bool, order: str, tmp_path: Path
) -> None:
    """Segments of 32 and 40 bytes; DXT_MPIIO version 1 has no usable offsets (PyDarshan gives -1 too)."""

    def segment(index: int) -> bytes:
        data = struct.pack(f"{order}2q2d", 100 * index, 10 + index, index + 0.25, index + 0.5)
        return data + (struct.pack(f"{order}Q", 7000 + index) if thread else b"")

    def head(rank: int, host: bytes, writes: int, reads: int) -> bytes:
        return struct.pack(f"{order}Qqq64s2q", 11, rank, 0, host, writes, reads)

    data = head(3, b"first", 2, 1) + b"".join(map(segment, range(3)))
    data += head(1, b"second-node.of.a.domain", 0, 2) + b"".join(map(segment, (5, 6)))
    log = opened(Image(order=order, names=NAMES, modules={slot("3.41", module): (number, [data])}), tmp_path)
    table = log.dxt(module)
    assert table is not None
    assert table.ranks.tolist() == [3, 1]
    assert table.hostnames.tolist() == [b"first", b"second-node.of.a.domain"]
    assert (table.write_counts.tolist(), table.read_counts.tolist()) == ([2, 0], [1, 2])
    assert (len(table), table.total_segments) == (2, 5)
    writes, reads = table.segments(0)
    assert writes["offset"].tolist() == ([0, 100] if valid else [-1, -1])
    assert writes["length"].tolist() == [10, 11]
    assert writes["start"].tolist() == [0.25, 1.25]
    assert reads["end"].tolist() == [2.5]
    if thread:
        assert table.segments(1)[1]["thread"].tolist() == [7005, 7006]
    assert len(table.segments(1)[0]) == 0
    assert table.offsets_valid == valid
    assert any("offsets" in text for text in log.warnings) == (not valid)

    slices = list(table.slices(1))
    assert [(part.record, part.write, part.first) for part in slices] == [
        (0, True, 0),
        (0, True, 1),
        (0, False, 0),
        (1, False, 0),
        (1, False, 1),
    ]
    assert [int(part.segments["length"][0]) for part in slices] == [10, 11, 12, 15, 16]
    assert [len(part.segments) for part in table.slices(100)] == [2, 1, 2]
    with pytest.raises(ValueError, match="at least 1"):
        next(table.slices(0))

    for most, parts in ((1, 5), (2, 3), (3, 2), (5, 1), (100, 1)):
        joined = list(table.chunks(most))
        assert len(joined) == parts
        assert [n for part in joined for n in part.records.tolist()] == [0, 0, 0, 1, 1]
        assert [w for part in joined for w in part.writes.tolist()] == [True, True, False, False, False]
        copied = np.concatenate([part.segments for part in joined])
        assert copied.tobytes() == np.concatenate([part.segments for part in slices]).tobytes()


@pytest.mark.parametrize("order", "<>")
def test_heatmaps(order: str, tmp_path: Path) -> None:
    """Records in any order; an interface with unevenly spaced records; the two pointers are ignored."""
    posix, mpiio = 16592106915301738621, 3668870418325792824

    def heatmap(number: int, rank: int, write: list[int], read: list[int]) -> bytes:
        head = struct.pack(f"{order}Qqdq2Q", number, rank, 0.5, len(write), 1 << 63, 99)
        return head + struct.pack(f"{order}{2 * len(write)}q", *write, *read)

    data = heatmap(posix, 0, [1, 2], [3, 4]) + heatmap(mpiio, 0, [5], [6])
    data += heatmap(mpiio, 3, [7], [8]) + heatmap(posix, 2, [9, 10], [11, 12])
    data += heatmap(posix, 1, [13, 14], [15, 16])
    names = {posix: b"heatmap:POSIX", mpiio: b"heatmap:MPIIO"}
    log = opened(Image(order=order, names=names, modules={15: (1, [data])}), tmp_path)
    maps = log.heatmaps()
    assert list(maps) == ["POSIX", "MPIIO"]
    assert maps["POSIX"].ranks.tolist() == [0, 2, 1]
    assert maps["POSIX"].write.tolist() == [[1, 2], [9, 10], [13, 14]]
    assert maps["POSIX"].read.tolist() == [[3, 4], [11, 12], [15, 16]]
    assert maps["MPIIO"].write.tolist() == [[5], [7]]
    assert maps["MPIIO"].bin_width == 0.5
    assert log.warnings == []


def test_partial_flags_of_both_byte_orders(tmp_path: Path) -> None:
    """PyDarshan does not swap the flags of big-endian logs. The flags go by the file's own numbers."""
    data = {order: record(order, 11, 0, ramp(14), times(15)) for order in "<>"}
    for version, order in itertools.product(FORMATS, "<>"):
        number = slot(version, "STDIO")
        image = Image(
            version, order, names=NAMES, modules={number: (2, [data[order]])}, partial=1 << number | 2
        )
        log = opened(image, tmp_path)
        assert log.modules["STDIO"].partial
        assert any(text.startswith("module STDIO: ran out of memory") for text in log.warnings)
        # POSIX is flagged and absent: that must not pass silently.
        assert any(text.startswith("module POSIX") and "no data" in text for text in log.warnings)


@pytest.mark.parametrize(("number", "module"), [(1, "POSIX"), (2, "MPI-IO"), (9, "STDIO")])
def test_versions_of_needed_modules(tmp_path: Path, number: int, module: str) -> None:
    """Without them a log says nothing, so the log is refused."""
    log = opened(Image(names=NAMES, modules={number: (99, [b"a version to come"])}), tmp_path)
    with pytest.raises(WorkalikeError, match=f"unsupported log: .*{module}.*version 99"):
        log.records(module)


def test_modules_that_are_not_decoded(tmp_path: Path) -> None:
    """They are listed, and do not prevent reading the others."""
    good = record("<", 11, 0, ramp(14), times(15))
    modules = {
        0: (1, [bytes(48)]),
        3: (9, [b"a version of H5F to come"]),
        7: (2, [bytes(112)]),
        9: (2, [good]),
        10: (3, [b"DXT to come"]),
        12: (1, [b"x"]),
        14: (1, [b"x"]),
        16: (1, [bytes(584)]),
        17: (1, [bytes(696)]),
        18: (1, [b"module to come"]),
        63: (1, [b"module to come"]),
    }
    log = opened(Image(names=NAMES, modules=modules), tmp_path)
    expected = [
        "NULL",
        "H5F",
        "BG/Q",
        "DXT_POSIX",
        "MDHIM",
        "APMPI",
        "DFS",
        "DAOS",
        "MODULE_18",
        "MODULE_63",
    ]
    assert log.skipped == expected
    assert log.records("H5F") is None
    assert log.dxt("DXT_POSIX") is None
    assert log.records("STDIO") is not None
    warnings = " ".join(log.warnings)
    for part in ("module H5F: record version 9", "DXT_POSIX: record version 3", "number 18", "number 63"):
        assert part in warnings


def test_asking_for_what_cannot_be_asked(tmp_path: Path) -> None:
    log = opened(Image(), tmp_path)
    for ask in (lambda: log.records("DXT_POSIX"), lambda: log.records("POSIXX"), lambda: log.dxt("POSIX")):
        with pytest.raises(KeyError):
            ask()
    assert log.records("POSIX") is None
    assert log.dxt("DXT_POSIX") is None
    assert (list(log.lustre()), log.heatmaps(), log.names) == ([], {}, {})
