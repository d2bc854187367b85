"""The three metrics of the Cray XE6 paper on planted counters, whose answers are worked out by hand."""

from pathlib import Path

import pytest
from fleets import builder, plain_log, query, stored, tables

GIB = 2**30
TIB = 2**40


def test_redundant_reads_are_bytes_beyond_the_largest_offset(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(1, nprocs=8)
    for rank in range(8):  # eight ranks read the same 3 GiB; two records of one file are one file
        log.posix(
            "/scratch/table", rank=rank, OPENS=1, BYTES_READ=3 * GIB, READS=9, MAX_BYTE_READ=3 * GIB - 1
        )
    log.posix("/scratch/once", OPENS=8, READS=8, BYTES_READ=GIB, MAX_BYTE_READ=GIB - 1)
    log.posix("/usr/lib/libm.so.6", OPENS=8, READS=8, BYTES_READ=GIB, MAX_BYTE_READ=99)
    log.write(logs / "a.darshan")
    plain_log(logs, 2, uid=7)
    store, _ = stored(tmp_path / "db", logs)
    assert query(store, "SELECT job_id, redundant_read, bytes_read FROM log ORDER BY job_id") == [
        (1, 21 * GIB, 25 * GIB),
        (2, 0, 1 << 20),
    ]
    found = tables(store, redundant_bytes=20 * GIB).metrics[0]
    assert (found.total, found.jobs, found.users, found.largest) == (2, 1, 1, 21 * GIB)
    assert tables(store).metrics[0].jobs == 0


def test_metadata_share_is_of_mpiio_where_it_saw_the_file(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(1, nprocs=192)
    log.posix("/scratch/a", OPENS=192, F_META_TIME=50000.0, F_WRITE_TIME=1.0, WRITES=1, BYTES_WRITTEN=1)
    log.mpiio(
        "/scratch/a",
        COLL_OPENS=192,
        F_META_TIME=6000.0,
        F_WRITE_TIME=14000.0,
        COLL_WRITES=192,
        BYTES_WRITTEN=1,
    )
    log.stdio("/scratch/b", OPENS=192, F_META_TIME=2000.0, F_READ_TIME=8000.0, READS=192, BYTES_READ=1)
    log.write(logs / "a.darshan")
    builder(2, nprocs=191).posix("/scratch/a", OPENS=1, F_META_TIME=191 * 31.0).write(logs / "b.darshan")
    store, _ = stored(tmp_path / "db", logs)
    metric = tables(store).metrics[1]
    assert (metric.total, metric.jobs, metric.largest) == (2, 1, pytest.approx(8000 / 30000))
    assert tables(store, stdio=False).metrics[1].largest == pytest.approx(6000 / 20000)
    assert tables(store, meta_per_rank_s=8000 / 192 + 0.01).metrics[1].jobs == 0
    assert tables(store, meta_ranks=191).metrics[1].jobs == 2


def test_small_writes_are_those_of_shared_files_without_collective_calls(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(1)
    log.posix(
        "/scratch/shared",
        OPENS=4,
        SIZE_WRITE_0_100=5_600_000_000,
        SIZE_WRITE_100K_1M=10,
        WRITES=1,
        BYTES_WRITTEN=1,
    )
    log.posix("/scratch/own", rank=2, OPENS=1, SIZE_WRITE_0_100=7_000_000, WRITES=1, BYTES_WRITTEN=1)
    log.posix(
        "/scratch/mib",
        OPENS=4,
        SIZE_WRITE_100K_1M=900,
        ACCESS1_ACCESS=2**20,
        ACCESS1_COUNT=880,
        WRITES=1,
        BYTES_WRITTEN=1,
    )
    log.write(logs / "a.darshan")
    log = builder(2, uid=2)
    log.posix("/scratch/c", OPENS=4, SIZE_WRITE_1K_10K=200_000_000, WRITES=1, BYTES_WRITTEN=1)
    log.posix("/scratch/d", OPENS=4, SIZE_WRITE_1K_10K=3_000_000, WRITES=1, BYTES_WRITTEN=1)
    log.mpiio("/scratch/d", COLL_OPENS=4, COLL_WRITES=5, BYTES_WRITTEN=1)
    log.write(logs / "b.darshan")
    store, _ = stored(tmp_path / "db", logs)
    assert query(store, "SELECT small_shared_writes FROM log ORDER BY job_id") == [
        (5_600_000_030,),
        (200_000_000,),
    ]
    metric = tables(store).metrics[2]
    assert (metric.jobs, metric.users, metric.largest) == (1, 1, 5_600_000_030)
    assert tables(store, collective_writes=5).metrics[2].jobs == 2


def test_jobs_of_several_lists_are_counted(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for job in range(10):
        log = builder(job, nprocs=192, uid=job % 3)
        if job < 6:
            log.posix("/scratch/r", OPENS=192, READS=9, BYTES_READ=3 * TIB, MAX_BYTE_READ=9)
        if job > 3:
            log.posix("/scratch/m", OPENS=192, F_META_TIME=192 * 31.0)
        log.write(logs / f"{job}.darshan")
    store, _ = stored(tmp_path / "db", logs)
    found = tables(store)
    assert [m.jobs for m in found.metrics] == [6, 6, 0]
    assert [m.users for m in found.metrics] == [3, 3, 0]
    first = next(o for o in found.overlaps if o.metric == "metadata" and o.other == "redundant reads")
    assert first.text() == "of the 6 jobs of metadata, 2 also appear in the list of 6 of redundant reads"


def test_rate_and_share_of_the_papers_figure_9(tmp_path: Path) -> None:
    """590.3 and 597.6 MB in 166 s at 355.52 MB/s are 2.01 % of the time: so the slowest rank's 3.341 s ÷ 166 s."""
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(1, nprocs=2, run=166.0)
    seconds = (590.3 + 597.6) / 355.52
    log.posix(
        "/scratch/f", OPENS=2, READS=1, WRITES=1, BYTES_READ=590_300_000, BYTES_WRITTEN=597_600_000,
        MAX_BYTE_READ=590_299_999, F_READ_TIME=seconds, F_WRITE_TIME=seconds / 2, F_SLOWEST_RANK_TIME=seconds,
    )  # fmt: skip
    log.write(logs / "a.darshan")
    store, _ = stored(tmp_path / "db", logs)
    row = query(store, "SELECT (bytes_read + bytes_written) / io_s / 1e6, 100 * io_s / run_time FROM job")[0]
    assert (round(row[0], 2), round(row[1], 2)) == (355.52, 2.01)


def test_slowest_rank_is_of_own_files_and_of_shared_ones(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = builder(1)
    for rank, spent in enumerate((1.0, 5.0, 2.0, 3.0)):
        log.posix(
            f"/scratch/{rank}",
            rank=rank,
            OPENS=1,
            WRITES=1,
            BYTES_WRITTEN=1,
            F_WRITE_TIME=spent,
            F_META_TIME=0.25,
        )
    log.posix("/scratch/all", OPENS=4, WRITES=4, BYTES_WRITTEN=4, F_WRITE_TIME=20.0, F_SLOWEST_RANK_TIME=7.0)
    log.write(logs / "a.darshan")
    store, _ = stored(tmp_path / "db", logs)
    assert query(store, "SELECT io_s FROM log") == [(5.25 + 7.0,)]
