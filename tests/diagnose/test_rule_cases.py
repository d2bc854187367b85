"""What decides a rule beside its threshold: each case beside one that looks alike and is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planted_findings import GIB, MIB, ON_SHARED, T
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Finding
from workalike.diagnose.site import Site

RANKS = 16


def seen(
    log: LogBuilder, rule: str, folder: Path, ranks_per_node: int = 0, **parameters: float
) -> Finding | None:
    """What a rule with some parameters finds in a log, as a cause of its own."""
    site = Site({"job": {"ranks_per_node": ranks_per_node}} | ({rule: parameters} if parameters else {}))
    found = diagnose([open_log(log.write(folder / "x.darshan"))], site)
    return next((finding for finding in found.findings if finding.rule == rule), None)


def through(writers: int, traced: bool = False) -> LogBuilder:
    """A collective file that some of 16 ranks write, on four hosts by its trace."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    log.mpiio("/d/w", COLL_OPENS=RANKS, COLL_WRITES=1024, BYTES_WRITTEN=GIB, F_WRITE_TIME=0.1 * T * RANKS)
    for rank in range(RANKS):
        size = GIB // writers if rank < writers else 0
        log.posix("/d/w", rank, OPENS=1, WRITES=size // MIB, BYTES_WRITTEN=size, F_WRITE_TIME=0.1 * T)
        if traced:
            writes = [(rank * MIB, MIB, 1.0, 2.0)]
            log.dxt_posix("/d/w", rank, writes=writes, hostname=f"node{rank // 4}")
    return log


@pytest.mark.parametrize(
    ("writers", "nodes", "found"), [(16, 1, True), (8, 1, False), (4, 16, False), (3, 16, True)]
)
def test_aggregators_are_too_many_or_too_few_for_the_nodes(
    tmp_path: Path, writers: int, nodes: int, found: bool
) -> None:
    finding = seen(through(writers), "aggregators", tmp_path, ranks_per_node=RANKS // nodes)
    assert (finding is not None) is found
    assert finding is None or finding.evidence["nodes"] == nodes


@pytest.mark.parametrize("rule", ["aggregators", "collective-hurts"])
def test_unknown_nodes_are_said_with_the_place_that_tells_them(tmp_path: Path, rule: str) -> None:
    found = diagnose([open_log(through(1).write(tmp_path / "x.darshan"))])
    (reason,) = [unknown.reason for unknown in found.cannot_tell if unknown.rule == rule]
    assert "ranks_per_node is not set in [job]" in reason
    with pytest.raises(ValueError, match="ranks_per_node"):
        Site({rule: {"ranks_per_node": 4}})


def test_the_nodes_are_the_hosts_of_a_trace(tmp_path: Path) -> None:
    finding = seen(through(1, traced=True), "collective-hurts", tmp_path, size=MIB)
    assert finding is not None and finding.evidence == {"writers": 1, "nodes": 4}
    assert seen(through(1), "collective-hurts", tmp_path, size=MIB) is None


@pytest.mark.parametrize(
    ("times", "found"), [(1.0, False), (1.8, False), (1.95, True), (2.05, True), (2.3, False)]
)
def test_fill_values_are_twice_the_data_and_no_other_multiple(
    tmp_path: Path, times: float, found: bool
) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    log.h5d("/d/x:/d", file="/d/x", WRITES=64, BYTES_WRITTEN=GIB)
    log.posix("/d/x", OPENS=RANKS, WRITES=64, BYTES_WRITTEN=int(times * GIB), F_WRITE_TIME=0.1 * T * RANKS)
    assert (seen(log, "fill-values", tmp_path) is not None) is found


def test_a_close_that_does_not_wait_is_metadata(tmp_path: Path) -> None:
    def log(close: float) -> LogBuilder:
        return LogBuilder(nprocs=1, run_time=T).posix(
            "/d/x", OPENS=1, WRITES=9, BYTES_WRITTEN=9 * MIB, F_META_TIME=100.0,
            F_WRITE_END_TIMESTAMP=500.0, F_CLOSE_END_TIMESTAMP=close,
        )  # fmt: skip

    finding = seen(log(590.0), "close-flushes", tmp_path)
    assert finding is not None and finding.evidence["close_after_write_s"] == pytest.approx(90.0)
    assert seen(log(501.0), "close-flushes", tmp_path) is None


def test_a_checkpoint_that_is_renamed_is_not_overwritten(tmp_path: Path) -> None:
    def log(**more: int) -> LogBuilder:
        return LogBuilder(nprocs=1, run_time=T).posix(
            "/d/chk.h5", OPENS=3, WRITES=9, BYTES_WRITTEN=9 * MIB, MAX_BYTE_WRITTEN=3 * MIB - 1, **more
        )

    assert seen(log(), "overwritten-in-place", tmp_path) is not None
    assert seen(log(RENAME_TARGETS=1), "overwritten-in-place", tmp_path) is None


def test_a_collective_file_that_is_written_over_is_no_conflict(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=T)
    log.posix("/d/x", OPENS=4, WRITES=9, BYTES_WRITTEN=9 * MIB, MAX_BYTE_WRITTEN=3 * MIB - 1)
    assert seen(log, "possible-conflict", tmp_path) is not None
    log.mpiio("/d/x", COLL_OPENS=4, COLL_WRITES=9, BYTES_WRITTEN=9 * MIB)
    assert seen(log, "possible-conflict", tmp_path) is None


def checkpoints(count: int, shared: bool, seconds: float = 5.0) -> LogBuilder:
    """Checkpoints of `seconds` each, in one file or in one for each of four ranks."""
    log = LogBuilder(nprocs=4, run_time=T)
    for number in range(count):
        for rank in [-1] if shared else range(4):
            name = f"/d/chk.{number}" if shared else f"/d/chk.{number}.{rank}"
            log.posix(name, rank, OPENS=4 if shared else 1, WRITES=9, BYTES_WRITTEN=9 * MIB,
                      F_WRITE_TIME=seconds * (4 if shared else 1))  # fmt: skip
    return log


@pytest.mark.parametrize("shared", [True, False])
def test_the_interval_of_checkpoints_is_held_against_the_failure_rate(tmp_path: Path, shared: bool) -> None:
    # Twenty checkpoints in 1,000 s; with 5 s each and a failure every 4,000 s, 200 s would be best.
    finding = seen(
        checkpoints(20, shared), "checkpoint-interval", tmp_path, mean_time_between_failures_s=4000
    )
    assert finding is not None
    assert finding.evidence == pytest.approx({"interval_s": 50.0, "optimum_s": 200.0})
    assert finding.cost.rank_seconds == pytest.approx(0.75 * 400)
    assert (
        seen(checkpoints(20, shared), "checkpoint-interval", tmp_path, mean_time_between_failures_s=250)
        is None
    )


def test_checkpoints_that_are_too_rare_cost_no_time(tmp_path: Path) -> None:
    log = checkpoints(2, shared=True)
    finding = seen(log, "checkpoint-interval", tmp_path, mean_time_between_failures_s=100)
    assert finding is not None and finding.cost.rank_seconds == 0


@pytest.mark.parametrize(("written", "found"), [(2.0, True), (1.5, False)])
def test_a_full_dataset_in_a_file_that_is_written_twice(tmp_path: Path, written: float, found: bool) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    # The module lost the other datasets of the file.
    log.h5d("/d/x:/d", file="/d/x", WRITES=1, BYTES_WRITTEN=MIB, DATASPACE_NPOINTS=MIB // 8, DATATYPE_SIZE=8)
    log.posix("/d/x", OPENS=RANKS, WRITES=64, BYTES_WRITTEN=int(written * GIB), MAX_BYTE_WRITTEN=GIB - 1,
              F_WRITE_TIME=0.1 * T * RANKS)  # fmt: skip
    finding = seen(log.partial("H5D"), "fill-values", tmp_path)
    assert (finding is not None) is found
    assert finding is None or finding.cost.rank_seconds == pytest.approx(0.05 * T * RANKS)


@pytest.mark.parametrize(("ranks_per_node", "found"), [(1, True), (4, False), (0, False)])
def test_stripes_are_few_for_the_nodes(tmp_path: Path, ranks_per_node: int, found: bool) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T).lustre("/d/x", osts=(0, 1))
    log.posix("/d/x", OPENS=RANKS, WRITES=256, BYTES_WRITTEN=GIB, F_WRITE_TIME=0.1 * T * RANKS)
    finding = seen(log, "too-few-stripes", tmp_path, ranks_per_node=ranks_per_node)
    assert (finding is not None) is found


def phases(ranks_at_once: int, quiet: int) -> LogBuilder:
    """A heatmap of 40 spans; in those that are not quiet, so many of four ranks write."""
    log = LogBuilder(nprocs=4, run_time=40.0).posix("/d/x", OPENS=4, WRITES=4, BYTES_WRITTEN=4)
    for rank in range(4):
        early = rank < ranks_at_once
        log.heatmap("POSIX", rank, 1.0, [int(early or span == 39) * (span >= quiet) for span in range(40)])
    return log


def test_phases_of_all_ranks_with_quiet_between_never_overlap(tmp_path: Path) -> None:
    finding = seen(phases(4, quiet=30), "never-overlaps", tmp_path)
    assert finding is not None and finding.severity.value == "NOTE"
    assert finding.evidence == {"io_share": 0.25, "ranks_share": 1.0, "hidden_s": 10.0}
    assert seen(phases(2, quiet=30), "never-overlaps", tmp_path) is None
    assert seen(phases(4, quiet=5), "never-overlaps", tmp_path) is None


def of_nodes(slow: tuple[int, ...], factor: float) -> LogBuilder:
    """Sixteen ranks on four nodes, some of which take longer for the same bytes of one shared file."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    times = [50.0 * (factor if rank in slow else 1.0) for rank in range(RANKS)]
    for rank, spent in enumerate(times):
        log.dxt_posix("/d/x", rank, writes=[(rank * MIB, MIB, 1.0, 1.0 + spent)], hostname=f"n{rank // 4}")
    return log.posix("/d/x", OPENS=RANKS, WRITES=RANKS, BYTES_WRITTEN=RANKS * MIB, F_WRITE_TIME=sum(times))


def test_a_node_whose_ranks_are_slow_is_told_from_a_slow_rank(tmp_path: Path) -> None:
    finding = seen(of_nodes((4, 5, 6, 7), 4.0), "slow-rank", tmp_path)
    assert finding is not None and finding.summary.startswith("the node of rank 4 is slow")
    assert finding.cost.slowest_rank_s == pytest.approx(150.0)
    assert seen(of_nodes((4,), 4.0), "slow-rank", tmp_path) is None
    assert seen(of_nodes((4, 5, 6, 7), 2.0), "slow-rank", tmp_path) is None


def test_files_that_are_read_before_they_are_written_are_no_scratch(tmp_path: Path) -> None:
    def log(read_at: float, reader: int) -> LogBuilder:
        out = LogBuilder(nprocs=2, run_time=T, mounts=ON_SHARED)
        for rank in range(2):
            out.posix(
                f"/d/t.{rank}", rank, OPENS=1, WRITES=9, BYTES_WRITTEN=GIB, F_WRITE_START_TIMESTAMP=50.0
            )
            times = {"F_WRITE_START_TIMESTAMP": 50.0, "F_READ_START_TIMESTAMP": read_at}
            out.posix(f"/d/s.{rank}", rank, OPENS=1, WRITES=9, BYTES_WRITTEN=GIB, **times,
                      BYTES_READ=GIB if reader == rank else 0, READS=9)  # fmt: skip
            if reader != rank:
                out.posix(f"/d/s.{rank}", reader, OPENS=1, READS=9, BYTES_READ=GIB)
        return out

    assert seen(log(90.0, 0), "scratch-files", tmp_path, ranks=0.5, bytes=GIB) is not None
    assert seen(log(90.0, 0), "scratch-files", tmp_path, ranks=1.0, bytes=GIB) is None
    assert seen(log(10.0, 0), "scratch-files", tmp_path, ranks=0.5, bytes=GIB) is None


@pytest.mark.parametrize(
    ("stats", "opens", "found"),
    [(100, 60, True), (100, 100, False), (100, 70, False), (40, 24, False), (100, 40, True)],
)
def test_each_rank_asks_for_the_state_of_a_file_again_and_again(
    tmp_path: Path, stats: int, opens: int, found: bool
) -> None:
    """Of each of 40 files, by 16 ranks: a storm from three for each rank on, if it is not one for each open."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for number in range(40):
        log.posix(f"/d/{number}", OPENS=opens, STATS=stats, F_META_TIME=0.05 * T)
    finding = seen(log, "stat-storm", tmp_path)
    assert (finding is not None) is found
    assert finding is None or finding.evidence["per_rank_and_file"] == stats / RANKS


def metadata_writes(files: int, opens: int, writes: int, flushes: int = 0) -> LogBuilder:
    """HDF5 files that each rank opens so often, each with so many writes in no dataset."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for number in range(files):
        name = f"/d/dump{number}.h5"
        log.h5f(name, OPENS=RANKS * opens, USE_MPIIO=1, FLUSHES=RANKS * flushes)
        log.h5d(f"{name}:/d", file=name, WRITES=64, BYTES_WRITTEN=GIB, SIZE_WRITE_AGG_10M_100M=64)
        log.mpiio(name, COLL_OPENS=RANKS, COLL_WRITES=64, INDEP_WRITES=writes, SIZE_WRITE_AGG_100_1K=writes,
                  SIZE_WRITE_AGG_10M_100M=64, BYTES_WRITTEN=GIB + writes * 512, F_WRITE_TIME=0.05 * T)  # fmt: skip
    return log


@pytest.mark.parametrize(("files", "opens", "flushes", "dumps"), [(5, 1, 0, 5), (1, 5, 0, 5), (1, 1, 4, 4)])
def test_metadata_of_a_library_is_counted_by_dump_and_rank(
    tmp_path: Path, files: int, opens: int, flushes: int, dumps: int
) -> None:
    finding = seen(metadata_writes(files, opens, 6400 // files, flushes), "library-metadata", tmp_path)
    assert finding is not None
    assert finding.evidence["dumps"] == dumps
    assert finding.evidence["metadata_writes_per_dump"] == 6400 / dumps
    assert finding.evidence["per_dump_and_rank"] == 6400 / dumps / RANKS
    assert "may grow with the ranks" in finding.summary


def test_metadata_writes_that_are_fewer_than_the_ranks_do_not_grow_with_them(tmp_path: Path) -> None:
    finding = seen(metadata_writes(100, 1, 12), "library-metadata", tmp_path)
    assert finding is not None and "grow" not in finding.summary


@pytest.mark.parametrize(("off", "tiny", "found"), [(50, 50, False), (50, 0, True), (150, 50, True)])
def test_a_header_that_is_not_aligned_costs_no_stripe(
    tmp_path: Path, off: int, tiny: int, found: bool
) -> None:
    """450 writes of 2 MiB on stripes of 1 MiB, and some of a header; so many in all are off."""
    log = LogBuilder(nprocs=RANKS, run_time=T).lustre("/d/x", stripe_size=MIB, osts=range(4))
    log.posix("/d/x", OPENS=RANKS, WRITES=450 + tiny, SIZE_WRITE_1M_4M=450, SIZE_WRITE_100_1K=tiny,
              BYTES_WRITTEN=900 * MIB, FILE_ALIGNMENT=MIB, FILE_NOT_ALIGNED=off, F_WRITE_TIME=0.1 * T * RANKS)  # fmt: skip
    assert (seen(log, "unaligned", tmp_path) is not None) is found


@pytest.mark.parametrize(("off", "tiny", "answers"), [(1000, 1000, False), (40, 1000, True), (0, 1000, True)])
def test_tiny_operations_may_hide_larger_ones_that_are_off(
    tmp_path: Path, off: int, tiny: int, answers: bool
) -> None:
    """1,000 writes of 2 MiB and as many headers: the log does not tell which of them are off."""
    log = LogBuilder(nprocs=RANKS, run_time=T).lustre("/d/x", stripe_size=MIB, osts=range(4))
    log.posix("/d/x", OPENS=RANKS, WRITES=1000 + tiny, SIZE_WRITE_1M_4M=1000, SIZE_WRITE_1K_10K=tiny,
              BYTES_WRITTEN=2000 * MIB, FILE_ALIGNMENT=MIB, FILE_NOT_ALIGNED=off, F_WRITE_TIME=T)  # fmt: skip
    found = diagnose([open_log(log.write(tmp_path / "x.darshan"))])
    reasons = [unknown.reason for unknown in found.cannot_tell if unknown.rule == "unaligned"]
    assert bool(reasons) is not answers
    assert not any("unaligned" in (f.rule, *f.also) for f in found.findings)


def test_tiny_operations_have_a_part_of_the_time(tmp_path: Path) -> None:
    """10 writes of 2 MiB that are off among 990 headers: a hundredth of the calls."""
    log = LogBuilder(nprocs=RANKS, run_time=T).lustre("/d/x", stripe_size=MIB, osts=range(4))
    log.posix("/d/x", OPENS=RANKS, WRITES=1000, SIZE_WRITE_1M_4M=10, SIZE_WRITE_1K_10K=990,
              BYTES_WRITTEN=20 * MIB, FILE_ALIGNMENT=MIB, FILE_NOT_ALIGNED=1000, F_WRITE_TIME=T)  # fmt: skip
    found = diagnose([open_log(log.write(tmp_path / "x.darshan"))]).findings
    (finding,) = [f for f in found if f.rule == "unaligned"]
    assert finding.cost.rank_seconds == pytest.approx(T * 10 / 1000 / 3)


@pytest.mark.parametrize("writes", [0, 900])
@pytest.mark.parametrize(("flushes", "found"), [(500, True), (400, False)])
def test_flushes_at_each_step_are_library_metadata(
    tmp_path: Path, flushes: int, found: bool, writes: int
) -> None:
    """Few small writes or none, and so many flushes by each of 16 ranks, beside 64 writes of data."""
    finding = seen(metadata_writes(1, 1, writes, flushes), "library-metadata", tmp_path)
    assert (finding is not None) is found
    if finding is not None:
        assert "500 by each rank" in finding.summary
        share = (writes + 500 * RANKS) / (64 + writes + 500 * RANKS)
        assert finding.cost.rank_seconds == pytest.approx(share * 0.05 * T)


@pytest.mark.parametrize("ranks", [16, 512, 4096])
def test_one_collective_flush_of_a_dump_is_none_on_any_number_of_ranks(tmp_path: Path, ranks: int) -> None:
    """20 dumps, each flushed once by all ranks, with 40 writes of headers; a rank writes once, or flushes the series."""
    log = LogBuilder(nprocs=ranks, run_time=T)
    for number in range(20):
        name = f"/d/s{number}.h5"
        log.h5f(name, OPENS=ranks, USE_MPIIO=1, FLUSHES=ranks)
        log.h5d(f"{name}:/d", file=name, WRITES=ranks, BYTES_WRITTEN=GIB, SIZE_WRITE_AGG_1M_4M=ranks)
        log.mpiio(name, COLL_OPENS=ranks, COLL_WRITES=ranks, INDEP_WRITES=40, SIZE_WRITE_AGG_100_1K=40,
                  SIZE_WRITE_AGG_1M_4M=ranks, BYTES_WRITTEN=GIB + 40 * 512, F_WRITE_TIME=0.02 * T * ranks)  # fmt: skip
    log.h5f("/d/series.h5", OPENS=ranks, USE_MPIIO=1, FLUSHES=ranks * 600)
    log.h5d("/d/series.h5:/d", file="/d/series.h5", WRITES=ranks * 600, BYTES_WRITTEN=GIB)
    log.mpiio("/d/series.h5", COLL_OPENS=ranks, COLL_WRITES=ranks * 600, BYTES_WRITTEN=GIB,
              SIZE_WRITE_AGG_1M_4M=ranks * 600, F_WRITE_TIME=0.02 * T * ranks)  # fmt: skip
    assert seen(log, "library-metadata", tmp_path) is None


def written_by(writers: int, files: int, ranks: int = 400) -> LogBuilder:
    """Files of one family and 2 GiB in all, written by the same ranks; the n-th rank writes n parts of all."""
    log = LogBuilder(nprocs=ranks, run_time=T)
    parts = files * writers * (writers + 1) // 2
    for number in range(files):
        for rank in range(ranks if files == 1 else writers):
            size = 2 * GIB * (rank + 1) // parts if rank < writers else 0
            log.posix(f"/d/out.{number}", rank, OPENS=1, WRITES=9 if size else 0, BYTES_WRITTEN=size,
                      F_WRITE_TIME=50.0 if size else 0.0)  # fmt: skip
    return log


@pytest.mark.parametrize(
    ("writers", "files", "found"), [(1, 1, True), (3, 1, True), (3, 5, True), (4, 1, True), (5, 1, False)]
)
def test_the_writers_of_all_are_those_that_wrote(
    tmp_path: Path, writers: int, files: int, found: bool
) -> None:
    """Up to a hundredth of 400 ranks; the evidence has those that wrote, not how even their shares are."""
    finding = seen(written_by(writers, files), "one-writer", tmp_path)
    assert (finding is not None) is found
    if finding:
        assert finding.evidence["writers"] == writers
        ranks = "1 rank" if writers == 1 else f"{writers} ranks"
        assert finding.summary.endswith(f"are written by {ranks} of 400")


def test_the_writers_of_a_reduced_record_follow_from_the_variance_of_bytes(tmp_path: Path) -> None:
    size, ranks, writers = 2 * GIB, 400, 2
    log = LogBuilder(nprocs=ranks, run_time=T)
    log.posix("/d/out", OPENS=ranks, WRITES=512, BYTES_WRITTEN=size, F_WRITE_TIME=100.0, F_SLOWEST_RANK_TIME=50.0,
              F_VARIANCE_RANK_BYTES=(size / ranks) ** 2 * (ranks / writers - 1))  # fmt: skip
    finding = seen(log, "one-writer", tmp_path)
    assert finding is not None and finding.evidence["writers"] == pytest.approx(writers)


def test_files_of_each_rank_are_not_written_by_one(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        log.posix(f"/d/out.{rank}", rank, OPENS=1, WRITES=99, BYTES_WRITTEN=GIB, F_WRITE_TIME=50.0)
    assert seen(log, "one-writer", tmp_path) is None


@pytest.mark.parametrize(("share", "even"), [(1.0, True), (3.0, False)])
def test_ranks_with_equal_bytes_are_not_told_to_spread_them(tmp_path: Path, share: float, even: bool) -> None:
    """The busiest rank takes 2.5 times the mean, with so many times the mean of the bytes."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    log.posix("/d/x", OPENS=RANKS, WRITES=256, BYTES_WRITTEN=GIB, F_WRITE_TIME=50.0 * RANKS, F_SLOWEST_RANK_TIME=125.0,
              SLOWEST_RANK_BYTES=share * GIB / RANKS)  # fmt: skip
    finding = seen(log, "unequal-ranks", tmp_path)
    assert finding is not None and ("spread evenly" in finding.advice) is even
    assert (finding.snippet == "") is even
