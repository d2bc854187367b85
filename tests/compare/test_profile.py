"""The profile that `workalike run` prints, for a record with known figures."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from workalike.record.profile import print_profile, rows_of
from workalike.record.run_record import KindTimes, Record, RecordCompute, RecordDump
from workalike.text import rate_text, seconds_text
from workalike.workload.model import Role

MIB = 2**20
WRITTEN = "checkpoint 1 write 2 3 MiB 4 100 KiB - 1 MiB (75 %) 1.25 s 1 MiB/s 250 ms"
READ = "restart 1 read 1 3.91 KiB 4 100 B - 1 KiB (100 %) 750 ms 1.95 KiB/s 500 ms"


def dump(
    index: int, writes: int, size: int, bin_of: int, io_s: float, slowest_s: float, **more: Any
) -> RecordDump:
    bins = [0] * 10
    bins[bin_of] = writes
    return RecordDump(
        **{"family": 0, "role": Role.CHECKPOINT, "index": index, "ranks": 2, "bytes_read": 0, **more},
        bytes_written=writes * size,
        due_s=0.0, start_s=10.0 * index, end_s=10.0 * index + io_s, late_s=0.0, io_s=io_s,
        kinds={"write": KindTimes(count=writes, max_s=slowest_s, total_s=0.5), "fsync": KindTimes(total_s=0.125)},
        counters={"WRITES": writes, "SIZE_WRITE": bins},
    )  # fmt: skip


def record(**more: Any) -> Record:
    load = RecordDump(
        family=1, role=Role.RESTART, index=0, ranks=2, bytes_written=0, bytes_read=4000,
        due_s=0.0, start_s=0.0, end_s=2.0, late_s=0.0, io_s=2.0,
        kinds={"read": KindTimes(count=4, max_s=0.5, total_s=0.75)},
        counters={"READS": 4, "SIZE_READ": [0, 4, 0, 0, 0, 0, 0, 0, 0, 0]},
    )  # fmt: skip
    dumps = [dump(0, 3, MIB, 4, 1.0, 0.25), load, dump(1, 1, 50, 0, 2.0, 0.125)]
    return Record(plan_ranks=2, processes=2, **{"backend": "posix", "dumps": dumps, **more})


def printed(profiled: Record, width: int = 160) -> str:
    out = StringIO()
    print_profile(profiled, Console(file=out, width=width))
    return out.getvalue()


def test_rows_are_sums_over_the_dumps() -> None:
    first, second = rows_of(record())
    assert (first.family, first.direction, first.dumps) == ("checkpoint 1", "write", 2)
    assert (first.operations, first.bytes, first.slowest_s) == (4, 3 * MIB + 50, 0.25)
    assert (first.inside_s, first.open_s) == (1.25, 3.0)
    assert first.bins == [1, 0, 0, 0, 3, 0, 0, 0, 0, 0]
    assert first.sizes == "100 KiB - 1 MiB (75 %)"
    assert (second.family, second.direction, second.operations, second.bytes) == (
        "restart 1",
        "read",
        4,
        4000,
    )
    assert second.sizes == "100 B - 1 KiB (100 %)"


def test_the_table() -> None:
    lines = printed(record()).splitlines()
    (written,) = [line for line in lines if line.startswith("checkpoint 1")]
    assert written.split() == WRITTEN.split()
    (read,) = [line for line in lines if line.startswith("restart 1")]
    assert read.split() == READ.split()
    assert "computing" not in printed(record())


def test_eighty_columns_show_bandwidth_and_the_slowest_operation() -> None:
    """The figures may be wide: MINIO's runs have a million operations."""
    wide = dump(0, 1_234_567, 1023 * 1024, 4, 1234.0, 123.4)
    lines = printed(record(dumps=[wide]), width=80).splitlines()
    assert all(len(line) <= 80 for line in lines)
    for head in ("family", "bytes", "operations", "bandwidth", "slowest"):
        assert head in lines[0]
    assert rate_text(wide.bytes_written / 1234.0) in lines[-1] and seconds_text(123.4) in lines[-1]
    assert "..." not in lines[-1] and "\N{HORIZONTAL ELLIPSIS}" not in lines[-1]


def test_a_counting_run_has_no_times() -> None:
    text = printed(record(backend="null"))
    assert "3 MiB" in text and "bandwidth" not in text and "slowest" not in text and "1 MiB/s" not in text


def test_computing_has_a_line() -> None:
    compute = RecordCompute(level=2, units=40, min_s=3.0, mean_s=3.1, max_s=3.5)
    assert "computing between dumps: 40 units of level 2 on every rank, in 3 s to 3.5 s" in printed(
        record(compute=compute)
    )


def test_nothing_was_moved() -> None:
    assert printed(record(dumps=[])) == ""


def test_bandwidth_counts_the_time_of_overlapping_dumps_once() -> None:
    """Two dumps of 4 s each, of which 3 s are common: 5 s."""
    dumps = [dump(i, 5, MIB, 4, 4.0, 0.25) for i in range(2)]
    dumps[1].start_s, dumps[1].end_s = 1.0, 5.0
    (row,) = rows_of(record(dumps=dumps))
    assert row.open_s == 5.0
